//go:build unix

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// safe refuses a folder that another user may change: whoever writes to it can pair devices, and whoever owns it can read the
// key.
func (f SharedFolder) safe(info fs.FileInfo) error {
	if of, ok := info.Sys().(*syscall.Stat_t); ok && int(of.Uid) != os.Geteuid() && of.Uid != 0 {
		return fmt.Errorf("--service: %s belongs to another user, who could act as this cloud: give a folder of the user who serves", f)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("--service: others can write to %s and could pair devices: run chmod 700 %s, or give a new folder inside it", f, f)
	}
	return nil
}
