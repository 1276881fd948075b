//go:build unix

package pdf

import (
	"syscall"
	"testing"
	"time"
)

// spent returns the processor time that the process has taken, which does not depend on what else runs on the machine.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
