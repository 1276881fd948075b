//go:build !linux && !darwin && !freebsd

package hub

import (
	"errors"
	"os"
)

// freeSpace is not supported on this system. A full disk shows when writing.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

// lock does nothing on this system: if two programs rename, one gets an error, and nothing is damaged.
func lock(*os.File) error { return nil }
