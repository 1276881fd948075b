package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An unreadable folder is named, and the error of a full disk says what to do.
func TestIndexErrors(t *testing.T) {
	a, _, _ := testApp(t)
	err := a.fullDisk(errors.New("segment: 4.zap persist err: " + syscall.ENOSPC.Error()))
	if err == nil || !strings.Contains(err.Error(), "make room") || !strings.Contains(err.Error(), a.dirs.Data) {
		t.Errorf("a full disk: %v", err)
	}
	if other := errors.New("other"); a.fullDisk(nil) != nil || a.fullDisk(other) != other {
		t.Error("fullDisk changes other errors")
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(closed); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	if _, err := a.Folder(closed, PassageFlags{}); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("--notes: %v", err)
	}
	if err := (&indexAdd{Paths: []string{closed}}).Run(a); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("index add: %v", err)
	}
}
