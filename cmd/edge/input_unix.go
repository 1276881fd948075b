//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inputWaits reports whether standard input is a pipe that something has been written to. Looking takes nothing from it, which may
// be for another program.
func inputWaits() bool {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return false
	}
	input := []unix.PollFd{{Fd: int32(os.Stdin.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(input, 0)
	return err == nil && n == 1 && input[0].Revents&unix.POLLIN != 0
}
