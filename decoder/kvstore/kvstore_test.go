package kvstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func keyOf(n int) (key [32]byte) {
	copy(key[:], fmt.Sprintf("%d", n))
	key[31] = byte(n)
	return key
}

func open(t *testing.T, dir string, budget int64) *Store {
	t.Helper()
	s, err := Open(dir, budget)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, n int, data []byte) {
	t.Helper()
	if err := s.Put(keyOf(n), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		t.Fatal(err)
	}
}

// get returns the blob, or nil for a miss.
func get(t *testing.T, s *Store, n int) []byte {
	t.Helper()
	r, ok := s.Get(t.Context(), keyOf(n))
	if !ok {
		return nil
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func blobFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20)
	big := bytes.Repeat([]byte("abc"), 100000)
	put(t, s, 1, big)
	put(t, s, 2, []byte{})
	put(t, s, 3, []byte("old"))
	put(t, s, 3, []byte("new"))
	s = open(t, dir, 1<<20) // as in another run
	if !bytes.Equal(get(t, s, 1), big) || get(t, s, 2) == nil || string(get(t, s, 3)) != "new" || get(t, s, 4) != nil {
		t.Error("what was put is not what was got")
	}
}

// A damaged file is a miss, and is removed.
func TestCorruption(t *testing.T) {
	data := bytes.Repeat([]byte("kv"), 50)
	for name, damage := range map[string]func(b []byte) []byte{
		"magic":    func(b []byte) []byte { b[0]++; return b },
		"version":  func(b []byte) []byte { b[8]++; return b },
		"key":      func(b []byte) []byte { b[len(kvMagic)]++; return b },
		"payload":  func(b []byte) []byte { b[kvHeader+20] ^= 1; return b },
		"length":   func(b []byte) []byte { b[len(b)-kvTrailer] ^= 1; return b },
		"checksum": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut":      func(b []byte) []byte { return b[:len(b)-1] },
		"longer":   func(b []byte) []byte { return append(b, 0) },
		"short":    func(b []byte) []byte { return b[:10] },
		"empty":    func(b []byte) []byte { return nil },
	} {
		dir := t.TempDir()
		s := open(t, dir, 1<<20)
		put(t, s, 1, data)
		path := s.path(keyOf(1))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, 1); got != nil {
			t.Errorf("%s: got %q", name, got)
		}
		if files := blobFiles(t, dir); len(files) != 0 {
			t.Errorf("%s: %q is left", name, files)
		}
		put(t, s, 1, data)
		if !bytes.Equal(get(t, s, 1), data) {
			t.Errorf("%s: not repaired", name)
		}
	}
	// a blob under the name of another
	s := open(t, t.TempDir(), 1<<20)
	put(t, s, 1, data)
	os.MkdirAll(filepath.Dir(s.path(keyOf(2))), 0o700)
	os.Rename(s.path(keyOf(1)), s.path(keyOf(2)))
	if get(t, s, 2) != nil {
		t.Error("a blob under another's key is taken for it")
	}
}

// The blobs used longest ago go first, over several runs.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	const size = 1000
	data := make([]byte, size-kvHeader-kvTrailer)
	s := open(t, dir, 5*size)
	for i := range 5 {
		put(t, s, i, data)
		old := time.Now().Add(time.Duration(i-10) * time.Minute)
		os.Chtimes(s.path(keyOf(i)), old, old)
	}
	s = open(t, dir, 5*size)
	if get(t, s, 0) == nil { // 0 was just used, so 1 is the oldest
		t.Fatal("0 is missing")
	}
	put(t, s, 5, data)
	for i, want := range []bool{true, false, false, true, true, true} {
		if got := get(t, s, i) != nil; got != want {
			t.Errorf("%d is kept: %v, want %v", i, got, want)
		}
	}
	err := s.Put(keyOf(9), func(w io.Writer) error { _, err := w.Write(make([]byte, 6*size)); return err })
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("larger than the budget: %v", err)
	}
	if n := len(blobFiles(t, dir)); n != 4 {
		t.Errorf("%d files, want 4", n)
	}
	open(t, dir, 2*size) // a smaller budget than last time
	if n := len(blobFiles(t, dir)); n > 2 {
		t.Errorf("%d files in a budget of 2", n)
	}
	if s = open(t, dir, 0); len(blobFiles(t, dir)) != 0 {
		t.Error("a budget of nothing keeps something")
	}
	if err := s.Put(keyOf(1), func(io.Writer) error { return nil }); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a budget of 0 takes a blob: %v", err)
	}
}

// A write that fails half-way, as on a full disk, or panics leaves the old blob and no other file.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20)
	put(t, s, 1, []byte("old"))
	full := errors.New("no space left on device")
	err := s.Put(keyOf(1), func(w io.Writer) error {
		w.Write([]byte("ne"))
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if string(get(t, s, 1)) != "old" || len(blobFiles(t, dir)) != 1 {
		t.Errorf("left %q, %q", get(t, s, 1), blobFiles(t, dir))
	}
	func() {
		defer func() { recover() }()
		s.Put(keyOf(1), func(w io.Writer) error {
			w.Write([]byte("ne"))
			panic("damaged model")
		})
	}()
	if string(get(t, s, 1)) != "old" || len(blobFiles(t, dir)) != 1 {
		t.Errorf("after a panic: %q, %q", get(t, s, 1), blobFiles(t, dir))
	}
	// An unfinished file is removed only when it is old: another process may still be writing it.
	for name, age := range map[string]time.Duration{"young": time.Minute, "old": 2 * time.Hour} {
		path := filepath.Join(filepath.Dir(s.path(keyOf(1))), kvTemp+name)
		os.WriteFile(path, []byte("x"), 0o600)
		os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age))
	}
	open(t, dir, 1<<20)
	if n := len(blobFiles(t, dir)); n != 2 {
		t.Errorf("%q: want the blob and the young unfinished file", blobFiles(t, dir))
	}
}

// Several stores in one directory, as of several processes, never return a wrong blob.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		s := open(t, dir, 20000) // room for about half of what is put
		all.Go(func() {
			for i := range 60 {
				n := i % 20
				data := bytes.Repeat([]byte{byte(n)}, 2000)
				if err := s.Put(keyOf(n), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
					t.Error(err)
				}
				for _, m := range []int{n, 19 - n} {
					if got := get(t, s, m); got != nil && !bytes.Equal(got, bytes.Repeat([]byte{byte(m)}, 2000)) {
						t.Errorf("wrong blob for %d", m)
					}
				}
			}
		})
	}
	all.Wait()
	total := int64(0)
	for _, f := range blobFiles(t, dir) {
		if info, err := os.Stat(f); err == nil {
			total += info.Size()
		}
	}
	if total > 20000+3*20000/16+3*2100 { // what each may put before it counts the files of the others
		t.Errorf("%d bytes in a budget of 20000", total)
	}
}
