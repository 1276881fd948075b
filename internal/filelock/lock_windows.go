package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try takes an exclusive lock without waiting. It returns false if another holds it.
func Try(f *os.File) (bool, error) {
	err := lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// Lock waits for an exclusive lock and takes it.
func Lock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// lock locks a byte past the end, so that others can read the file.
func lock(f *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}
