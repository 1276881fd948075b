package search

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// statlessFS tells nothing of its root, as a folder of someone else does.
type statlessFS struct{ fstest.MapFS }

func (f statlessFS) Stat(name string) (fs.FileInfo, error) {
	if name == "notes" {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.Stat(name)
}

// A folder that may not even be looked at ends no update: it is reported, and its passages stay. One that does not
// exist is an error that names it.
func TestUnreadableRoot(t *testing.T) {
	files := fstest.MapFS{"notes/one.txt": {Data: []byte("walnut")}}
	x := memoryOf(t, files)
	r, err := x.AddFS(t.Context(), statlessFS{files}, "notes")
	if err != nil || r.Removed > 0 || len(r.Skipped) != 1 || r.Skipped[0] != (Skip{"notes", Unreadable, "unreadable (permission denied); passages it had are kept"}) {
		t.Errorf("%+v, %v", r, err)
	}
	finds(t, x, "walnut", "one.txt")
	if _, err := x.AddFS(t.Context(), files, "gone"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "write index: gone: file does not exist" {
		t.Error(err)
	}
}

// A folder is no office program's lock file, whatever its name is: what it holds is indexed, and nothing is reported.
func TestFolderNamedAsLockFile(t *testing.T) {
	x := memoryOf(t, fstest.MapFS{})
	r, err := x.AddFS(t.Context(), fstest.MapFS{"~$notes/one.txt": {Data: []byte("walnut")}}, ".")
	if err != nil || r.Added != 1 || len(r.Skipped) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
