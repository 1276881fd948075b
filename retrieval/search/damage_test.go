package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2"

	"tandem/internal/testfile"
)

// grown returns the directory of an index of several segments, and what it holds.
func grown(t *testing.T) (dir, held string) {
	docs, dir := t.TempDir(), t.TempDir()
	x := open(t, dir)
	for i := range 3 {
		writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), fmt.Sprintf("The walnut tree number %d. %s", i, strings.Repeat("Hazel and almond. ", 20)))
		add(t, x, docs)
	}
	held = contents(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, held
}

// Any bit of a generation that flips is found when the index is opened, the error names the file and the way out, and
// Rebuild makes the index as it was.
func TestFlippedBits(t *testing.T) {
	dir, held := grown(t)
	random := rand.New(rand.NewPCG(28, 4))
	gen, err := readCurrent(dir)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filesOf(filepath.Join(dir, gen))
	if err != nil || len(names) < 3 {
		t.Fatalf("%q, %v", names, err)
	}
	for i := range 60 {
		path := filepath.Join(dir, gen, filepath.FromSlash(append(names, sumsName)[i%(len(names)+1)]))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		bit := random.Int64N(8 * info.Size())
		testfile.Flip(t, path, bit)
		x, err := Open(dir, Options{ReadOnly: i%2 == 0})
		var damaged *DamagedError
		if !errors.As(err, &damaged) || damaged.File != path || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "index rebuild") || strings.Contains(damaged.Public(), dir) {
			t.Errorf("bit %d of %s: %v", bit, path, err)
			if err == nil {
				x.Close()
			}
		}
		testfile.Flip(t, path, bit)
	}
	testfile.Flip(t, filepath.Join(dir, gen, names[len(names)-1]), 100)
	report, err := Rebuild(t.Context(), dir, Options{}, nil)
	if err != nil || report.Passages != 3 {
		t.Fatalf("rebuild: %+v, %v", report, err)
	}
	if got := contents(t, open(t, dir)); got != held {
		t.Errorf("after a rebuild\n%s\nwant\n%s", got, held)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "gen-*")); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}

// A write on top of a damaged segment fails, or leaves the damage visible: it must not get a new checksum.
func TestDamageIsNotSealed(t *testing.T) {
	dir, _ := grown(t)
	docs := t.TempDir()
	writeFile(t, filepath.Join(docs, "new.txt"), "chestnut")
	x := open(t, dir)
	gen, _ := readCurrent(dir)
	segments, _ := filepath.Glob(filepath.Join(dir, gen, "store", "*.zap"))
	if len(segments) == 0 {
		t.Fatal("no segments")
	}
	testfile.Flip(t, segments[0], 800)
	x.Add(t.Context(), docs, nil)
	x.Close()
	if y, err := Open(dir, Options{ReadOnly: true}); err == nil {
		defer y.Close()
		if left, _ := filepath.Glob(filepath.Join(dir, "gen-*", "store", filepath.Base(segments[0]))); len(left) > 0 {
			t.Error("a damaged segment has a new checksum")
		}
	}
}

// An index of an earlier version has no checksums and no list of sources: it opens, and can be made again while it can be read.
func TestUnsealedIndex(t *testing.T) {
	dir, held := grown(t)
	gen, _ := readCurrent(dir)
	for _, name := range []string{filepath.Join(gen, sumsName), sourcesName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := contents(t, open(t, dir)); got != held {
		t.Errorf("an index without checksums holds\n%s", got)
	}
	if _, err := Rebuild(t.Context(), dir, Options{}, nil); err != nil {
		t.Error(err)
	}
	gen, _ = readCurrent(dir)
	os.Remove(filepath.Join(dir, sourcesName))
	testfile.Flip(t, filepath.Join(dir, gen, sumsName), 3)
	if _, err := Rebuild(t.Context(), dir, Options{}, nil); err == nil || !strings.Contains(err.Error(), "delete the directory") {
		t.Errorf("without index and sources: %v", err)
	}
}

// A rebuild keeps what was excluded and the length of passages, and until it is complete the index stays.
func TestRebuildKeeps(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	for i := range 3 {
		writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), strings.Repeat("A walnut tree stands in the garden. ", 30))
	}
	x, err := Open(dir, Options{Words: 20})
	if err != nil {
		t.Fatal(err)
	}
	add(t, x, docs)
	if _, err := x.Remove(t.Context(), filepath.Join(docs, "1.txt")); err != nil {
		t.Fatal(err)
	}
	held := contents(t, x)
	x.Close()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Rebuild(ctx, dir, Options{}, func(Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for range 2 {
		if got := contents(t, open(t, dir)); got != held {
			t.Fatalf("the index holds\n%s\nwant\n%s", got, held)
		}
		if _, err := Rebuild(t.Context(), dir, Options{}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// What panics in the index library is an error of one search.
func TestPanicIsAnError(t *testing.T) {
	dir, _ := grown(t)
	x := open(t, dir)
	err := x.view(func(bleve.Index) error { panic("slice bounds out of range") })
	var damaged *DamagedError
	if !errors.As(err, &damaged) || !strings.Contains(err.Error(), "index rebuild") {
		t.Error(err)
	}
	finds(t, x, "almond", "0.txt", "1.txt", "2.txt")
}

// Only their owner may read the files of an index.
func TestIndexIsPrivate(t *testing.T) {
	dir, _ := grown(t)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && !d.IsDir() && info.Mode()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
