package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// names returns the names in a folder.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// A file is replaced with its permissions, and nothing else is left in the folder.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, perm := range []fs.FileMode{0o644, 0o600, 0o400, 0o600} {
		want := perm.String()
		if err := Write(path, []byte(want), perm); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%q, %v", b, err)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&^perm != 0 {
			t.Errorf("%v, %v; want %v", info, err, perm)
		}
	}
	if all := names(t, dir); len(all) != 1 {
		t.Error(all)
	}
	if err := Write(filepath.Join(dir, "no", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

// A writer that fails leaves the earlier file, or none, and nothing of its own.
func TestWriteFails(t *testing.T) {
	for _, before := range []string{"", "earlier"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all := len(names(t, dir))
		err := WriteFunc(path, 0o600, func(w io.Writer) error {
			io.WriteString(w, "half")
			return syscall.ENOSPC
		})
		if b, _ := os.ReadFile(path); !errors.Is(err, syscall.ENOSPC) || string(b) != before || len(names(t, dir)) != all {
			t.Errorf("%v: %q in %v", err, b, names(t, dir))
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "taken"), []byte("x"), 0o600); err == nil || len(names(t, dir)) != 1 {
		t.Errorf("over a folder: %v, %v", err, names(t, dir))
	}
}

// However many write, readers find one writer's file, whole.
func TestWriteAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 8 {
				if err := Write(path, []byte(strings.Repeat(fmt.Sprint(i), 100_000)), 0o600); err != nil {
					t.Error(err)
				}
				b, err := os.ReadFile(path)
				if err != nil || len(b) != 100_000 || strings.Trim(string(b), string(b[:1])) != "" {
					t.Errorf("%d bytes, %v", len(b), err)
				}
			}
		})
	}
	all.Wait()
	if all := names(t, dir); len(all) != 1 {
		t.Error(all)
	}
}

// What a killed writer left is swept; what a writer at work has begun is not, nor other files.
func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a] folder*") // no pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skip(err)
	}
	before := time.Now().Add(-2 * time.Hour)
	for name, when := range map[string]time.Time{Unfinished + "old": before, Unfinished + "young": time.Now(), "file": before} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	Sweep(dir)
	if all := names(t, dir); len(all) != 2 || all[0] != Unfinished+"young" || all[1] != "file" {
		t.Error(all)
	}
}
