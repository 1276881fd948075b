package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/retrieval/documents"
)

// tree is a file or folder to index.
type tree struct {
	fsys   fs.FS
	start  string                   // its name in fsys
	source func(name string) string // the source that the index records for a name
	ignore *ignored                 // what is left out; nil for nothing
}

// file is a file of a type that can be read.
type file struct {
	source   string
	size     int64
	modified time.Time
	read     func() ([]byte, error)
}

// visitor receives what a walk finds. Each name causes exactly one call.
type visitor struct {
	file func(file) error
	skip func(source string, kind Kind, reason string)
	// lost is called if source cannot be read: files at or below it may still exist.
	lost func(source string, err error)
}

// walk visits the files of t in lexical order. It does not follow symbolic links, so it cannot loop or leave the folder. It
// skips hidden files, what is to be left out, files of unknown types, and what a package manager writes: a folder with code has
// thousands of such files, which say nothing that somebody asks.
func (t tree) walk(ctx context.Context, v visitor) error {
	if !utf8.ValidString(t.start) {
		return errors.New(notUTF8)
	}
	return fs.WalkDir(t.fsys, t.start, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		source := t.source(name)
		switch {
		case !utf8.ValidString(name): // io/fs opens no such file
			v.skip(source, Unreadable, notUTF8)
			return passOver(d)
		case err != nil:
			if name == t.start && d == nil && errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", source, cause(err))
			}
			v.lost(source, err)
			return nil
		case name != t.start && d.Name() == IgnoreName && t.ignore != nil:
			return nil
		case name != t.start && strings.HasPrefix(d.Name(), "."):
			v.skip(source, Hidden, "hidden")
			return passOver(d)
		case t.leavesOut(name, d, v):
			return passOver(d)
		case name != t.start && d.IsDir() && slices.Contains(packages, d.Name()):
			v.skip(source, Special, writtenByManager)
			return fs.SkipDir
		case d.IsDir():
			return nil
		case slices.Contains(lockFiles, d.Name()):
			v.skip(source, Special, writtenByManager)
			return nil
		case strings.HasPrefix(d.Name(), "~$"):
			v.skip(source, Special, "kept by an office program while a document is open")
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			v.skip(source, Special, "symbolic link (not followed)")
			return nil
		case !d.Type().IsRegular():
			v.skip(source, Special, special(d.Type())+", not a file with text")
			return nil
		}
		return t.visit(name, d, v)
	})
}

// passOver makes a walk go on behind a file, or behind a folder with everything below it.
func passOver(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// leavesOut reports whether a file or folder is left out, and tells v. A folder whose rules cannot be read is left out, too: they
// may be there to hide something.
func (t tree) leavesOut(name string, d fs.DirEntry, v visitor) bool {
	if t.ignore == nil {
		return false
	}
	source, is, line := t.source(name), t.ignore.by, ""
	if name == t.start {
		is = t.ignore.above
	}
	line, err := is(source, d.IsDir())
	if err == nil && line == "" && d.IsDir() {
		_, err = t.ignore.rules(source)
	}
	switch {
	case err != nil:
		v.lost(source, err)
	case line != "":
		v.skip(source, Excluded, "left out by "+line)
	}
	return err != nil || line != ""
}

// packages are folders in which package managers keep what a program needs; lockFiles say which versions these are.
var (
	packages  = []string{"node_modules", "site-packages"}
	lockFiles = []string{"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"}
)

const writtenByManager = "written by a package manager"

// visit visits a regular file.
func (t tree) visit(name string, d fs.DirEntry, v visitor) error {
	source := t.source(name)
	limit, err := documents.Limit(name)
	if err != nil {
		v.skip(source, Unsupported, err.Error())
		return nil
	}
	info, err := d.Info()
	if err != nil {
		v.lost(source, err)
		return nil
	}
	if info.Size() > limit {
		v.skip(source, TooLarge, fmt.Sprintf("too large: %.1f MB, and at most %.1f MB are read of this type: split it", megabytes(info.Size()), megabytes(limit)))
		return nil
	}
	return v.file(file{source, info.Size(), info.ModTime(), func() ([]byte, error) {
		return readBounded(t.fsys, name, limit)
	}})
}

// notUTF8 is the reason for a file whose name is no text.
const notUTF8 = "its name is not UTF-8: rename it"

// special names what is neither a file nor a folder nor a link.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

var errTooLarge = errors.New("too large")

// readBounded reads a file of at most limit bytes. The file may have grown since its size was read.
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
