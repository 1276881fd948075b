package meter

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime returns the processor time of the calling thread so far. A goroutine that compares two must be locked to its thread.
// It returns false where the system does not tell.
func ThreadTime() (time.Duration, bool) {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
