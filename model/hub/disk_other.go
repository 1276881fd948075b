//go:build !linux && !darwin && !freebsd

package hub

import "errors"

// freeSpace is not supported on this system. A full disk shows when writing.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
