// Package atomicfile replaces files in one step: readers see the old contents or the new ones, also after a full disk, a killed
// writer or a loss of power.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Unfinished begins the names of files that are not finished. Whoever alone writes to a folder may remove them at once.
const Unfinished = ".new-"

// Write puts a file with data at path, in a folder that exists. The file gets the permissions perm, less those that the process
// masks. After an error, what was at path is still there.
func Write(path string, data []byte, perm fs.FileMode) error {
	return WriteFunc(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFunc is Write with what fill writes as data, for files that need not fit into memory.
func WriteFunc(path string, perm fs.FileMode, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	f, err := os.OpenFile(filepath.Join(dir, Unfinished+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if d, err := os.Open(dir); err == nil { // the new name survives, if the system can do that
		d.Sync()
		d.Close()
	}
	return nil
}

// Sweep removes the files that writers left in dir when they were killed an hour ago or earlier.
func Sweep(dir string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), Unfinished) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
