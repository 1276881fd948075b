//go:build unix

package engine

import (
	"syscall"
	"time"
)

// processorTime returns the processor's time that this process has taken.
func processorTime() (time.Duration, bool) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}
