// Package testfile helps the tests of several packages with files. It finds data that is kept next to the repository, and
// damages files that the program wrote. No program imports it.
package testfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Shared returns the path of a file or folder in the folder shared beside the repository. Where that is missing, the
// test is skipped.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	file, err := Find(path...)
	if err != nil {
		t.Skipf("data that is not part of the repository is missing: %v", err)
	}
	return file
}

// Find is Shared for tests that can do without.
func Find(path ...string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	file := filepath.Join(append([]string{dir, "..", "shared"}, path...)...)
	_, err = os.Stat(file)
	return file, err
}

// Flip flips one bit of a file.
func Flip(t testing.TB, path string, bit int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
