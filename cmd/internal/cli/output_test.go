package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// CheckOutput goes where the shell's > would write it, but a file never holds half of the data. No folder is made, links are
// followed, and only regular files are replaced.
func TestWriteOutput(t *testing.T) {
	a, _, _ := testApp(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(path, text string) error { return a.WriteOutput(path, []byte(text), 0o644) }
	holds := func(path, want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
		}
	}
	for _, text := range []string{"new", "newer"} {
		if err := write(at("rows.json"), text); err != nil {
			t.Fatal(err)
		}
		holds(at("rows.json"), text)
	}
	if err := os.Symlink(at("rows.json"), at("link")); err == nil {
		if err := write(at("link"), "through the link"); err != nil {
			t.Fatal(err)
		}
		holds(at("rows.json"), "through the link")
		if info, err := os.Lstat(at("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", info, err)
		}
		os.Symlink(at("nowhere"), at("dangling"))
		if err := write(at("dangling"), "x"); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("a link to nothing: %v", err)
		}
	}
	for path, want := range map[string]string{dir: "is a folder", at("no/such/rows.json"): "no folder " + at("no/such")} {
		if err := write(path, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if exists(at("no")) {
		t.Error("a folder was made")
	}
	if left, _ := filepath.Glob(at(".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The error of a full disk says once what to do about it, and other errors stay as they are.
func TestNeedsRoom(t *testing.T) {
	if err := needsRoom(fmt.Errorf("store identity: write /keys/.new: %w", syscall.ENOSPC)); !strings.HasSuffix(err.Error(), "make room on it") || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	advised := fmt.Errorf("make room: %w", syscall.ENOSPC)
	if other := errors.New("other"); needsRoom(nil) != nil || needsRoom(other) != other || needsRoom(advised) != advised {
		t.Error("needsRoom changes other errors")
	}
}
