package search

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const sep = string(filepath.Separator)

// checkReadable returns an error for a link that leads back to itself, and for a folder that this user may not read.
func checkReadable(path string) error {
	if _, err := filepath.EvalSymlinks(path); err != nil && strings.HasSuffix(err.Error(), "too many links") {
		return fmt.Errorf("%s: a link that leads back to itself: remove it, or name what it should lead to", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s cannot be read: let this user read it: %w", path, fs.ErrPermission)
		}
		f.Close()
	}
	return nil
}

// PossiblePaths returns the paths under which the index may keep what a user calls path: as it is given, with its links
// followed, and with accents as a file system may have them.
func PossiblePaths(path string) ([]string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	out := []string{abs, resolveLinks(abs)}
	for _, name := range out[:2] {
		out = append(out, norm.NFC.String(name), norm.NFD.String(name))
	}
	return out, nil
}

// resolveLinks returns an absolute path with the links followed, as far as it exists.
func resolveLinks(abs string) string {
	dir, below := abs, ""
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, below)
		}
		if dir == filepath.Dir(dir) {
			return abs
		}
		dir, below = filepath.Dir(dir), filepath.Join(filepath.Base(dir), below)
	}
}

// Within reports whether path, as the index keeps it, is dir or below it.
func Within(path, dir string) bool { return within(path, dir, sep) }

// within is Within for paths with another separator.
func within(path, dir, sep string) bool {
	above := strings.TrimSuffix(dir, sep)
	return path == dir || strings.HasPrefix(path, above) && strings.HasPrefix(path[len(above):], sep) || dir == "."
}

// reaches reports whether a walk of dir visits path: it is dir or below it, and nothing between them is skipped.
func reaches(dir, path, sep string) bool {
	below := strings.TrimPrefix(path, strings.TrimSuffix(dir, sep))
	return within(path, dir, sep) && !strings.Contains(below, sep+".") &&
		!slices.ContainsFunc(packages, func(folder string) bool { return strings.Contains(below+sep, sep+folder+sep) })
}

// pathSet is a set of files and folders, without separators at their ends.
type pathSet map[string]bool

// covers reports whether path or a folder above it is in the set.
func (s pathSet) covers(path, sep string) bool {
	for p := range ancestors(path, sep) {
		if s[p] {
			return true
		}
	}
	return s["."]
}

// ancestors yields a path and the folders above it, from the deepest up. The topmost of an absolute path is "".
func ancestors(path, sep string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(path) {
			at := strings.LastIndex(path, sep)
			if at < 0 {
				return
			}
			path = path[:at]
		}
	}
}
