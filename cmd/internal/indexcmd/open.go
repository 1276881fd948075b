package indexcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/search"
)

// indexDir returns the folder of the program's own index.
func indexDir(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "index"), err
}

// Exists reports whether anything was ever indexed. Where the folders are unknown, so is that: samples must not answer in
// the place of documents that are there.
func Exists(a *cli.App) (bool, error) {
	dir, err := indexDir(a)
	if err != nil {
		return false, fmt.Errorf("the index cannot be found: %w", err)
	}
	return search.Exists(dir), nil
}

// Open opens the program's own index, which "index add" made, for reading. It returns nil if nothing was ever indexed. The index
// may be empty, if everything was removed from it. Of cut it takes what concerns searching alone.
func Open(a *cli.App, cut PassageFlags) (*search.Index, error) {
	if has, err := Exists(a); !has {
		return nil, err
	}
	dir, err := indexDir(a)
	if err != nil {
		return nil, err
	}
	return open(a, dir, search.Options{ReadOnly: true, Related: cut.Related, Rerank: cut.Rerank})
}

// OpenWritable opens the program's own index for writing. It makes the index on first use.
func OpenWritable(a *cli.App, cut PassageFlags) (*search.Index, error) {
	dir, err := indexDir(a)
	if err != nil {
		return nil, err
	}
	if err := cli.MakePrivateDir(dir); err != nil {
		return nil, err
	}
	return open(a, dir, cut.options())
}

// open opens the index in dir. If another version made it, the error says what to do.
func open(a *cli.App, dir string, opt search.Options) (*search.Index, error) {
	x, err := search.Open(dir, opt)
	if errors.Is(err, search.ErrOtherVersion) {
		err = fmt.Errorf("%w: %s index rebuild makes it again from the files", err, a.Program)
	}
	return x, err
}

// UploadsDir returns the folder of files that were uploaded to a server.
func UploadsDir(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "uploads"), err
}

// fullDisk adds to an error about a disk that is full, or may not be written, what to do. Of the first it looks at the text,
// because bleve does not wrap the error.
func fullDisk(a *cli.App, err error) error {
	dirs, _ := a.Dirs()
	var at *fs.PathError
	switch denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS); {
	case err == nil:
		return nil
	case denied && errors.As(err, &at) && (within(at.Path, dirs.Data) || within(dirs.Data, at.Path)): // a folder above it may be missing
		return fmt.Errorf("%s cannot be written: let this user write there, or set XDG_DATA_HOME to a folder where it can: %w", dirs.Data, err)
	case !strings.Contains(err.Error(), syscall.ENOSPC.Error()):
		return err
	}
	return fmt.Errorf("the disk of %s is full: make room, or set XDG_DATA_HOME to a folder on another disk: %w", dirs.Data, err)
}
