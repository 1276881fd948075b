package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// countingFS counts how often files are read.
type countingFS struct {
	fstest.MapFS
	opened *int
}

func (f countingFS) Open(name string) (fs.File, error) {
	if name != "." {
		*f.opened++
	}
	return f.MapFS.Open(name)
}

// The index remembers what is wrong with a file until the file changes.
func TestReasonsAreRemembered(t *testing.T) {
	opened := 0
	files := countingFS{fstest.MapFS{"a.pdf": {Data: []byte("%PDF-1.4"), ModTime: time.Unix(1e9, 0)}}, &opened}
	x := memoryOf(t, fstest.MapFS{})
	for i := range 2 {
		r, err := x.AddFS(t.Context(), files, ".")
		if err != nil || len(r.Skipped) != 1 || !strings.HasPrefix(r.Skipped[0].Reason, "damaged PDF") || opened != 1 {
			t.Errorf("%d: %+v, %v, read %d times", i, r, err, opened)
		}
	}
}

// cancellingFS cancels a context while a file is being read.
type cancellingFS struct {
	fstest.MapFS
	cancel context.CancelFunc
}

func (f cancellingFS) Open(name string) (fs.File, error) {
	if name != "." {
		f.cancel()
	}
	return f.MapFS.Open(name)
}

// An Add whose context ends while it reads a file returns the context's error, and the file is not in the index.
func TestAddIsInterrupted(t *testing.T) {
	x := memoryOf(t, fstest.MapFS{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := x.AddFS(ctx, cancellingFS{fstest.MapFS{"a.txt": {Data: []byte("walnut")}}, cancel}, ".")
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	finds(t, x, "walnut")
}

// Files are cut again if another length of passages is asked for.
func TestPassageWords(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "Sentence %d has words to fill a passage up. ", i)
	}
	writeFile(t, files+"/a.md", "# A\n\n"+text.String())
	add := func(words int) Report {
		x, err := Open(dir, Options{Words: words})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		r, err := x.Add(t.Context(), files, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	short := add(0)
	if again := add(0); again.Unchanged != 1 || again.Passages != short.Passages {
		t.Errorf("%+v after %+v", again, short)
	}
	long := add(100)
	if long.Updated != 1 || long.Passages >= short.Passages {
		t.Errorf("%+v with long passages, %+v with short ones", long, short)
	}
	if _, err := Open(dir, Options{Words: -1}); err == nil {
		t.Error("passages of -1 words are accepted")
	}
}
