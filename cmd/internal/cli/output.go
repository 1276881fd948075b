package cli

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Output says what is at path, which the user named for a command to write to; nil when nothing is there yet. What
// cannot be written to is an error: a command can ask before the work whose result goes there.
func Output(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		switch mode := info.Mode(); {
		case mode.IsRegular(), mode&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
			return info, nil
		case mode.IsDir():
			return nil, fmt.Errorf("%s is a folder: name a file", path)
		case mode&fs.ModeSocket != 0:
			return nil, fmt.Errorf("%s is a socket: name a file", path)
		}
		return nil, fmt.Errorf("%s is a disk or another device: name a file", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if to, e := os.Readlink(path); e == nil {
		return nil, fmt.Errorf("%s is a link to %s, which is not there: remove the link or name another file", path, to)
	}
	if dir := filepath.Dir(path); !exists(dir) {
		return nil, fmt.Errorf("%s: there is no folder %s: make it first, or name another", path, dir)
	}
	return nil, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// WriteOutput writes data to the file at path, which the user named. A regular file, or the one that a link leads
// to, is replaced in one step and gets no more than the permissions perm; pipes and terminals are written to. No
// folder is made.
func (a *App) WriteOutput(path string, data []byte, perm fs.FileMode) error {
	info, err := Output(path)
	switch {
	case err != nil:
		return err
	case info == nil:
		return replace(path, data, perm)
	case isStdout(info): // /dev/stdout, say: what was printed before stays
		_, err = a.Out.Write(data)
		return err
	case info.Mode().IsRegular():
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		return replace(path, data, perm&info.Mode().Perm())
	}
	done := make(chan error, 1)
	go func() { done <- writeInto(path, data) }() // opening a pipe waits for its reader
	select {
	case err = <-done:
		return err
	case <-a.Done():
		return a.Err()
	}
}

func isStdout(info fs.FileInfo) bool {
	out, err := os.Stdout.Stat()
	return err == nil && os.SameFile(info, out)
}

func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// replace puts a file with data at path in one step.
func replace(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), ".new-"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// JSONTo prints v as JSON, or writes it to the file that is named.
func (a *App) JSONTo(path string, v any) error {
	if path == "" {
		return a.JSON(v)
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.WriteOutput(path, append(data, '\n'), 0o644)
}

// RowsFile checks the file that a command writes its rows to with --json; none, when path is empty.
func (a *App) RowsFile(path string) error {
	switch {
	case path == "":
		return nil
	case !a.Globals.JSON:
		return fmt.Errorf("%s: a file for the rows needs --json before it", path)
	}
	_, err := Output(path)
	return err
}
