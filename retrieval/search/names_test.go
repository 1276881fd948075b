package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/unicode/norm"
)

// A folder that was moved, with a link left in its place, is still the one that was added: it is shown, updated and
// removed by its name, and adding it again adds no second one.
func TestFolderBecomesLink(t *testing.T) {
	dir := t.TempDir()
	docs, moved := filepath.Join(dir, "docs"), filepath.Join(dir, "moved")
	writeFile(t, filepath.Join(docs, "mill.txt"), "The walnut mill turns at noon.")
	x := memoryOf(t, fstest.MapFS{})
	add(t, x, docs)
	if err := os.Rename(docs, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, docs); err != nil {
		t.Skip(err)
	}
	if _, list, err := x.Show(t.Context(), filepath.Join(docs, "mill.txt")); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if r := add(t, x, docs); r.Added != 0 || r.Passages != 1 {
		t.Errorf("%+v", r)
	}
	writeFile(t, filepath.Join(moved, "mill.txt"), "The chestnut mill turns at noon.")
	if r, err := x.Refresh(t.Context(), nil); err != nil || r.Updated != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := x.Remove(t.Context(), docs); err != nil || r.Removed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := x.Refresh(t.Context(), nil); err != nil || r.Passages != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What is gone is removed and shown by a path with links, too.
func TestRemoveGoneBelowLink(t *testing.T) {
	dir := t.TempDir()
	docs, link := filepath.Join(dir, "docs"), filepath.Join(dir, "link")
	for _, name := range []string{"a/b/mill.txt", "lock.txt"} {
		writeFile(t, filepath.Join(docs, name), "The walnut is old.")
	}
	if err := os.Symlink(docs, link); err != nil {
		t.Skip(err)
	}
	x := memoryOf(t, fstest.MapFS{})
	add(t, x, link)
	if err := os.RemoveAll(filepath.Join(docs, "a")); err != nil {
		t.Fatal(err)
	}
	if _, list, err := x.Show(t.Context(), filepath.Join(link, "a", "b", "mill.txt")); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if r, err := x.Remove(t.Context(), filepath.Join(link, "a", "b", "mill.txt")); err != nil || r.Removed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := x.Remove(t.Context(), filepath.Join(link, "a")); !errors.Is(err, ErrNotIndexed) {
		t.Error(err)
	}
}

// Records are text, so a path that is not UTF-8 is refused.
func TestAddPathNotUTF8(t *testing.T) {
	docs := filepath.Join(t.TempDir(), "caf\xe9")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Skip(err) // some systems have no such names
	}
	writeFile(t, filepath.Join(docs, "a.txt"), "walnut")
	x := memoryOf(t, fstest.MapFS{})
	if _, err := x.Add(t.Context(), docs, nil); err == nil || !strings.Contains(err.Error(), "rename") {
		t.Error(err)
	}
	if r, err := x.Refresh(t.Context(), nil); err != nil || r.Passages != 0 || len(r.Skipped) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A hidden folder or file that was added by itself stays, although a folder around it is indexed, too: it is updated,
// and removed, by itself.
func TestHiddenAddedByItself(t *testing.T) {
	for _, outerFirst := range []bool{true, false} {
		docs := t.TempDir()
		open, hidden, file := filepath.Join(docs, "open.txt"), filepath.Join(docs, "a", ".notes"), filepath.Join(docs, ".list.txt")
		for _, path := range []string{open, filepath.Join(hidden, "one.txt"), filepath.Join(hidden, "two.txt"), file} {
			writeFile(t, path, "The walnut is old.")
		}
		x := memoryOf(t, fstest.MapFS{})
		if outerFirst {
			add(t, x, docs)
		}
		add(t, x, hidden)
		add(t, x, file)
		if !outerFirst {
			add(t, x, docs)
		}
		refresh := func() Report {
			r, err := x.Refresh(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := refresh()
		if expect(t, r, "+0 ~0 -0 =4"); len(r.Skipped) > 0 {
			t.Errorf("%v", r.Skipped)
		}
		if err := os.Remove(filepath.Join(hidden, "two.txt")); err != nil {
			t.Fatal(err)
		}
		expect(t, refresh(), "+0 ~0 -1 =3")
		if r, err := x.Remove(t.Context(), hidden); err != nil || r.Removed != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		expect(t, refresh(), "+0 ~0 -0 =2")
		if r, err := x.Remove(t.Context(), docs); err != nil || r.Removed != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		expect(t, refresh(), "+0 ~0 -0 =0")
	}
}

// A file is shown and removed by its name however its accents are spelt: keyboards and file systems differ.
func TestNamesWithAccents(t *testing.T) {
	const typed = "Töpferei.txt"
	docs := t.TempDir()
	writeFile(t, filepath.Join(docs, norm.NFD.String(typed)), "The walnut is old.")
	x := memoryOf(t, fstest.MapFS{})
	add(t, x, docs)
	if _, list, err := x.Show(t.Context(), filepath.Join(docs, typed)); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if r, err := x.Remove(t.Context(), filepath.Join(docs, typed)); err != nil || r.Removed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
