//go:build unix

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Check refuses a folder that another user may change: whoever writes to it can pair devices, and whoever owns it can read the
// key. A folder that does not exist yet is created for its user alone.
func (f SharedFolder) Check() error {
	if f == "" {
		return nil
	}
	info, err := os.Stat(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--service: %w", err)
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok && int(of.Uid) != os.Geteuid() && of.Uid != 0 {
		return fmt.Errorf("--service: %s belongs to another user, who could act as this cloud: give a folder of the user who serves", f)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("--service: others can write to %s and could pair devices: run chmod 700 %s, or give a new folder inside it", f, f)
	}
	return nil
}
