package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Discard removes from the cache the file that a link points to, and says how many bytes that frees. A link to
// something that is in no cache, or to nothing, is no error: there is nothing to do.
func Discard(link string) (freed int64, err error) {
	blob, err := filepath.EvalSymlinks(link)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		return 0, err
	}
	blobs := filepath.Dir(blob)
	repo := filepath.Dir(blobs)
	if filepath.Base(blobs) != "blobs" || !strings.HasPrefix(filepath.Base(repo), "models--") {
		return 0, nil
	}
	info, err := os.Stat(blob)
	if err != nil {
		return 0, err
	}
	// First the snapshots' links, so that none is ever there without its blob.
	err = filepath.WalkDir(filepath.Join(repo, "snapshots"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !same(path, blob) {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		for dir := filepath.Dir(path); filepath.Base(dir) != "snapshots" && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := os.Remove(blob); err != nil {
		return 0, err
	}
	if left, err := os.ReadDir(blobs); err == nil && len(left) == 0 {
		err = os.RemoveAll(repo) // only names of branches are left
		return info.Size(), err
	}
	return info.Size(), nil
}
