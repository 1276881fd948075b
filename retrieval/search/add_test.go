package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// A file that was refused is not remembered: the next Refresh does not miss it. A folder that was given up takes what
// was added below it with it.
func TestRefusedFilesAreNotRemembered(t *testing.T) {
	x, dir := memoryOf(t, fstest.MapFS{}), t.TempDir()
	writeFile(t, filepath.Join(dir, "noise.txt"), "a\x00b")
	writeFile(t, filepath.Join(dir, "good.txt"), "The walnut tree is old.")
	for _, name := range []string{"noise.txt", "good.txt"} {
		if _, err := x.Add(t.Context(), filepath.Join(dir, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"noise.txt", "good.txt"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+".away")); err != nil {
			t.Fatal(err)
		}
	}
	r, err := x.Refresh(t.Context(), nil)
	if err != nil || len(r.Skipped) != 1 || !strings.HasSuffix(r.Skipped[0].Path, "good.txt") || !strings.Contains(r.Skipped[0].Reason, "its passages are kept") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := x.Remove(t.Context(), dir); err != nil || r.Removed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := x.Refresh(t.Context(), nil); err != nil || len(r.Skipped) > 0 {
		t.Errorf("%+v, %v", r, err)
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

// Of several files to remove, those that the index holds are removed, and the others are named, except those that were
// named twice.
func TestRemoveUnknown(t *testing.T) {
	docs := t.TempDir()
	var paths []string
	for _, name := range []string{"0.txt", "1.txt", "2.txt"} {
		paths = append(paths, filepath.Join(docs, name))
		writeFile(t, paths[len(paths)-1], "A walnut.")
	}
	x := open(t, t.TempDir())
	if _, err := x.AddAll(t.Context(), paths, nil); err != nil {
		t.Fatal(err)
	}
	none := []string{filepath.Join(docs, "none.txt"), filepath.Join(docs, "nor.txt")}
	reports, err := x.RemoveAll(t.Context(), []string{paths[0], none[0], paths[2], none[1], paths[0]})
	var unknown *NotIndexedError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Paths, none) || len(reports) != 5 || reports[2].Removed != 1 {
		t.Errorf("%+v, %v", reports, err)
	}
	finds(t, x, "walnut", "1.txt")
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

// An Add that is interrupted keeps the files that were finished, without a checkpoint, and the next one goes on from there.
// Progress tells how much there is to do.
func TestInterruptedAddKeepsWhatIsDone(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	for i := range 6 {
		writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), fmt.Sprintf("Walnut tree number %d.", i))
	}
	x := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	var seen []Progress
	report, err := x.Add(ctx, docs, func(p Progress) {
		if seen = append(seen, p); p.Done == 4 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || report.Added != 4 || report.Passages != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	if last := seen[len(seen)-1]; len(seen) != 4 || last.Files != 6 || last.TotalBytes != 6*21 || last.Bytes != 4*21 {
		t.Errorf("progress %+v", seen)
	}
	expect(t, add(t, x, docs), "+2 ~0 -0 =4")
}

// An index is empty if it holds no passage, whatever records of other files it has.
func TestEmpty(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	empty := func(want bool) {
		t.Helper()
		x, err := Open(dir, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if got, err := x.Empty(); got != want || err != nil {
			t.Errorf("empty: %v, %v, want %v", got, err, want)
		}
	}
	if Exists(dir) {
		t.Error("an index exists before anything was added")
	}
	empty(true)
	for i := range 40 {
		writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), " ")
	}
	x := open(t, dir)
	add(t, x, docs)
	empty(true)
	writeFile(t, filepath.Join(docs, "a.txt"), "walnut")
	add(t, x, docs)
	empty(false)
	if _, err := x.Remove(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	empty(true)
	if !Exists(dir) {
		t.Error("no index exists after everything was removed")
	}
}

// Show returns a file's passages in the order of the file.
func TestShow(t *testing.T) {
	docs := t.TempDir()
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "Sentence %d has words enough to fill a passage with the others. ", i)
	}
	path := filepath.Join(docs, "a.txt")
	writeFile(t, path, text.String())
	writeFile(t, filepath.Join(docs, "b.txt"), " ")
	x := open(t, t.TempDir())
	add(t, x, docs)
	file, list, err := x.Show(t.Context(), path)
	if err != nil || file.Path != path || len(list) < 3 || file.Passages != len(list) {
		t.Fatalf("%+v, %d passages, %v", file, len(list), err)
	}
	from := 0
	for _, p := range list {
		at := strings.Index(text.String(), p.Text)
		if at < from {
			t.Errorf("passage %q begins at byte %d, the one before at %d", p.Text, at, from)
		}
		from = at
	}
	for name, want := range map[string]string{"b.txt": noText, "c.txt": "c.txt"} {
		if _, _, err := x.Show(t.Context(), filepath.Join(docs, name)); !errors.Is(err, ErrNotIndexed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Many files that are added and removed by name cost little more than in a folder: the index is read and written once,
// and four times as many take about four times the memory.
func TestAddAll(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	var paths []string
	for i := range 400 {
		paths = append(paths, filepath.Join(docs, fmt.Sprintf("%03d.txt", i)))
		writeFile(t, paths[i], fmt.Sprintf("The walnut is %d.", i))
	}
	published := 0
	cost := func(paths []string) uint64 {
		x := open(t, t.TempDir())
		x.failpoint = func(step string) error {
			if step == "publish" {
				published++
			}
			return nil
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reports, err := x.AddAll(t.Context(), paths, nil)
		if err != nil || len(reports) != len(paths) || reports[0].Added != 1 || reports[0].Passages != len(paths) {
			t.Errorf("%+v, %v", reports, err)
		}
		if r, err := x.Refresh(t.Context(), nil); err != nil || r.Unchanged != len(paths) {
			t.Errorf("%+v, %v", r, err)
		}
		reports, err = x.RemoveAll(t.Context(), paths)
		if err != nil || len(reports) != len(paths) || reports[0].Removed != 1 || reports[0].Passages != 0 {
			t.Errorf("%+v, %v", reports, err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, four := cost(paths[:100]), cost(paths); published != 4 || four > 8*one {
		t.Errorf("%d writes; %d kB for 100 files, %d kB for four times as many", published, one>>10, four>>10)
	}

	x := open(t, dir)
	reports, err := x.AddAll(t.Context(), []string{paths[0], filepath.Join(docs, "none.txt"), paths[1]}, nil)
	if !errors.Is(err, fs.ErrNotExist) || len(reports) != 2 || reports[0].Added != 1 {
		t.Errorf("%+v, %v", reports, err)
	}
	finds(t, x, "walnut", "000.txt")
	reports, err = x.RemoveAll(t.Context(), []string{paths[0], filepath.Join(docs, "none.txt")})
	if !errors.Is(err, ErrNotIndexed) || len(reports) != 2 || reports[0].Removed != 1 {
		t.Errorf("%+v, %v", reports, err)
	}
	finds(t, x, "walnut")
}
