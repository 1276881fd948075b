package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"tandem/retrieval/documents"
)

// tree is a file or folder to be read: names inside fsys, and what a name is called in the index.
type tree struct {
	fsys  fs.FS
	start string                   // name in fsys of the file or folder
	named func(name string) string // source of a name
}

// file is one that the walk found worth reading.
type file struct {
	source   string
	size     int64
	modified time.Time
	read     func() ([]byte, error)
}

// visitor is told what a walk finds. Every name is told of exactly once, as a file or as skipped.
type visitor struct {
	file func(file) error
	skip func(source, reason string)
	// lost says that what lies at or below source could not be looked at: it may still be there.
	lost func(source string, err error)
}

// walk visits the files of t in lexical order. Symbolic links are not followed, so that no loop and no
// link leads out of the folder; hidden files, and what no parser reads, are skipped.
func (t tree) walk(ctx context.Context, v visitor) error {
	return fs.WalkDir(t.fsys, t.start, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		source := t.named(name)
		switch {
		case err != nil:
			if name == t.start && d == nil {
				return err
			}
			v.lost(source, err)
			return nil
		case name != t.start && strings.HasPrefix(d.Name(), "."):
			v.skip(source, "hidden")
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			v.skip(source, "symbolic link (not followed)")
			return nil
		case !d.Type().IsRegular():
			v.skip(source, "not a regular file")
			return nil
		}
		limit, err := documents.Limit(name)
		if err != nil {
			v.skip(source, err.Error())
			return nil
		}
		info, err := d.Info()
		if err != nil {
			v.lost(source, err)
			return nil
		}
		if info.Size() > limit {
			v.skip(source, fmt.Sprintf("too large: %d bytes, at most %d", info.Size(), limit))
			return nil
		}
		return v.file(file{source, info.Size(), info.ModTime(), func() ([]byte, error) {
			return readBounded(t.fsys, name, limit)
		}})
	})
}

var errTooLarge = errors.New("too large")

// readBounded reads a file that may have grown since it was looked at.
func readBounded(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, err
}
