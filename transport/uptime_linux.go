package transport

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// uptime returns how long this machine has run, asleep or not, and the name of this run. Nobody can set this clock back.
func uptime() (run string, since time.Duration) {
	var t unix.Timespec
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return "", 0
	}
	return strings.TrimSpace(string(id)), time.Duration(t.Nano())
}
