package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"

	"tandem/internal/filelock"
	"tandem/retrieval/documents"
	"tandem/retrieval/passages"
)

// Bytes of text in a batch, which is held in memory, and to a checkpoint, at which a long write publishes
// what it has so far.
const (
	defaultBatch      = 1 << 20
	defaultCheckpoint = 64 << 20
)

// Skip says why a file or folder was not indexed.
type Skip struct {
	Path   string
	Reason string
}

// Report is the outcome of a write.
type Report struct {
	Added, Updated, Removed, Unchanged int    // files
	Passages                           int    // in the index afterwards
	Skipped                            []Skip // in the order of the walk
}

// Progress is told after each file.
type Progress struct {
	Path string // the file just looked at
	Done int    // files looked at so far
}

// Add indexes a file, or a folder with all below it, and remembers it for Refresh. Files that did not
// change since they were indexed are not read; passages of files that are gone are removed. A file that
// cannot be read keeps the passages it had. When ctx ends or a write fails the index stays as it was, or
// as it was at the last checkpoint of a long Add. progress may be nil.
func (x *Index) Add(ctx context.Context, path string, progress func(Progress)) (Report, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return Report{}, fmt.Errorf("add to index: %w", err)
	}
	return x.write(ctx, func(w *writer) error {
		if err := w.setRoots(w.roots.add(abs, sep)); err != nil {
			return err
		}
		return w.addTree(ctx, osTree(abs), abs, sep, progress)
	})
}

// AddFS indexes the file or folder called root in fsys. Sources are the names in fsys. It is for corpora
// that ship with the program: Refresh does not look at them again.
func (x *Index) AddFS(ctx context.Context, fsys fs.FS, root string) (Report, error) {
	root = path.Clean(root)
	return x.write(ctx, func(w *writer) error {
		return w.addTree(ctx, tree{fsys, root, func(name string) string { return name }}, root, "/", nil)
	})
}

// Refresh looks again at everything that was added. A root that is gone is reported and keeps its
// passages, since it may be a disk that is not mounted: Remove drops it.
func (x *Index) Refresh(ctx context.Context, progress func(Progress)) (Report, error) {
	return x.write(ctx, func(w *writer) error {
		for _, root := range w.roots.Roots {
			if _, err := os.Lstat(root); err != nil {
				w.report.Skipped = append(w.report.Skipped, Skip{root, fmt.Sprintf("cannot be looked at (%v); its passages are kept, remove it to drop them", err)})
				continue
			}
			if err := w.addTree(ctx, osTree(root), root, sep, progress); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove drops a file, or a folder with all below it, whether or not it still exists. What is removed
// below a folder that was added stays out until it is added again. ErrNotIndexed when there is nothing.
func (x *Index) Remove(ctx context.Context, path string) (Report, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Report{}, fmt.Errorf("remove from index: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return x.write(ctx, func(w *writer) error {
		isRoot := slices.Contains(w.roots.Roots, abs)
		for _, r := range w.sorted() {
			if within(r.Path, abs, sep) {
				if err := w.drop(r); err != nil {
					return err
				}
			}
		}
		if w.report.Removed == 0 && !isRoot {
			return fmt.Errorf("%w: %s", ErrNotIndexed, path)
		}
		return w.setRoots(w.roots.remove(abs, sep))
	})
}

// ErrNotIndexed is wrapped by the error of Remove for a path of which the index holds nothing.
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

// addTree brings the records at or below root into line with the files of t.
func (w *writer) addTree(ctx context.Context, t tree, root, sep string, progress func(Progress)) error {
	present := make(map[string]bool)
	var lost []string
	done := 0
	skip := func(source, reason string) {
		w.report.Skipped = append(w.report.Skipped, Skip{source, reason})
	}
	err := t.walk(ctx, visitor{
		skip: skip,
		lost: func(source string, err error) {
			lost = append(lost, source)
			skip(source, fmt.Sprintf("unreadable (%v); passages it had are kept", cause(err)))
		},
		file: func(f file) error {
			if w.roots.excludes(f.source, sep) {
				skip(f.source, "removed by hand (add it to index it again)")
				return nil
			}
			present[f.source] = true
			if err := w.addFile(ctx, f); err != nil {
				return err
			}
			if done++; progress != nil {
				progress(Progress{f.source, done})
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	for _, r := range w.sorted() {
		mayExist := slices.ContainsFunc(lost, func(l string) bool { return within(r.Path, l, sep) })
		if within(r.Path, root, sep) && !present[r.Path] && !mayExist {
			if err := w.drop(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFile indexes one file unless it is as it was.
func (w *writer) addFile(ctx context.Context, f file) error {
	old, known := w.files[f.source]
	skip := func(reason string) {
		w.report.Skipped = append(w.report.Skipped, Skip{f.source, reason})
	}
	unchanged := func(r record) {
		if r.Skip != "" {
			skip(r.Skip)
		} else {
			w.report.Unchanged++
		}
	}
	current := known && old.Words == w.x.words && old.Parsers == documents.Version // into passages as they are wanted now
	if current && old.unchanged(f.size, f.modified) {
		unchanged(old)
		return nil
	}
	now := time.Now()
	data, err := f.read()
	if err != nil {
		skip(fmt.Sprintf("unreadable (%v); passages it had are kept", cause(err)))
		return nil
	}
	sum := sha256.Sum256(data)
	r := record{
		Path: f.source, Size: f.size, Modified: f.modified, Hash: hex.EncodeToString(sum[:]),
		Settled: now.Sub(f.modified) > settle, Words: w.x.words, Parsers: documents.Version,
	}
	same := current && old.Hash == r.Hash
	if same && old.Size == r.Size && old.Modified.Equal(r.Modified) {
		unchanged(old)
		return nil
	}
	title, cut, err := passages.FromFile(ctx, f.source, data, w.x.words)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.Skip = err.Error()
	case len(cut) == 0:
		r.Skip = "no text in it"
	}
	if r.Title = title; errors.Is(err, documents.ErrSandbox) {
		r.Parsers = 0 // read it again next time
	}
	for _, p := range cut {
		r.Passages = append(r.Passages, p.ID)
	}
	switch {
	case r.Skip != "":
		skip(r.Skip)
		if known && len(old.Passages) > 0 {
			w.report.Removed++
		}
	case same:
		w.report.Unchanged++
	case known && len(old.Passages) > 0:
		w.report.Updated++
	default:
		w.report.Added++
	}
	return w.put(r, cut)
}

// cause strips the path that an error of the file system repeats.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// writer is one write: the memory of the index, and the changes not yet published.
type writer struct {
	records
	x       *Index
	gen     *generation // nil until something changes; always nil in memory
	base    string
	batch   *bleve.Batch
	pending int // bytes in batch
	written int // bytes in gen since the last checkpoint
	report  Report
}

// write runs change as the only writer and publishes what it did.
func (x *Index) write(ctx context.Context, change func(*writer) error) (Report, error) {
	if x.readOnly {
		return Report{}, ErrReadOnly
	}
	unlock, err := x.lock()
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	w := &writer{x: x}
	if err := w.begin(ctx); err != nil {
		return Report{}, fmt.Errorf("write index: %w", err)
	}
	if err = change(w); err == nil {
		err = w.commit()
	}
	if err != nil {
		if w.gen != nil && !errors.Is(err, errKilled) {
			w.gen.discard()
		}
		return w.report, fmt.Errorf("write index: %w", err)
	}
	w.report.Passages = w.passages()
	return w.report, nil
}

// errKilled is what a test's failpoint returns: nothing is cleaned up after it.
var errKilled = errors.New("killed by a test")

// lock makes the caller the only writer.
func (x *Index) lock() (unlock func(), err error) {
	if x.dir == "" {
		x.writing.Lock()
		return x.writing.Unlock, nil
	}
	f, err := os.OpenFile(filepath.Join(x.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write index: %w", err)
	}
	ok, err := filelock.Try(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write index: lock %s: %w", f.Name(), err)
	}
	if !ok {
		holder := make([]byte, 32)
		n, _ := f.ReadAt(holder, 0)
		f.Close()
		who, _, _ := strings.Cut(string(holder[:n]), "\n")
		return nil, fmt.Errorf("%w: %s is locked by process %s; try again when it is done", ErrLocked, x.dir, who)
	}
	f.Truncate(0)
	f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return func() { f.Close() }, nil
}

// begin reads the memory of the current state, clearing away what writers that died left.
func (w *writer) begin(ctx context.Context) error {
	if w.x.dir != "" {
		base, err := readCurrent(w.x.dir)
		if err != nil {
			return err
		}
		w.base = base
		sweep(w.x.dir, base)
	}
	w.records.files = make(map[string]record)
	return w.x.view(func(b bleve.Index) (err error) {
		w.records, err = loadRecords(ctx, b)
		return err
	})
}

// target is the index that batches go to.
func (w *writer) target() (bleve.Index, error) {
	if w.x.dir == "" {
		return w.x.bleve, nil
	}
	if w.gen == nil {
		if err := w.fail("clone"); err != nil {
			return nil, err
		}
		gen, err := newGeneration(w.x.dir, w.base)
		if err != nil {
			return nil, err
		}
		w.gen = gen
	}
	return w.gen.bleve, nil
}

func (w *writer) fail(step string) error {
	if w.x.failpoint == nil {
		return nil
	}
	return w.x.failpoint(step)
}

func (w *writer) ready() error {
	target, err := w.target()
	if err == nil && w.batch == nil {
		w.batch = target.NewBatch()
	}
	return err
}

func (w *writer) setRoots(s rootSet) error {
	if slices.Equal(s.Roots, w.roots.Roots) && slices.Equal(s.Excluded, w.roots.Excluded) {
		return nil
	}
	raw, err := json.Marshal(s)
	if err == nil {
		err = w.ready()
	}
	if err != nil {
		return err
	}
	w.roots = s
	w.batch.SetInternal(rootsKey, raw)
	return nil
}

// put replaces what the index has of a file.
func (w *writer) put(r record, ps []passages.Passage) error {
	if err := w.ready(); err != nil {
		return err
	}
	if old, ok := w.files[r.Path]; ok {
		w.deleteDocs(old)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	head := map[string]any{fieldHead: "1", fieldRecord: string(raw)}
	if len(ps) == 0 {
		if err := w.batch.Index(r.docID(), head); err != nil {
			return err
		}
	}
	for i, p := range ps {
		doc := map[string]any{fieldTitle: p.Title, fieldText: p.Text, fieldSource: p.Source}
		if i == 0 {
			doc[fieldHead], doc[fieldRecord] = head[fieldHead], head[fieldRecord]
		}
		if err := w.batch.Index(p.ID, doc); err != nil {
			return err
		}
		w.pending += len(p.Title) + len(p.Text)
	}
	w.pending += len(raw)
	w.files[r.Path] = r
	return w.spill()
}

// drop removes what the index has of a file.
func (w *writer) drop(r record) error {
	if err := w.ready(); err != nil {
		return err
	}
	w.deleteDocs(r)
	delete(w.files, r.Path)
	if len(r.Passages) > 0 {
		w.report.Removed++
	}
	w.pending += 64
	return w.spill()
}

func (w *writer) deleteDocs(r record) {
	w.batch.Delete(r.docID())
	for _, id := range r.Passages {
		w.batch.Delete(id)
	}
}

// spill writes a full batch, and publishes at a checkpoint.
func (w *writer) spill() error {
	if w.pending < w.x.batch {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.gen == nil || w.written < w.x.checkpoint {
		return nil
	}
	return w.commit()
}

func (w *writer) flush() error {
	if w.batch == nil || w.batch.Size() == 0 {
		return nil
	}
	if err := w.fail("batch"); err != nil {
		return err
	}
	target, err := w.target()
	if err != nil {
		return err
	}
	if err := target.Batch(w.batch); err != nil {
		return err
	}
	w.batch = target.NewBatch() // not Reset: a goroutine of the index may still read the old one
	w.written += w.pending
	w.pending = 0
	return nil
}

// commit publishes the changes so far.
func (w *writer) commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	w.written = 0
	if w.gen == nil {
		return nil
	}
	if err := w.fail("publish"); err != nil {
		return err
	}
	gen := w.gen
	w.gen, w.batch = nil, nil
	if err := gen.publish(); err != nil {
		return err
	}
	w.base = gen.name
	if err := w.fail("sweep"); err != nil {
		return err
	}
	if err := w.x.follow(); err != nil {
		return err
	}
	sweep(w.x.dir, w.base)
	return nil
}
