package indexcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/retrieval/search"
)

// An unreadable folder is named, and the error of a full disk says what to do.
func TestIndexErrors(t *testing.T) {
	a, _, _ := clitest.App(t)
	dirs, _ := a.Dirs()
	err := fullDisk(a, errors.New("segment: 4.zap persist err: "+syscall.ENOSPC.Error()))
	if err == nil || !strings.Contains(err.Error(), "make room") || !strings.Contains(err.Error(), dirs.Data) {
		t.Errorf("a full disk: %v", err)
	}
	for _, path := range []string{filepath.Join(dirs.Data, "index", "lock"), filepath.Dir(dirs.Data)} {
		err := fullDisk(a, fmt.Errorf("write index: %w", &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}))
		if !strings.Contains(err.Error(), "set XDG_DATA_HOME to a folder where it can") || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s may not be written: %v", path, err)
		}
	}
	if other := error(&fs.PathError{Op: "open", Path: filepath.Join(t.TempDir(), "a.md"), Err: syscall.EACCES}); fullDisk(a, other) != other {
		t.Error("fullDisk changes the error about a document")
	}
	if other := errors.New("other"); fullDisk(a, nil) != nil || fullDisk(a, other) != other {
		t.Error("fullDisk changes other errors")
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(closed); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	if _, err := ReadFolder(a, closed, PassageFlags{}, ExcludeFlag{}); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("--notes: %v", err)
	}
	if err := (&addCmd{Paths: []string{closed}}).Run(a); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("index add: %v", err)
	}
}

// An index of another version cannot be opened, and the error names the command that makes it again as this program has it.
func TestIndexOfAnotherVersion(t *testing.T) {
	a, _, _ := clitest.App(t)
	dir, err := indexDir(a)
	if err != nil {
		t.Fatal(err)
	}
	clitest.Write(t, dir, "current", "gen-v2-1-00000000\n")
	want := "another version: " + a.Program + " index rebuild makes it again from the files"
	for name, open := range map[string]func(*cli.App, PassageFlags) (*search.Index, error){"Open": Open, "OpenWritable": OpenWritable} {
		if _, err := open(a, PassageFlags{}); !errors.Is(err, search.ErrOtherVersion) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// Removing what was uploaded from the index deletes it, and other files stay.
func TestIndexRemoveUploads(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir, err := UploadsDir(a)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own.md")
	for _, path := range []string{filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md"), own} {
		if err := cli.WriteFile(path, []byte("A walnut.")); err != nil {
			t.Fatal(err)
		}
		if err := (&addCmd{Paths: []string{path}}).Run(a); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "a.md"), own, dir} {
		out.Reset()
		if err := (&removeCmd{Paths: []string{path}}).Run(a); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(path)
		if path != dir && (path == own) != (err == nil) || (path == own) == strings.Contains(out.String(), "1 uploaded file deleted") {
			t.Errorf("%s: %v, %s", path, err, out)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// Of several files to remove, those that the index has are removed, and the others are named.
func TestIndexRemoveUnknown(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		paths = append(paths, filepath.Join(dir, name))
		if err := cli.WriteFile(paths[len(paths)-1], []byte("A walnut.")); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&addCmd{Paths: paths}).Run(a); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	no, nor := filepath.Join(dir, "no.md"), filepath.Join(dir, "nor.md")
	err := (&removeCmd{Paths: []string{paths[0], no, paths[1], nor}}).Run(a)
	if want := no + ", " + nor + ": not in the index: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	defer func() {
		out.Reset()
		a.Globals.JSON = true
		err := (&removeCmd{Paths: []string{paths[2], no}}).Run(a)
		var r reportJSON
		if e := json.Unmarshal(out.Bytes(), &r); e != nil || err == nil || r.Removed != 1 || len(r.NotIndexed) != 1 || r.NotIndexed[0] != no {
			t.Errorf("%s: %v, %v", out, e, err)
		}
	}()
	if !strings.HasPrefix(out.String(), "0 added, 0 updated, 2 removed,") || !strings.Contains(out.String(), "1 passage in the index") {
		t.Errorf("%s", out)
	}
}

// What the index does not have is named together with the files and folders of that name that it has, three at most.
func TestIndexRemoveElsewhere(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/notes/x.md", "b/notes", "c/x.md", "d/x.md", "e/x.md", "f/other-notes"} {
		if err := cli.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("A walnut.")); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&addCmd{Paths: []string{dir}}).Run(a); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for name, want := range map[string][]string{
		"here/notes": {"a/notes", "b/notes"}, "here/x.md": {"a/notes/x.md", "c/x.md", "d/x.md"}, "here/none": nil, "here/es": nil,
	} {
		out.Reset()
		err := (&removeCmd{Paths: []string{at(name)}}).Run(a)
		if err == nil || !strings.HasPrefix(err.Error(), at(name)+": not in the index: ") || strings.Contains(err.Error(), "meant") != (want != nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		shown := 0
		for _, other := range []string{"a/notes", "b/notes", "a/notes/x.md", "c/x.md", "d/x.md", "e/x.md", "f/other-notes"} {
			if strings.Contains(err.Error(), " "+at(other)+",") || strings.Contains(err.Error(), " "+at(other)+";") {
				shown++
			}
		}
		for _, path := range want {
			if !strings.Contains(err.Error(), at(path)) {
				t.Errorf("%s: %v, want %s", name, err, path)
			}
		}
		if shown != len(want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// Files that were named are listed one by one if they are skipped, however many they are.
func TestIndexAddNamesEach(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir := t.TempDir()
	var paths []string
	for i := range 2 * fewSkipped {
		path := filepath.Join(dir, fmt.Sprintf("%d.jpg", i))
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	err := (&addCmd{Paths: paths}).Run(a)
	for _, path := range paths {
		if !strings.Contains(out.String(), "skipped "+path+": unsupported type") {
			t.Errorf("%s is not listed in\n%s", path, out)
		}
	}
	if err == nil || err.Error() != "nothing was indexed of 10 files and folders: all of it was skipped" {
		t.Errorf("%v", err)
	}
}

// Adding what does not exist, or what is skipped entirely, is an error that says so.
func TestIndexAddNothing(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	binary, text := write("a.txt", "a\x00b"), write("b.txt", "The key is in the tin.")
	err := (&addCmd{Paths: []string{binary, text}}).Run(a)
	if err == nil || !strings.Contains(err.Error(), binary) || strings.Contains(err.Error(), text) || !strings.Contains(out.String(), "NUL bytes") || !strings.Contains(out.String(), "1 added") {
		t.Errorf("a binary file and a text: %v, %s", err, out)
	}
	if err := (&addCmd{Paths: []string{text}}).Run(a); err != nil {
		t.Errorf("a text that is indexed: %v", err)
	}
	nope := filepath.Join(dir, "nope")
	if err := (&addCmd{Paths: []string{nope}}).Run(a); err == nil || !strings.HasPrefix(err.Error(), nope+": no such file or folder") {
		t.Errorf("nothing there: %v", err)
	}
}

func TestProgressLine(t *testing.T) {
	for want, c := range map[string]struct {
		p     search.Progress
		spent time.Duration
	}{
		"indexing: 1 of 4 files, 10.0 MB of 40.0 MB, about 30s left: a.txt": {search.Progress{Path: "x/a.txt", Done: 1, Files: 4, Bytes: 10e6, TotalBytes: 40e6}, 10 * time.Second},
		"indexing: 4 of 4 files, 40.0 MB of 40.0 MB: a.txt":                 {search.Progress{Path: "a.txt", Done: 4, Files: 4, Bytes: 40e6, TotalBytes: 40e6}, time.Second},
		"indexing: 1 of 1 file, 0 B of 0 B: a.txt":                          {search.Progress{Path: "a.txt", Done: 1, Files: 1}, time.Second},
		"indexing: 5 of 8 files, 376 B of 3.5 kB: a.pdf":                    {search.Progress{Path: "a.pdf", Done: 5, Files: 8, Bytes: 376, TotalBytes: 3500}, 10 * time.Second},
		"indexing: 1 of 2 files, 0 B of 5 B: a.txt":                         {search.Progress{Path: "a.txt", Done: 1, Files: 2, TotalBytes: 5}, time.Second},
	} {
		if got := progressLine("indexing", c.p, c.spent); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Few skipped files are listed; many are summed up by kind, and those that may surprise are named.
func TestSkippedAreSummedUp(t *testing.T) {
	list := []skipJSON{{"a.png", search.Unsupported, "unsupported type .png"}, {"b.PNG", search.Unsupported, "unsupported type .png"}, {"c", search.Unsupported, "unsupported type"},
		{".git", search.Hidden, "hidden"}, {"big.txt", search.TooLarge, "too large: 9 bytes"}}
	a, out, _ := clitest.App(t)
	show := func(list []skipJSON, every bool) {
		t.Helper()
		out.Reset()
		if err := (reportJSON{Skipped: list}).print(a, every); err != nil {
			t.Error(err)
		}
	}
	show(list, false)
	if n := strings.Count(out.String(), "skipped "); n != 5 || !strings.Contains(out.String(), "skipped .git: hidden\n") {
		t.Errorf("few: %s", out)
	}
	show(append(list, skipJSON{"x\x1b.pdf", search.Unusable, "damaged PDF"}), false)
	const want = "skipped 3: unsupported (.png 2, no extension 1)\nskipped 1: hidden\nskipped 1: too large\n  big.txt: too large: 9 bytes\n" +
		"skipped 1: unusable\n  x\\x1b.pdf: damaged PDF\n(--skipped lists every file)\n0 added, 0 updated, 0 removed, 0 unchanged, 6 skipped; 0 passages in the index\n"
	if out.String() != want {
		t.Errorf("many: %s", out)
	}
	link := skipJSON{"link", search.Special, "symbolic link (not followed)"}
	show(append(list, link, skipJSON{"pipe", search.Special, "a named pipe, not a file with text"}, link), false)
	if !strings.Contains(out.String(), "skipped 3: a named pipe, not a file with text; symbolic link (not followed)\n") {
		t.Errorf("special files: %s", out)
	}
	show(append(list, list...), true)
	if n := strings.Count(out.String(), "skipped "); n != 10 {
		t.Errorf("every: %s", out)
	}
}

// A file of the index shows its passages and its size in bytes.
func TestIndexShowJSON(t *testing.T) {
	a, out, _ := clitest.App(t)
	path := filepath.Join(t.TempDir(), "boat.md")
	if err := os.WriteFile(path, []byte("The berth is C17."), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&addCmd{Paths: []string{path}}).Run(a); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	a.Globals.JSON = true
	if err := (&showCmd{Path: path}).Run(a); err != nil {
		t.Fatal(err)
	}
	var said struct {
		Bytes    int
		Passages []struct{ Text string }
	}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil || said.Bytes != 17 || len(said.Passages) != 1 || said.Passages[0].Text != "The berth is C17." {
		t.Errorf("%v, %s", err, out)
	}
}

// Names and titles of files cannot control the terminal.
func TestIndexListIsPlain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names")
	}
	a, out, _ := clitest.App(t)
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "a\x1b[2J\nb.md"), []byte("# The \x1b[31mboat\n\nThe berth of the Marigold is C17.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&addCmd{Paths: []string{docs}}).Run(a); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := (&listCmd{}).Run(a); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b") || strings.Count(text, "\n") != 3 || !strings.Contains(text, `a\x1b[2J\nb.md`) {
		t.Errorf("%q", text)
	}
}

// Many skipped files of a folder are counted, and what is to be left out is not read.
func TestReadFolderCountsSkipped(t *testing.T) {
	a, _, aside := clitest.App(t)
	dir := t.TempDir()
	clitest.Write(t, dir, "a.md", "A walnut.")
	for i := range fewSkipped + 1 {
		clitest.Write(t, dir, fmt.Sprintf("%d.jpg", i), "x")
	}
	clitest.Write(t, dir, "b.log", "A hazel.")
	x, err := ReadFolder(a, dir, PassageFlags{}, ExcludeFlag{Exclude: []string{"*.log"}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if want := "skipped 6 files and folders of " + dir + " (--log-level info lists them)\n"; aside.String() != want {
		t.Errorf("%q, want %q", aside, want)
	}
	if files, err := x.List(); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
