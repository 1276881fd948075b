//go:build !linux && !darwin && !freebsd

package hub

import (
	"errors"
	"os"
)

// freeSpace is not known here; a full disk shows when writing.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

// lock does nothing here: a rename that loses to another program's is an error, not damage.
func lock(*os.File) error { return nil }
