package kvstore

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file of the store gives what was put, or nothing, whatever is in it.
func FuzzBlob(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(dir, 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	key := keyOf(1)
	for _, payload := range []string{"", "caches of a passage"} {
		if err := s.Put(key, func(w io.Writer) error { _, err := io.WriteString(w, payload); return err }); err != nil {
			f.Fatal(err)
		}
		file, err := os.ReadFile(s.path(key))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(file[:len(file)-1])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		path := s.path(key)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		r, ok := s.Get(t.Context(), key)
		if !ok {
			return
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if err := s.Put(key, func(w io.Writer) error { _, err := w.Write(got); return err }); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, file) {
			t.Fatalf("%d bytes are stored as another file: %v", len(got), err)
		}
	})
}
