//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder that others can change is no shared folder.
func TestSharedFolderOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "service")
	if err := SharedFolder(dir).Check(); err == nil || !strings.Contains(err.Error(), "mkdir -m 700 "+dir) {
		t.Errorf("a folder that does not exist, as where a share is not mounted: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, fine := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o770: false, 0o777: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := SharedFolder(dir).Check(); (err == nil) != fine || !fine && !strings.Contains(err.Error(), "chmod 700 "+dir) {
			t.Errorf("%o: %v", mode, err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(dir, 1, 1); err != nil {
		t.Skip(err)
	}
	if err := SharedFolder(dir).Check(); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("somebody else's folder: %v", err)
	}
}
