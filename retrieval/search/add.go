package search

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	defaultBatch      = 1 << 20  // bytes of text in a batch, which is held in memory
	defaultCheckpoint = 16 << 20 // bytes of text after which a long write publishes what it has so far
)

// Add indexes a file, or a folder with everything below it, and remembers it for Refresh. It does not read files that have
// not changed since they were indexed, and removes the passages of files that are gone. The passages of a file that cannot
// be read stay. If ctx ends, the index keeps the files that were finished, and another Add continues from there. If a write
// fails, the index stays as it was, or as it was at the last checkpoint of a long Add. progress may be nil.
func (x *Index) Add(ctx context.Context, path string, progress func(Progress)) (Report, error) {
	return writeFunc(x.write).add(ctx, path, progress)
}

// addRoot adds what is at a path that rootPath returned.
func (u *update) addRoot(ctx context.Context, abs string, progress func(Progress)) error {
	before, now := u.roots, u.roots.add(abs, sep)
	info, err := os.Stat(abs)
	if err == nil && info.IsDir() && u.exclude != nil {
		if now, err = now.excluding(abs, u.exclude); err != nil {
			return err
		}
	}
	if err := u.setRoots(now); err != nil {
		return err
	}
	if err := u.addTree(ctx, u.osTree(abs), abs, sep, progress); err != nil {
		return err
	}
	if err == nil && !info.IsDir() && !u.hasPassages(abs) { // a file that was refused is not visited again
		return u.setRoots(before)
	}
	return nil
}

// rootPath returns the path under which the index keeps what is at path.
func (u *update) rootPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	real := abs
	if err == nil {
		real, err = filepath.EvalSymlinks(abs)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("add to index: %w", err)
	case slices.Contains(u.roots.Roots, abs): // it was moved and a link left in its place
		return abs, nil
	case !utf8.ValidString(real): // records are text
		return "", fmt.Errorf("add to index: the path %q is not UTF-8: rename the part that is not", real)
	}
	return real, nil
}

// hasPassages reports whether there are passages of a file, or of one below a folder.
func (u *update) hasPassages(path string) bool {
	for _, r := range u.files {
		if len(r.Passages) > 0 && within(r.Path, path, sep) {
			return true
		}
	}
	return false
}

// indexedPaths returns the files that have passages, and all folders above them.
func (u *update) indexedPaths(sep string) pathSet {
	out := pathSet{}
	for _, r := range u.files {
		if len(r.Passages) == 0 {
			continue
		}
		for path := range ancestors(r.Path, sep) {
			if out[path] {
				break // and so are those above it
			}
			out[path] = true
		}
		out["."] = true
	}
	return out
}

// AddFS indexes the file or folder called root in fsys. The passages' sources are names in fsys. It is for corpora that
// ship with the program; Refresh does not visit them.
func (x *Index) AddFS(ctx context.Context, fsys fs.FS, root string) (Report, error) {
	return x.write(ctx, func(u *update) error { return u.addFS(ctx, fsys, root) })
}

func (u *update) addFS(ctx context.Context, fsys fs.FS, root string) error {
	root = path.Clean(root)
	return u.addTree(ctx, tree{fsys, root, func(name string) string { return name }, nil}, root, "/", nil)
}

// Refresh visits again everything that was added. It reports a file or folder that is gone but keeps its passages, since
// it may be on a disk that is not mounted. Remove drops them.
func (x *Index) Refresh(ctx context.Context, progress func(Progress)) (Report, error) {
	return x.write(ctx, func(u *update) error { return u.refresh(ctx, progress) })
}

func (u *update) refresh(ctx context.Context, progress func(Progress)) error {
	return u.addRoots(ctx, func(root string) string {
		if u.hasPassages(root) {
			return "; its passages are kept: index remove drops them"
		}
		return ""
	}, progress)
}

// addRoots visits everything that was added. It reports a root that is gone, with the advice of adviceIfGone.
func (u *update) addRoots(ctx context.Context, adviceIfGone func(root string) string, progress func(Progress)) error {
	for _, root := range u.roots.Roots {
		if _, err := os.Lstat(root); err != nil {
			u.skip(root, Unreadable, fmt.Sprintf("not accessible (%v)%s", cause(err), adviceIfGone(root)))
			continue
		}
		if err := u.addTree(ctx, u.osTree(root), root, sep, progress); err != nil {
			return err
		}
	}
	return nil
}

// osTree is the file or folder at root, whose sources are paths of the system.
func (u *update) osTree(root string) tree {
	dir, base := filepath.Split(root)
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		dir, base = root, "."
	}
	return tree{os.DirFS(dir), base, func(name string) string {
		return filepath.Join(dir, filepath.FromSlash(name))
	}, u.ignoredIn(root)}
}

// addTree updates the records at or below root to the files of t.
func (u *update) addTree(ctx context.Context, t tree, root, sep string, progress func(Progress)) error {
	present, lost := make(map[string]bool), pathSet{}
	indexed := sync.OnceValue(func() pathSet { return u.indexedPaths(sep) })
	var p Progress
	if progress != nil {
		var err error
		if p.Files, p.TotalBytes, err = u.count(ctx, t, root, sep); err != nil {
			return err
		}
	}
	err := t.walk(ctx, visitor{
		skip: func(source string, kind Kind, reason string) {
			if !u.roots.ownsBelow(root, source, sep) { // else it was added by itself
				u.skip(source, kind, reason)
			}
		},
		lost: func(source string, err error) {
			name := strings.TrimSuffix(source, sep)
			lost[name] = true
			u.skip(source, Unreadable, unreadable(err, indexed()[name]))
		},
		file: func(f file) error {
			switch {
			case u.roots.ownsBelow(root, f.source, sep):
				return nil
			case u.roots.excludes(root, f.source, sep):
				u.skip(f.source, Excluded, "removed by hand (add it to index it again)")
				return nil
			}
			present[f.source] = true
			if err := u.addFile(ctx, f); err != nil {
				return err
			}
			p.Path, p.Done, p.Bytes = f.source, p.Done+1, p.Bytes+f.size
			if progress != nil {
				progress(p)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	return u.dropAll(func(path string) bool {
		return within(path, root, sep) && !present[path] && !lost.covers(path, sep) && !u.roots.ownsBelow(root, path, sep)
	})
}

// dropAll drops the files at the paths for which gone is true, in order.
func (u *update) dropAll(gone func(path string) bool) error {
	var paths []string
	for path := range u.files {
		if gone(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := u.drop(u.files[path]); err != nil {
			return err
		}
	}
	return nil
}

// skip notes that a file or folder was not indexed.
func (u *update) skip(source string, kind Kind, reason string) {
	u.report.Skipped = append(u.report.Skipped, Skip{source, kind, reason})
}

// count returns how many files a walk will visit, and their bytes.
func (u *update) count(ctx context.Context, t tree, root, sep string) (files int, bytes int64, err error) {
	err = t.walk(ctx, visitor{
		skip: func(string, Kind, string) {},
		lost: func(string, error) {},
		file: func(f file) error {
			if !u.roots.ownsBelow(root, f.source, sep) && !u.roots.excludes(root, f.source, sep) {
				files, bytes = files+1, bytes+f.size
			}
			return nil
		},
	})
	return files, bytes, err
}
