package search

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/atomicfile"
	"tandem/retrieval/documents"
	"tandem/retrieval/passages"
)

// The variable names a folder in which the tests of several packages share the compiled code of PDFium.
func init() { documents.SetPDFium(os.Getenv("TANDEM_TEST_PDFIUM"), nil) }

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// age sets a file's time well into the past, so that its size and time identify its contents.
func age(t testing.TB, path string, hours int) {
	t.Helper()
	when := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func add(t testing.TB, x *Index, path string) Report {
	t.Helper()
	r, err := x.Add(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// finds reports whether a search for a word finds exactly the given files, by base name.
func finds(t testing.TB, x *Index, word string, want ...string) {
	t.Helper()
	hits, err := x.Search(context.Background(), passages.Query{Text: word}, 100)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]bool)
	for _, h := range hits {
		got[filepath.Base(h.Source)] = true
	}
	slices.Sort(want)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("%q finds %q, want %q", word, names, want)
	}
}

func counts(r Report) string {
	return fmt.Sprintf("+%d ~%d -%d =%d", r.Added, r.Updated, r.Removed, r.Unchanged)
}

func expect(t *testing.T, r Report, want string) {
	t.Helper()
	if got := counts(r); got != want {
		t.Errorf("report %s, want %s; skipped %v", got, want, r.Skipped)
	}
}

func TestIncremental(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	cabin, museum := filepath.Join(docs, "a", "cabin.md"), filepath.Join(docs, "museum.txt")
	writeFile(t, cabin, "# Lake cabin\n\nThe wifi password of the lake cabin is tumbral-5827.\n")
	writeFile(t, museum, "The harbour museum opens at 9:30.\n")
	age(t, cabin, 5)
	age(t, museum, 5)
	x := open(t, dir)
	expect(t, add(t, x, docs), "+2 ~0 -0 =0")
	finds(t, x, "tumbral", "cabin.md")
	finds(t, x, "zebra")

	before, _ := readCurrent(dir)
	expect(t, add(t, x, docs), "+0 ~0 -0 =2")
	if after, _ := readCurrent(dir); after != before {
		t.Errorf("nothing changed, but %s became %s", before, after)
	}

	writeFile(t, cabin, "# Lake cabin\n\nThe wifi password of the lake cabin is quendle-1.\n")
	expect(t, add(t, x, docs), "+0 ~1 -0 =1")
	finds(t, x, "tumbral")
	finds(t, x, "quendle", "cabin.md")

	// The same size and time: only the contents tell.
	info, _ := os.Stat(cabin)
	writeFile(t, cabin, "# Lake cabin\n\nThe wifi password of the lake cabin is brindle-1.\n")
	os.Chtimes(cabin, info.ModTime(), info.ModTime())
	expect(t, add(t, x, docs), "+0 ~1 -0 =1")
	finds(t, x, "brindle", "cabin.md")

	age(t, cabin, 3) // touched only
	expect(t, add(t, x, docs), "+0 ~0 -0 =2")

	if err := os.Rename(museum, filepath.Join(docs, "renamed.txt")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(docs, "new.html"), "<p>The zebra house opens at 8:00.</p>")
	r, err := x.Refresh(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, "+2 ~0 -1 =1")
	finds(t, x, "harbour", "renamed.txt")
	finds(t, x, "zebra", "new.html")

	x.Close()
	x = open(t, dir) // everything is on disk
	finds(t, x, "brindle", "cabin.md")
	list, err := x.List()
	if err != nil || len(list) != 3 || list[0].Title != "Lake cabin" || list[0].Passages != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
	if r.Passages != 3 {
		t.Errorf("%d passages, want 3", r.Passages)
	}
}

func TestRemove(t *testing.T) {
	docs := t.TempDir()
	for _, name := range []string{"a/one.txt", "a/two.txt", "b/three.txt"} {
		writeFile(t, filepath.Join(docs, name), "walnut in "+name)
	}
	x := open(t, t.TempDir())
	add(t, x, docs)
	r, err := x.Remove(t.Context(), filepath.Join(docs, "a"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, "+0 ~0 -2 =0")
	finds(t, x, "walnut", "three.txt")
	if r, _ = x.Refresh(t.Context(), nil); len(r.Skipped) != 2 {
		t.Errorf("a file removed by hand is indexed again: %+v", r)
	}
	finds(t, x, "walnut", "three.txt")
	expect(t, add(t, x, filepath.Join(docs, "a", "one.txt")), "+1 ~0 -0 =0")
	for range 2 { // neither a refresh nor the folder itself brings back what was not named
		if r, _ = x.Refresh(t.Context(), nil); len(r.Skipped) != 1 || r.Unchanged != 2 {
			t.Errorf("one file of a removed folder was added: %+v", r)
		}
		finds(t, x, "walnut", "one.txt", "three.txt")
		add(t, x, docs)
	}
	expect(t, add(t, x, filepath.Join(docs, "a")), "+1 ~0 -0 =1")
	add(t, x, docs)
	finds(t, x, "walnut", "one.txt", "two.txt", "three.txt")
	if _, err := x.Remove(t.Context(), filepath.Join(docs, "nothing")); !errors.Is(err, ErrNotIndexed) {
		t.Errorf("removing a path that is not indexed: %v", err)
	}
	os.RemoveAll(filepath.Join(docs, "b"))
	if _, err := x.Remove(t.Context(), filepath.Join(docs, "b")); err != nil {
		t.Errorf("removing a folder that is gone from the disk: %v", err)
	}
	if _, err := x.Remove(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	finds(t, x, "walnut")
	if r, _ := x.Refresh(t.Context(), nil); r.Added+len(r.Skipped) != 0 {
		t.Errorf("a removed root is still visited: %+v", r)
	}
}

// A disk that is not mounted must not empty the index.
func TestMissingRoot(t *testing.T) {
	docs := filepath.Join(t.TempDir(), "docs")
	writeFile(t, filepath.Join(docs, "one.txt"), "walnut")
	x := open(t, t.TempDir())
	add(t, x, docs)
	os.Rename(docs, docs+".away")
	r, err := x.Refresh(t.Context(), nil)
	if err != nil || len(r.Skipped) != 1 || r.Removed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	finds(t, x, "walnut", "one.txt")
}

func TestSkips(t *testing.T) {
	docs := t.TempDir()
	put := func(name, text string) { writeFile(t, filepath.Join(docs, name), text) }
	put("ok.txt", "walnut")
	put("latin.txt", "caf\xe9 walnut")
	put("utf16.txt", "\xff\xfew\x00a\x00l\x00n\x00u\x00t\x00")
	put("binary.txt", "ab\x00cd")
	put("garbage.txt", strings.Repeat("\x81\x8d\x8f", 100))
	put("image.png", "\x89PNG")
	put("empty.md", "\n\n")
	put("fake.pdf", "hello")
	put("damaged.pdf", "%PDF-1.4\nnothing")
	put("~$ok.docx", "walnut")
	put("fake.docx", "walnut")
	put("old.doc", "walnut")
	put(".hidden.txt", "walnut")
	put(".git/config.txt", "walnut")
	put("node_modules/walnut/package.json", `{"name": "walnut"}`)
	put("site-packages/walnut/walnut.py", "walnut = 1")
	put("package-lock.json", `{"name": "walnut"}`)
	put("large.txt", strings.Repeat("walnut ", 8<<20/7+1))
	os.Symlink(filepath.Join(docs, "ok.txt"), filepath.Join(docs, "link.txt"))
	os.Symlink(docs, filepath.Join(docs, "loop"))
	want := map[string]string{
		"binary.txt": "binary", "garbage.txt": "binary", "image.png": "unsupported type .png", "empty.md": "no text",
		"fake.pdf": "not a PDF", "damaged.pdf": "damaged PDF", "~$ok.docx": "office program",
		"fake.docx": "not a .docx document", "old.doc": "save it as .docx or PDF", ".hidden.txt": "hidden", ".git": "hidden",
		"large.txt": "too large", "link.txt": "symbolic link", "loop": "symbolic link",
		"node_modules": "package manager", "site-packages": "package manager", "package-lock.json": "package manager",
	}
	if name := "bad\xff.txt"; os.WriteFile(filepath.Join(docs, name), []byte("walnut"), 0o600) == nil { // not on every system
		want[name] = "not UTF-8"
	}
	x := open(t, t.TempDir())
	for range 2 { // the second time from the records
		r := add(t, x, docs)
		got := make(map[string]string)
		for _, s := range r.Skipped {
			got[filepath.Base(s.Path)] = s.Reason
		}
		for name, reason := range want {
			if !strings.Contains(got[name], reason) {
				t.Errorf("%s: %q, want %q", name, got[name], reason)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("also skipped: %v", got)
		}
	}
	finds(t, x, "walnut", "ok.txt", "latin.txt", "utf16.txt")
}

// The passages of files that cannot be read stay: the files may still exist.
func TestUnreadableKeeps(t *testing.T) {
	files := fstest.MapFS{
		"notes/sub/one.txt": {Data: []byte("walnut")},
		"notes/two.txt":     {Data: []byte("walnut")},
		"notes/three.txt":   {Data: []byte("walnut")},
	}
	x := open(t, t.TempDir())
	if _, err := x.AddFS(t.Context(), files, "notes"); err != nil {
		t.Fatal(err)
	}
	delete(files, "notes/three.txt")
	r, err := x.AddFS(t.Context(), failingFS{files, []string{"notes/sub", "notes/two.txt"}}, "notes")
	if err != nil || r.Removed != 1 || len(r.Skipped) != 2 || r.Skipped[0].Reason != "unreadable (input/output error); passages it had are kept" {
		t.Errorf("%+v, %v", r, err)
	}
	files["notes/four.txt"] = &fstest.MapFile{Data: []byte("elm")}
	r, err = x.AddFS(t.Context(), failingFS{files, []string{"notes/four.txt"}}, "notes")
	if err != nil || len(r.Skipped) != 1 || r.Skipped[0].Reason != "unreadable (input/output error)" {
		t.Errorf("never read: %+v, %v", r, err)
	}
	finds(t, x, "walnut", "one.txt", "two.txt")
	if _, err := x.AddFS(t.Context(), failingFS{files, []string{"notes"}}, "notes"); err != nil {
		t.Error(err)
	}
	finds(t, x, "walnut", "one.txt", "two.txt")
}

// Folders that cannot be read do not each cost a look at all files: four times as many folders and files take about four times
// the memory.
func TestManyUnreadable(t *testing.T) {
	cost := func(n int) uint64 {
		u := &update{records: records{files: map[string]record{}}}
		files := fstest.MapFS{}
		var failing []string
		for i := range n {
			name := fmt.Sprintf("notes/%05d", i)
			files[name+"/a.txt"] = &fstest.MapFile{Data: []byte("walnut")}
			failing = append(failing, name)
			u.files[name+"/a.txt"] = record{Path: name + "/a.txt", Passages: []string{"1"}}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := u.addFS(t.Context(), failingFS{files, failing}, "notes"); err != nil || len(u.report.Skipped) != n || u.report.Removed > 0 {
			t.Fatalf("%+v, %v", u.report, err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, four := cost(200), cost(800); four > 8*one {
		t.Errorf("%d kB for 200 folders, %d kB for four times as many", one>>10, four>>10)
	}
}

// failingFS cannot read some names.
type failingFS struct {
	fstest.MapFS
	broken []string
}

func (f failingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if slices.Contains(f.broken, name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("input/output error")}
	}
	return f.MapFS.ReadDir(name)
}

func (f failingFS) Open(name string) (fs.File, error) {
	if slices.Contains(f.broken, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("input/output error")}
	}
	return f.MapFS.Open(name)
}

// After any sequence of changes and refreshes, the index holds what a new one would.
func TestMatchesFreshIndex(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		docs, err := os.MkdirTemp("", "docs")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(docs)
		x, err := Memory(Options{}) // TestCrash tests an index on disk
		if err != nil {
			r.Fatal(err)
		}
		defer x.Close()
		name := rapid.SampledFrom([]string{"a.txt", "b.md", "c/d.txt", "c/e.html"})
		word := rapid.SampledFrom([]string{"walnut", "hazel", "almond", ""})
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			for range rapid.IntRange(0, 3).Draw(r, "changes") {
				path := filepath.Join(docs, name.Draw(r, "name"))
				if rapid.IntRange(0, 3).Draw(r, "kind") == 0 {
					os.Remove(path)
					continue
				}
				os.MkdirAll(filepath.Dir(path), 0o700)
				text := strings.Repeat(word.Draw(r, "word")+" tree. ", rapid.IntRange(0, 90).Draw(r, "length"))
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					r.Fatal(err)
				}
			}
			if _, err := x.Add(context.Background(), docs, nil); err != nil {
				r.Fatal(err)
			}
		}
		fresh, err := Memory(Options{})
		if err != nil {
			r.Fatal(err)
		}
		defer fresh.Close()
		if _, err := fresh.Add(context.Background(), docs, nil); err != nil {
			r.Fatal(err)
		}
		if got, want := contents(r, x), contents(r, fresh); got != want {
			r.Fatalf("index holds\n%s\nwant\n%s", got, want)
		}
	})
}

// contents returns all files and passages of an index as text.
func contents(t interface{ Fatal(...any) }, x *Index) string {
	var b strings.Builder
	list, err := x.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		fmt.Fprintf(&b, "%s %q %d\n", filepath.Base(f.Path), f.Title, f.Passages)
	}
	for _, word := range []string{"walnut", "hazel", "almond", "tree"} {
		hits, err := x.Search(context.Background(), passages.Query{Text: word}, maxResults)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, h := range hits {
			lines = append(lines, fmt.Sprintf("%s %s %q %q", word, h.ID, h.Title, h.Text))
		}
		slices.Sort(lines)
		fmt.Fprintln(&b, strings.Join(lines, "\n"))
	}
	return b.String()
}

// TestCrash stops a write at each of its steps and cleans up nothing. The index must then be as before the write or as after
// it, and the next write must complete the broken one.
func TestCrash(t *testing.T) {
	for at := 0; ; at++ {
		docs, dir := t.TempDir(), t.TempDir()
		for i := range 4 {
			writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), fmt.Sprintf("walnut tree %d.", i))
		}
		x := open(t, dir)
		add(t, x, docs)
		before := contents(t, x)
		os.Remove(filepath.Join(docs, "0.txt"))
		writeFile(t, filepath.Join(docs, "1.txt"), "hazel tree.")
		writeFile(t, filepath.Join(docs, "9.txt"), "almond tree.")
		fresh, err := Memory(Options{})
		if err != nil {
			t.Fatal(err)
		}
		add(t, fresh, docs)
		after := contents(t, fresh)
		fresh.Close()

		step, where := 0, ""
		x.failpoint = func(name string) error {
			if step++; step == at+1 {
				where = name
				return errKilled
			}
			return nil
		}
		_, err = x.Add(t.Context(), docs, nil)
		if where == "" {
			if err != nil {
				t.Fatal(err)
			}
			if at < 4 {
				t.Errorf("only %d steps", at)
			}
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("%s: %v", where, err)
		}
		writeFile(t, filepath.Join(dir, atomicfile.Unfinished+"A"), "half") // as if it were killed within a step
		reader := open(t, dir)
		if got := contents(t, reader); got != before && got != after {
			t.Errorf("killed at %s, the index holds\n%s", where, got)
		}
		y := open(t, dir)
		add(t, y, docs)
		if got := contents(t, y); got != after {
			t.Errorf("killed at %s and repaired, the index holds\n%s\nwant\n%s", where, got, after)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "gen-*")); len(left) != 1 {
			t.Errorf("killed at %s and repaired, %q are left", where, left)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, atomicfile.Unfinished+"*")); len(left) > 0 {
			t.Errorf("killed at %s and repaired, %q are left", where, left)
		}
		if got := contents(t, reader); got != after {
			t.Errorf("a reader opened before does not see the repair")
		}
	}
}

// TestKill kills a real process at random moments of its writing.
func TestKill(t *testing.T) {
	if dir := os.Getenv("TANDEM_TEST_KILL_DIR"); dir != "" {
		killedWriter(t, dir)
		return
	}
	dir := t.TempDir()
	x := open(t, dir)
	random, written := rand.New(rand.NewPCG(1, 2)), false
	for range 6 {
		c := exec.Command(os.Args[0], "-test.run=^TestKill$")
		c.Env = append(os.Environ(), "TANDEM_TEST_KILL_DIR="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		rounds := bufio.NewScanner(out)
		for n := range 1 + random.IntN(4) {
			if !rounds.Scan() {
				t.Fatal("the process ended by itself")
			}
			written = written || n > 0
		}
		time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond)
		c.Process.Kill()
		c.Wait()
		// Every write of that process changed all three files alike.
		hits, err := x.Search(t.Context(), passages.Query{Text: "round"}, 10)
		if err != nil {
			t.Fatal(err)
		}
		texts := make(map[string]bool)
		for _, h := range hits {
			texts[h.Text] = true
		}
		if (written || len(hits) != 0) && (len(hits) != 3 || len(texts) != 1) {
			t.Fatalf("half a write: %d hits, %v", len(hits), texts)
		}
	}
	docs := t.TempDir()
	writeFile(t, filepath.Join(docs, "a.txt"), "walnut")
	add(t, x, docs)
	finds(t, x, "walnut", "a.txt")
}

// killedWriter prints a line when each round of its writing begins.
func killedWriter(t *testing.T, dir string) {
	x := open(t, dir)
	docs := filepath.Join(dir, "..", "docs")
	for round := 0; ; round++ {
		fmt.Println(round)
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			writeFile(t, filepath.Join(docs, name), fmt.Sprintf("round %d of process %d", round, os.Getpid()))
		}
		add(t, x, docs)
	}
}

func TestOneWriter(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(docs, "a.txt"), "walnut")
	x, y := open(t, dir), open(t, dir)
	impatient, stop := context.WithCancel(t.Context())
	stop()
	_, err := x.Add(t.Context(), docs, func(Progress) {
		_, err := y.Add(impatient, docs, nil)
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) || !strings.Contains(err.Error(), dir) {
			t.Errorf("a second writer: %v", err)
		}
		finds(t, y, "walnut") // reading continues
	})
	if err != nil {
		t.Fatal(err)
	}
	finds(t, y, "walnut", "a.txt")
	expect(t, add(t, y, docs), "+0 ~0 -0 =1")
}

func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	x, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	finds(t, x, "walnut")
	if _, err := x.Refresh(t.Context(), nil); !errors.Is(err, errReadOnly) {
		t.Errorf("write: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was created")
	}
	docs := t.TempDir()
	writeFile(t, filepath.Join(docs, "a.txt"), "walnut")
	add(t, open(t, dir), docs)
	finds(t, x, "walnut", "a.txt") // created since
	x.Close()
	if _, err := x.Search(t.Context(), passages.Query{Text: "walnut"}, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("search after close: %v", err)
	}
}

// Searches never fail during writes, and never see half of one.
func TestReadWhileWritten(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	write := func(round int) {
		for i := range 3 {
			writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), fmt.Sprintf("walnut round %d", round))
		}
	}
	x, y := open(t, dir), open(t, dir)
	write(0)
	add(t, x, docs)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for _, r := range []*Index{x, y} {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				hits, err := r.Search(context.Background(), passages.Query{Text: "walnut"}, 10)
				if err != nil {
					t.Error(err)
					return
				}
				if len(hits) != 3 || hits[0].Text != hits[1].Text || hits[1].Text != hits[2].Text {
					t.Errorf("half a write: %+v", hits)
					return
				}
			}
		})
	}
	for round := range 5 {
		write(round + 1)
		add(t, x, docs)
	}
	close(stop)
	readers.Wait()
	segments, _ := filepath.Glob(filepath.Join(dir, "gen-*", "store", "*.zap"))
	if len(segments) > 20 {
		t.Errorf("%d segments after 6 writes of 3 files", len(segments))
	}
}

// A long Add that is stopped keeps what it published, and the next one continues from there.
func TestCheckpoint(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	for i := range 6 {
		writeFile(t, filepath.Join(docs, fmt.Sprintf("%d.txt", i)), fmt.Sprintf("Walnut tree number %d.", i))
	}
	x := open(t, dir)
	x.batch, x.checkpoint = 1, 1
	ctx, cancel := context.WithCancel(t.Context())
	_, err := x.Add(ctx, docs, func(p Progress) {
		if p.Done == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled add: %v", err)
	}
	list, err := x.List()
	if err != nil || len(list) == 0 || len(list) > 3 {
		t.Fatalf("%d files after a cancelled add, %v", len(list), err)
	}
	expect(t, add(t, x, docs), fmt.Sprintf("+%d ~0 -0 =%d", 6-len(list), len(list)))
	if left, _ := filepath.Glob(filepath.Join(dir, "gen-*")); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}

func TestDamagedIndex(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(docs, "a.txt"), "walnut")
	x := open(t, dir)
	add(t, x, docs)
	x.Close()
	gen, _ := readCurrent(dir)
	writeFile(t, filepath.Join(dir, currentName), "gen-v0-000000001\n")
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrOtherVersion) || !strings.Contains(err.Error(), dir) {
		t.Errorf("another version: %v", err)
	}
	for name, break_ := range map[string]func(){
		"damaged": func() { writeFile(t, filepath.Join(dir, currentName), "../../etc\n") },
		"index ":  func() { writeFile(t, filepath.Join(dir, gen, "index_meta.json"), "{") },
	} {
		writeFile(t, filepath.Join(dir, currentName), gen+"\n")
		break_()
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "index rebuild") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
