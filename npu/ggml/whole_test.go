package ggml

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func FuzzCheckELF(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "libggml.so")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		checkELF(path, "amd64") // must not panic
	})
}

// Files that are no libraries, truncated or for another processor are refused.
func TestDamagedLibrariesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := func(text string) {
		t.Helper()
		err := checkFiles(dir, runtime.GOARCH)
		if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	want("")
	write("libggml-cpu-x64.so", []byte("hello\n"))
	want("libggml-cpu-x64.so: not a shared library (6 bytes)")
	write("libggml-cpu-x64.so", []byte(strings.Repeat("hello\n", 1000)))
	want("not a complete shared library")
	if runtime.GOOS != "linux" {
		return
	}
	need(t, 1)
	l, err := load()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(newest(l.report.Folder, "linux", "libggml-base"))
	if err != nil {
		t.Fatal(err)
	}
	write("libggml-cpu-x64.so", whole)
	want("")
	for _, n := range []int{100, 100_000, len(whole) / 2} {
		write("libggml-cpu-x64.so", whole[:n])
		want("install it again")
	}
	for arch, other := range map[string]byte{"amd64": 183, "arm64": 62} { // the other's e_machine
		if arch == runtime.GOARCH {
			whole[18] = other
		}
	}
	write("libggml-cpu-x64.so", whole)
	want("not for this processor")
}
