package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"tandem/retrieval/passages"
)

// Store is where an engine keeps the passages of files, and the records by which a Corpus recognises unchanged files.
type Store interface {
	// Load passes the record of each file to f, in any order, and returns what SaveRoots last saved, nil if nothing.
	Load(ctx context.Context, f func(file []byte) error) (roots []byte, err error)
	// Put replaces the passages of a file and its record. old holds the IDs of the file's earlier passages, which may
	// still be stored.
	Put(ctx context.Context, path string, file []byte, old []string, ps []passages.Passage) error
	// Drop removes the record and the passages of a file.
	Drop(ctx context.Context, path string, ids []string) error
	// SaveRoots stores the set of files and folders that were added.
	SaveRoots(ctx context.Context, roots []byte) error
	// Flush returns when all changes are durable.
	Flush(ctx context.Context) error
}

// Corpus is a set of files whose passages an engine keeps. It reads, cuts and remembers files as Index does, and writes no more
// than what has changed. Only one process may write at a time.
type Corpus struct {
	Store Store
	Words int // length of passages; 0 for passages.DefaultWords
	// Exclude is as in Options.
	Exclude []string
}

// Add is Index.Add for a corpus. What was written stays if ctx ends or the write fails; the same Add continues from there.
func (c Corpus) Add(ctx context.Context, path string, progress func(Progress)) (Report, error) {
	return writeFunc(c.write).add(ctx, path, progress)
}

// AddAll is Index.AddAll for a corpus.
func (c Corpus) AddAll(ctx context.Context, paths []string, progress func(Progress)) ([]Report, error) {
	return writeFunc(c.write).addAll(ctx, paths, progress)
}

// AddFS is Index.AddFS for a corpus.
func (c Corpus) AddFS(ctx context.Context, fsys fs.FS, root string) (Report, error) {
	return c.write(ctx, func(u *update) error { return u.addFS(ctx, fsys, root) })
}

// Refresh is Index.Refresh for a corpus.
func (c Corpus) Refresh(ctx context.Context, progress func(Progress)) (Report, error) {
	return c.write(ctx, func(u *update) error { return u.refresh(ctx, progress) })
}

// Remove is Index.Remove for a corpus.
func (c Corpus) Remove(ctx context.Context, path string) (Report, error) {
	return c.write(ctx, func(u *update) error { return u.remove(path) })
}

// RemoveAll is Index.RemoveAll for a corpus.
func (c Corpus) RemoveAll(ctx context.Context, paths []string) ([]Report, error) {
	return writeFunc(c.write).removeAll(ctx, paths)
}

// List is Index.List for a corpus.
func (c Corpus) List() ([]SourceInfo, error) {
	known, err := c.load(context.Background())
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return known.list(), nil
}

func (c Corpus) load(ctx context.Context) (records, error) {
	known := records{files: map[string]record{}}
	roots, err := c.Store.Load(ctx, func(file []byte) error {
		var r record
		if err := json.Unmarshal(file, &r); err != nil {
			return fmt.Errorf("what is remembered of a file: %w", err)
		}
		known.files[r.Path] = r
		return nil
	})
	if err == nil && roots != nil {
		if err = json.Unmarshal(roots, &known.roots); err != nil {
			err = fmt.Errorf("what is remembered of what was added: %w", err)
		}
	}
	return known, err
}

func (c Corpus) write(ctx context.Context, change func(*update) error) (Report, error) {
	words, err := Options{Words: c.Words}.length()
	if err != nil {
		return Report{}, err
	}
	known, err := c.load(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("write documents: %w", err)
	}
	u := &update{records: known, words: words, exclude: c.Exclude, sink: storeSink{ctx, c.Store}}
	err = change(u)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWithin)
	defer cancel()
	err = errors.Join(err, c.Store.Flush(end)) // also of what was done before ctx ended
	u.report.Passages = u.countPassages()
	if err != nil {
		return u.report, fmt.Errorf("write documents: %w", err)
	}
	return u.report, nil
}

// flushWithin bounds the last write of an update that was interrupted.
const flushWithin = time.Minute

// storeSink is a Store that takes the changes of an update.
type storeSink struct {
	ctx   context.Context
	store Store
}

func (s storeSink) put(r record, old *record, ps []passages.Passage) error {
	file, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.store.Put(s.ctx, r.Path, file, cmp.Or(old, &record{}).Passages, ps)
}

func (s storeSink) drop(r record) error { return s.store.Drop(s.ctx, r.Path, r.Passages) }

func (s storeSink) setRoots(r rootSet) error {
	roots, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.store.SaveRoots(s.ctx, roots)
}
