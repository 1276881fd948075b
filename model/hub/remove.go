package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Discard removes the file that a link points to from the cache, and returns how many bytes that frees. It does nothing
// if the link points to a file outside a cache, or to no file.
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
	// Remove the links first, so that none points to a missing blob.
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
		err = os.RemoveAll(repo) // only the names of revisions are left
		return info.Size(), err
	}
	return info.Size(), nil
}
