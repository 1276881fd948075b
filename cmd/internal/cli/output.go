package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"tandem/internal/atomicfile"
)

// CheckOutput checks that a command can write to path, which the user named. It returns what is there, or nil if nothing is.
// Commands call it before the work whose result goes there.
func CheckOutput(path string) (fs.FileInfo, error) {
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
		return nil, fmt.Errorf("%s is a link to %s, which does not exist: remove the link or name another file", path, to)
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

// WriteOutput writes data to path, which the user named. It replaces a regular file, or the file that a link leads to, in
// one step, with at most the permissions perm. It writes into pipes and terminals. It does not make folders.
func (a *App) WriteOutput(path string, data []byte, perm fs.FileMode) (err error) {
	defer func() { err = needsRoom(mayNotWrite(err)) }() // a chat goes on after the error
	info, err := CheckOutput(path)
	switch {
	case err != nil:
		return err
	case info == nil:
		return replace(path, data, perm)
	case isStdout(info): // such as /dev/stdout: keep what was printed before
		_, err = a.Out.Write(data)
		return err
	case info.Mode().IsRegular():
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		return replace(path, data, perm&info.Mode().Perm())
	}
	done := make(chan error, 1)
	go func() { done <- writeInto(path, data) }() // opening a pipe waits until somebody reads it
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
	if err := atomicfile.Write(path, data, perm); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// mayNotWrite adds to an error about an output that may not be written what to do.
func mayNotWrite(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: name a file in a folder where you may write", err)
	}
	return err
}

// needsRoom adds to an error about a full disk what to do, unless it says so. The error names the file.
func needsRoom(err error) error {
	if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "make room") {
		return err
	}
	return fmt.Errorf("%w: the disk of that file is full: make room on it", err)
}

// JSONTo prints v as JSON, or writes it to the file at path if path is neither empty nor "-".
func (a *App) JSONTo(path string, v any) error {
	if path == "" || path == "-" {
		return a.JSON(v)
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.WriteOutput(path, append(data, '\n'), 0o644)
}

// CheckJSONFile checks path, the file that a command writes its JSON to, if it is not empty. Such a file needs --json.
func (a *App) CheckJSONFile(path string) error {
	switch {
	case path == "":
		return nil
	case !a.Globals.JSON:
		return fmt.Errorf("%s: a file for the results needs --json before it", path)
	case path == "-":
		return nil
	}
	_, err := CheckOutput(path)
	return err
}
