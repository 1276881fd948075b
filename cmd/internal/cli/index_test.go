package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A folder that may not be read is named, and a full disk says what to do about it.
func TestIndexErrors(t *testing.T) {
	a, _, _ := testApp(t)
	err := a.room(errors.New("segment: 4.zap persist err: " + syscall.ENOSPC.Error()))
	if err == nil || !strings.Contains(err.Error(), "make room") || !strings.Contains(err.Error(), a.dirs.Data) {
		t.Errorf("a full disk: %v", err)
	}
	if other := errors.New("other"); a.room(nil) != nil || a.room(other) != other {
		t.Error("room changes other errors")
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
