package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error about an index that this user may not read names the folder and what to do.
func TestUnreadableIndex(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user may read everything")
	}
	_, err := Open(closed, Options{ReadOnly: true})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), closed+" cannot be read: let this user read it") {
		t.Error(err)
	}
}
