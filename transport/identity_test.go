package transport

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Programs that start together in a fresh folder have one key.
func TestOneIdentity(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		ids := make([]ID, 8)
		var start, all sync.WaitGroup
		start.Add(1)
		for i := range ids {
			all.Go(func() {
				start.Wait()
				id, err := LoadOrCreateIdentity(dir)
				if err != nil {
					t.Error(err)
				}
				ids[i] = id.ID
			})
		}
		start.Done()
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("keys %s and %s", id.Short(), ids[0].Short())
			}
		}
	}
}

// A link whose file is missing is an error, and is not replaced: the key may only be on a disk that is not mounted.
func TestIdentityBehindADanglingLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "identity.pem")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Skip(err)
	}
	failed := make(chan error)
	go func() {
		_, err := LoadOrCreateIdentity(dir)
		failed <- err
	}()
	select {
	case err := <-failed:
		if err == nil || !strings.Contains(err.Error(), path+" is a link to a missing file: restore it, or remove it and pair again") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for its own lock")
	}
	if _, err := os.Readlink(path); err != nil {
		t.Error(err)
	}
}

// Files that a killed writer of tickets left are removed, those of a writer at work are not.
func TestStaleTickets(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, ".new-1"), filepath.Join(dir, ".new-2")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	OpenTickets(dir)
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != ".new-2" {
		t.Errorf("%v are left", left)
	}
}
