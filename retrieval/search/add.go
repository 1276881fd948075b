package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tandem/retrieval/documents"
	"tandem/retrieval/passages"
)

const (
	defaultBatch      = 1 << 20  // bytes of text in a batch, which is held in memory
	defaultCheckpoint = 16 << 20 // bytes of text after which a long write publishes what it has so far
)

// Skip is a file or folder that was not indexed, and why.
type Skip struct {
	Path   string
	Kind   Kind
	Reason string
}

// Kind is a kind of reason for a Skip.
type Kind string

// The kinds.
const (
	Hidden      Kind = "hidden"
	Special     Kind = "special"     // a symbolic link, a device, a lock file of an office program
	Unsupported Kind = "unsupported" // of a type that is not read
	TooLarge    Kind = "too large"
	Unreadable  Kind = "unreadable" // its passages, if it had any, stay
	Unusable    Kind = "unusable"   // damaged, or not what its name says
	NoText      Kind = "no text"
	Excluded    Kind = "excluded" // removed from the index by hand
)

// Report is the outcome of a write.
type Report struct {
	Added, Updated, Removed, Unchanged int    // files
	Passages                           int    // in the index afterwards
	Skipped                            []Skip // in the order of the walk
}

// Progress is what Add and Refresh report after each file of a folder.
type Progress struct {
	Path              string // the file just visited
	Done, Files       int    // files visited so far, and in all
	Bytes, TotalBytes int64  // bytes in these files
}

// Add indexes a file, or a folder with everything below it, and remembers it for Refresh. It does not read files that have
// not changed since they were indexed, and removes the passages of files that are gone. The passages of a file that cannot
// be read stay. If ctx ends, the index keeps the files that were finished, and another Add continues from there. If a write
// fails, the index stays as it was, or as it was at the last checkpoint of a long Add. progress may be nil.
func (x *Index) Add(ctx context.Context, path string, progress func(Progress)) (Report, error) {
	if err := readable(path); err != nil { // before anything is written
		return Report{}, err
	}
	return x.write(ctx, func(u *update) error { return u.add(ctx, path, progress) })
}

// readable returns an error for a link that leads back to itself, and for a folder that this user may not read.
func readable(path string) error {
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

// AddAll is Add for several files and folders in one write, which takes little longer than for a folder with all of
// them. It returns a report for each that it began with. If there is no such file, those before it stay in the index;
// the last report and the error are of that one.
func (x *Index) AddAll(ctx context.Context, paths []string, progress func(Progress)) ([]Report, error) {
	return writing(x.write).addAll(ctx, paths, progress)
}

// RemoveAll is Remove for several files and folders in one write. It returns a report for each that it began with. If
// the index holds nothing of one, those before it are removed; the last report and the error are of that one.
func (x *Index) RemoveAll(ctx context.Context, paths []string) ([]Report, error) {
	return writing(x.write).removeAll(ctx, paths)
}

// writing runs a change as one write.
type writing func(ctx context.Context, change func(*update) error) (Report, error)

func (w writing) addAll(ctx context.Context, paths []string, progress func(Progress)) ([]Report, error) {
	return w.each(ctx, paths, func(u *update, path string) (refused, err error) {
		if refused = readable(path); refused != nil {
			return refused, nil
		}
		at, refused := u.toAdd(path)
		if refused == nil {
			err = u.addAt(ctx, at, progress)
		}
		return refused, err
	})
}

func (w writing) removeAll(ctx context.Context, paths []string) ([]Report, error) {
	return w.each(ctx, paths, func(u *update, path string) (refused, err error) {
		if err = u.remove(path); errors.Is(err, ErrNotIndexed) {
			return err, nil
		}
		return nil, err
	})
}

// each calls change with one path after the other, in one write, up to the first that is refused. It returns a report
// for each call.
func (w writing) each(ctx context.Context, paths []string, change func(*update, string) (refused, err error)) (reports []Report, err error) {
	var refused error
	whole, err := w(ctx, func(u *update) (err error) {
		for i := 0; i < len(paths) && err == nil && refused == nil; i++ {
			u.report = Report{}
			refused, err = change(u, paths[i])
			reports = append(reports, u.report)
		}
		return err
	})
	for i := range reports {
		reports[i].Passages = whole.Passages
	}
	return reports, cmp.Or(err, refused)
}

func (u *update) add(ctx context.Context, path string, progress func(Progress)) error {
	at, err := u.toAdd(path)
	if err != nil {
		return err
	}
	return u.addAt(ctx, at, progress)
}

// addAt adds what is at a path that toAdd returned.
func (u *update) addAt(ctx context.Context, abs string, progress func(Progress)) error {
	before := u.roots
	if err := u.setRoots(u.roots.add(abs, sep)); err != nil {
		return err
	}
	if err := u.addTree(ctx, osTree(abs), abs, sep, progress); err != nil {
		return err
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() && !u.holds(abs) { // a file that was refused is not visited again
		return u.setRoots(before)
	}
	return nil
}

// toAdd returns the path under which the index keeps what is at path.
func (u *update) toAdd(path string) (string, error) {
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

// holds reports whether there are passages of a file, or of one below a folder.
func (u *update) holds(path string) bool {
	for _, r := range u.files {
		if len(r.Passages) > 0 && within(r.Path, path, sep) {
			return true
		}
	}
	return false
}

// held returns the files that have passages, and all folders above them.
func (u *update) held(sep string) pathSet {
	held := pathSet{}
	for _, r := range u.files {
		if len(r.Passages) == 0 {
			continue
		}
		for path := range above(r.Path, sep) {
			if held[path] {
				break
			}
			held[path] = true
		}
		held["."] = true
	}
	return held
}

// AddFS indexes the file or folder called root in fsys. The passages' sources are names in fsys. It is for corpora that
// ship with the program; Refresh does not visit them.
func (x *Index) AddFS(ctx context.Context, fsys fs.FS, root string) (Report, error) {
	return x.write(ctx, func(u *update) error { return u.addFS(ctx, fsys, root) })
}

func (u *update) addFS(ctx context.Context, fsys fs.FS, root string) error {
	root = path.Clean(root)
	return u.addTree(ctx, tree{fsys, root, func(name string) string { return name }}, root, "/", nil)
}

// Refresh visits again everything that was added. It reports a file or folder that is gone but keeps its passages, since
// it may be on a disk that is not mounted. Remove drops them.
func (x *Index) Refresh(ctx context.Context, progress func(Progress)) (Report, error) {
	return x.write(ctx, func(u *update) error { return u.addRoots(ctx, keptWhileAway, progress) })
}

const keptWhileAway = "not accessible (%v); its passages are kept, remove it to drop them"

// addRoots visits everything that was added. gone is the reason, with a verb for the error, to report what is gone with.
func (u *update) addRoots(ctx context.Context, gone string, progress func(Progress)) error {
	for _, root := range u.roots.Roots {
		if _, err := os.Lstat(root); err != nil {
			reason := fmt.Sprintf(gone, cause(err))
			if gone == keptWhileAway && !u.holds(root) {
				reason = fmt.Sprintf("not accessible (%v)", cause(err))
			}
			u.report.Skipped = append(u.report.Skipped, Skip{root, Unreadable, reason})
			continue
		}
		if err := u.addTree(ctx, osTree(root), root, sep, progress); err != nil {
			return err
		}
	}
	return nil
}

// Remove drops a file, or a folder with everything below it, whether or not it still exists. If it is below a folder that
// was added, it stays out until it is added again. The error wraps ErrNotIndexed if the index holds nothing of it.
func (x *Index) Remove(ctx context.Context, path string) (Report, error) {
	return x.write(ctx, func(u *update) error { return u.remove(path) })
}

func (u *update) remove(path string) error {
	paths, err := names(path)
	if err != nil {
		return fmt.Errorf("remove from index: %w", err)
	}
	abs := paths[max(0, slices.IndexFunc(paths, u.knows))]
	isRoot := slices.ContainsFunc(u.roots.Roots, func(r string) bool { return within(r, abs, sep) })
	if err := u.dropAll(func(path string) bool { return within(path, abs, sep) }); err != nil {
		return err
	}
	if u.report.Removed == 0 && !isRoot {
		return fmt.Errorf("%w: %s", ErrNotIndexed, path)
	}
	return u.setRoots(u.roots.remove(abs, sep))
}

// names returns the paths under which the index may keep what a user calls path: as it is given, with its links
// followed, and with accents as a file system may have them.
func names(path string) ([]string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	out := []string{abs, followed(abs)}
	for _, name := range out[:2] {
		out = append(out, norm.NFC.String(name), norm.NFD.String(name))
	}
	return out, nil
}

// followed returns an absolute path with the links followed, as far as it exists.
func followed(abs string) string {
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

// knows reports whether a file, or one below a folder, is in the index or was added.
func (u *update) knows(path string) bool {
	if slices.ContainsFunc(u.roots.Roots, func(r string) bool { return within(r, path, sep) }) {
		return true
	}
	for p := range u.files {
		if within(p, path, sep) {
			return true
		}
	}
	return false
}

// ErrNotIndexed is wrapped by the error of Remove if the index holds nothing below the path.
var ErrNotIndexed = errors.New("not in the index")

const sep = string(filepath.Separator)

func osTree(root string) tree {
	dir, base := filepath.Split(root)
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		dir, base = root, "."
	}
	return tree{os.DirFS(dir), base, func(name string) string {
		return filepath.Join(dir, filepath.FromSlash(name))
	}}
}

// addTree updates the records at or below root to the files of t.
func (u *update) addTree(ctx context.Context, t tree, root, sep string, progress func(Progress)) error {
	present, lost := make(map[string]bool), pathSet{}
	held := sync.OnceValue(func() pathSet { return u.held(sep) })
	var p Progress
	if progress != nil {
		var err error
		if p.Files, p.TotalBytes, err = u.count(ctx, t, sep); err != nil {
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
			u.skip(source, Unreadable, unreadable(err, held()[name]))
		},
		file: func(f file) error {
			if u.roots.excludes(f.source, sep) {
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
		return within(path, root, sep) && !present[path] && !lost.hold(path, sep) && !u.roots.ownsBelow(root, path, sep)
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

// unreadable says why a file or folder cannot be read, and that what it had in the index stays, if it had anything.
func unreadable(err error, had bool) string {
	reason := fmt.Sprintf("unreadable (%v)", cause(err))
	if had {
		reason += "; passages it had are kept"
	}
	return reason
}

// count returns how many files a walk will visit, and their bytes.
func (u *update) count(ctx context.Context, t tree, sep string) (files int, bytes int64, err error) {
	err = t.walk(ctx, visitor{
		skip: func(string, Kind, string) {},
		lost: func(string, error) {},
		file: func(f file) error {
			if !u.roots.excludes(f.source, sep) {
				files, bytes = files+1, bytes+f.size
			}
			return nil
		},
	})
	return files, bytes, err
}

// noText is the reason for a file without passages. The index keeps such reasons as text.
const noText = "no text in it"

// addFile indexes one file unless it is unchanged.
func (u *update) addFile(ctx context.Context, f file) error {
	old, known := u.files[f.source]
	current := known && old.Words == u.words && old.Parsers == documents.Version // by today's parsers, into passages of the right length
	if current && old.unchanged(f.size, f.modified) {
		u.keep(old)
		return nil
	}
	now := time.Now()
	data, err := f.read()
	if err != nil {
		u.skip(f.source, Unreadable, unreadable(err, len(old.Passages) > 0))
		return nil
	}
	sum := sha256.Sum256(data)
	r := record{
		Path: f.source, Size: f.size, Modified: f.modified, Hash: hex.EncodeToString(sum[:]),
		Settled: now.Sub(f.modified) > settle, Words: u.words, Parsers: documents.Version,
	}
	same := current && old.Hash == r.Hash
	if same && old.Size == r.Size && old.Modified.Equal(r.Modified) {
		u.keep(old)
		return nil
	}
	cut, err := r.cut(ctx, data)
	if err != nil {
		return err
	}
	switch {
	case r.Skip != "":
		u.skip(r.Path, r.kind(), r.Skip)
		if known && len(old.Passages) > 0 {
			u.report.Removed++
		}
	case same:
		u.report.Unchanged++
	case known && len(old.Passages) > 0:
		u.report.Updated++
	default:
		u.report.Added++
	}
	return u.put(r, cut)
}

// keep reports a file that has not changed.
func (u *update) keep(r record) {
	if r.Skip != "" {
		u.skip(r.Path, r.kind(), r.Skip)
	} else {
		u.report.Unchanged++
	}
}

// cut returns the passages of a file, and notes them or why there are none. The error is that of ctx.
func (r *record) cut(ctx context.Context, data []byte) ([]passages.Passage, error) {
	title, cut, err := passages.FromFile(ctx, r.Path, data, r.Words)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		r.Skip = err.Error()
	case len(cut) == 0:
		r.Skip = noText
	}
	if r.Title = title; errors.Is(err, documents.ErrPDFium) {
		r.Parsers = 0 // read it again next time
	}
	for _, p := range cut {
		r.Passages = append(r.Passages, p.ID)
	}
	return cut, nil
}

// kind returns the kind of reason why r has no passages.
func (r record) kind() Kind {
	if r.Skip == noText {
		return NoText
	}
	return Unusable
}

// cause removes the path from an error of the file system.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
