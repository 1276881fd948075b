package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"

	"tandem/internal/filelock"
	"tandem/retrieval/passages"
)

// writer has the changes of an index that are not yet published.
type writer struct {
	x            *Index
	gen          *generation // nil until something changes, and always nil in memory
	base         string
	batch        *bleve.Batch
	pending      int // bytes in batch
	written      int // bytes in gen since the last checkpoint
	roots        rootSet
	rootsChanged bool // roots are not in batch
}

// write runs change as the only writer and publishes the result.
func (x *Index) write(ctx context.Context, change func(*update) error) (Report, error) {
	if x.opt.ReadOnly {
		return Report{}, errReadOnly
	}
	unlock, err := x.lock(ctx)
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	w := &writer{x: x}
	known, err := w.begin(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("write index: %w", err)
	}
	u := &update{records: known, words: x.opt.Words, exclude: x.opt.Exclude, sink: w}
	if err = change(u); err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) { // what is finished is whole
		err = errors.Join(w.commit(), err)
	}
	u.report.Passages = u.countPassages()
	if err != nil {
		if w.gen != nil && !errors.Is(err, errKilled) {
			w.gen.discard()
		}
		return u.report, fmt.Errorf("write index: %w", err)
	}
	return u.report, nil
}

// errKilled is what a test's failpoint returns. No one cleans up after it.
var errKilled = errors.New("killed by a test")

// lockPatience is how long a writer waits for another one, and lockPoll how often it looks.
const (
	lockPatience = 10 * time.Second
	lockPoll     = 50 * time.Millisecond
)

// lock makes the caller the only writer.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	if x.dir == "" {
		x.writing.Lock()
		return x.writing.Unlock, nil
	}
	f, err := os.OpenFile(filepath.Join(x.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write index: %w", err)
	}
	if err := x.waitFor(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	f.Truncate(0)
	f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return func() { f.Close() }, nil
}

// waitFor locks the file f. If another writer has it, it waits for that one for some time.
func (x *Index) waitFor(ctx context.Context, f *os.File) error {
	for left := lockPatience; ; left -= lockPoll {
		if ok, err := filelock.Try(f); err != nil {
			return fmt.Errorf("write index: lock %s: %w", f.Name(), err)
		} else if ok {
			return nil
		}
		if left == lockPatience && x.opt.Waiting != nil {
			x.opt.Waiting()
		}
		if left <= 0 || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
		}
	}
	holder := make([]byte, 32)
	n, _ := f.ReadAt(holder, 0)
	who, _, _ := strings.Cut(string(holder[:n]), "\n")
	return fmt.Errorf("%w: %s is locked by %s; try again when it is done", ErrLocked, x.dir, holderName(who))
}

func holderName(number string) string {
	if number == "" {
		return "another process"
	}
	return "process " + number
}

// begin reads the records of the current generation and removes what dead writers left.
func (w *writer) begin(ctx context.Context) (records, error) {
	if w.x.dir != "" {
		base, err := readCurrent(w.x.dir)
		if err != nil {
			return records{}, err
		}
		w.base = base
		sweep(w.x.dir, base)
	}
	known, err := w.x.records(ctx)
	if known.files == nil {
		known.files = make(map[string]record)
	}
	w.roots = known.roots
	return known, err
}

// target returns the index that batches go to.
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

// fail is where a test may break off the write.
func (w *writer) fail(step string) error {
	if w.x.failpoint == nil {
		return nil
	}
	return w.x.failpoint(step)
}

// ensureBatch makes the batch that the next change goes to, and the generation, if there are none.
func (w *writer) ensureBatch() error {
	target, err := w.target()
	if err == nil && w.batch == nil {
		w.batch = target.NewBatch()
	}
	return err
}

func (w *writer) setRoots(s rootSet) error {
	w.roots, w.rootsChanged = s, true
	return w.ensureBatch()
}

func (w *writer) put(r record, old *record, ps []passages.Passage) error {
	if err := w.ensureBatch(); err != nil {
		return err
	}
	if old != nil {
		w.deleteDocs(*old)
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
		doc := map[string]any{fieldTitle: p.Title, fieldText: p.Text, fieldSource: p.Source, fieldName: nameOf(p.Source)}
		if i == 0 {
			doc[fieldHead], doc[fieldRecord] = head[fieldHead], head[fieldRecord]
		}
		if err := w.batch.Index(p.ID, doc); err != nil {
			return err
		}
		w.pending += len(p.Title) + len(p.Text)
	}
	w.pending += len(raw)
	return w.flushIfFull()
}

func (w *writer) drop(r record) error {
	if err := w.ensureBatch(); err != nil {
		return err
	}
	w.deleteDocs(r)
	w.pending += 64
	return w.flushIfFull()
}

func (w *writer) deleteDocs(r record) {
	w.batch.Delete(r.docID())
	for _, id := range r.Passages {
		w.batch.Delete(id)
	}
}

// flushIfFull writes a full batch and publishes at a checkpoint.
func (w *writer) flushIfFull() error {
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

// flush writes the batch to the generation. Nothing of it is published.
func (w *writer) flush() error {
	if w.rootsChanged {
		raw, err := json.Marshal(w.roots)
		if err != nil {
			return err
		}
		w.batch.SetInternal(rootsKey, raw)
		w.rootsChanged = false
	}
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
	w.batch = target.NewBatch() // not Reset: a goroutine of bleve may still read the old batch
	w.written += w.pending
	w.pending = 0
	return nil
}

// commit publishes all changes so far.
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
	if err := saveSources(w.x.dir, sources{w.roots, w.x.opt.Words}); err != nil {
		return fmt.Errorf("save what was added: %w", err)
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
	if err := w.x.openCurrent(); err != nil {
		return err
	}
	sweep(w.x.dir, w.base)
	return nil
}
