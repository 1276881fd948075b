package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

// A lock excludes other opened files of the same path until its file is closed.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	if err := Lock(a); err != nil {
		t.Fatal(err)
	}
	if ok, err := Try(b); ok || err != nil {
		t.Errorf("locked twice: %v, %v", ok, err)
	}
	got := make(chan error)
	go func() { got <- Lock(b) }() // waits for a, or takes the lock just after it
	a.Close()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if ok, err := Try(open()); ok || err != nil {
		t.Errorf("locked twice: %v, %v", ok, err)
	}
	b.Close()
	if ok, err := Try(open()); !ok || err != nil {
		t.Errorf("a lock that is free: %v, %v", ok, err)
	}
}
