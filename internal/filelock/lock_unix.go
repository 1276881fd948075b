//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Try takes an exclusive lock without waiting. It returns false if another holds it.
func Try(f *os.File) (bool, error) {
	err := lock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Lock waits for an exclusive lock and takes it.
func Lock(f *os.File) error { return lock(f, unix.LOCK_EX) }

func lock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
