package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"

	"tandem/retrieval/passages"
)

// Index holds the passages of a set of files and finds those that may answer a question.
//
// On disk an index is a directory of generations. A generation is a complete bleve index, with the checksums of its
// files. Once the file "current" names it, it never changes. A writer copies the current generation (its segments by
// hard link), changes the copy, and replaces "current". So a process may be killed at any time, and readers never wait.
// A lock admits one writer at a time.
//
// An Index is safe for concurrent use by several goroutines and several processes.
type Index struct {
	dir string  // "" in memory
	opt Options // with the length of passages

	mu     sync.RWMutex // guards the fields below; a search holds it for reading
	gen    string       // the open generation
	bleve  bleve.Index  // nil if the index on disk has no generation yet
	closed bool

	writing sync.Mutex // stands for the lock file if the index is in memory

	batch, checkpoint int // bytes of text; tests make them small
	// failpoint, if a test sets it, is called between the steps of a write. Its error stops the write at once, as if
	// the process were killed.
	failpoint func(step string) error
}

// ErrLocked is wrapped by the errors of writes while another process or Index writes.
var ErrLocked = errors.New("index is being written")

// ErrOtherVersion is wrapped by the errors of opening an index that another version of this package made. Rebuild makes it again.
var ErrOtherVersion = errors.New("it was made by another version")

// errReadOnly is returned by writes to an Index opened with ReadOnly.
var errReadOnly = errors.New("index was opened for reading only")

// ErrClosed is returned by all methods after Close.
var ErrClosed = errors.New("index is closed")

// Names in the directory of an index. The version covers the mapping and the records.
const (
	lockName     = "lock"
	currentName  = "current"
	genPrefix    = "gen-v4-"
	anyGenPrefix = "gen-" // of all versions

	segmentSuffix = ".zap" // of a generation's files, those that never change once bleve has written them
)

// Options are settings of an index.
type Options struct {
	// ReadOnly refuses writes and does not create the directory. An index that does not exist is empty.
	ReadOnly bool
	// Words is the approximate length of passages; 0 means passages.DefaultWords. Files cut to another length are read
	// again when they are next added or refreshed.
	Words int
	// Exclude, if not nil, replaces the patterns by which files are left out of the folders that are added. Each is as a line
	// at the end of the folder's ignore file (IgnoreName), and counts until the folder is removed.
	Exclude []string
	// Related, if not nil, says which words may stand for those of a question in a passage.
	Related Related
	// Rerank, if not nil, orders what was found.
	Rerank Rerank
	// Waiting, if not nil, is called when a write has to wait for another one.
	Waiting func()
}

// length returns the length of passages.
func (o Options) length() (int, error) {
	if o.Words < 0 || o.Words > passages.MaxWords {
		return 0, fmt.Errorf("passages of %d words: want 1 to %d, or 0 for %d", o.Words, passages.MaxWords, passages.DefaultWords)
	}
	return cmp.Or(o.Words, passages.DefaultWords), nil
}

// Open opens the index in dir and creates the directory if necessary. If a process died while it wrote the index, the
// index is as it was before that write.
func Open(dir string, opt Options) (*Index, error) {
	var err error
	if opt.Words, err = opt.length(); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if !opt.ReadOnly {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open index: %w", err)
		}
	}
	x := &Index{dir: dir, opt: opt, batch: defaultBatch, checkpoint: defaultCheckpoint}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.openCurrentLocked(); err != nil {
		return nil, err
	}
	return x, nil
}

// Exists reports whether anything was ever indexed in dir. The index may be empty: what was added may have been removed.
func Exists(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, currentName))
	return !errors.Is(err, os.ErrNotExist) // a directory that may not be read does not count as empty
}

// Written returns when the index last changed. It is zero if the index is in memory, or if nothing was ever indexed.
func (x *Index) Written() (time.Time, error) {
	if x.dir == "" {
		return time.Time{}, nil
	}
	info, err := os.Stat(filepath.Join(x.dir, currentName))
	if errors.Is(err, os.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("look at index: %w", err)
	}
	return info.ModTime(), nil
}

// Memory returns an empty index in memory, for corpora that ship with the program. It can be written even if opt says otherwise.
func Memory(opt Options) (*Index, error) {
	var err error
	opt.ReadOnly = false
	if opt.Words, err = opt.length(); err != nil {
		return nil, fmt.Errorf("open index in memory: %w", err)
	}
	b, err := bleve.NewUsing("", indexMapping(), scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("open index in memory: %w", err)
	}
	return &Index{opt: opt, bleve: b, batch: defaultBatch}, nil
}

// Close closes the index after running searches have finished.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	if x.bleve == nil {
		return nil
	}
	return x.bleve.Close()
}

// openCurrentLocked opens the current generation unless it is already open. The caller holds mu for writing.
func (x *Index) openCurrentLocked() error {
	const maxTries = 10 // a writer may publish a newer generation and remove this one before it is open
	for try := 1; ; try++ {
		gen, err := readCurrent(x.dir)
		if err != nil {
			return err
		}
		if gen == x.gen {
			return nil
		}
		if gen == "" { // someone deleted the index
			x.replace("", nil)
			return nil
		}
		b, err := openVerified(filepath.Join(x.dir, gen))
		if err == nil {
			x.replace(gen, b)
			return nil
		}
		if newest, readErr := readCurrent(x.dir); readErr != nil || newest == gen || try == maxTries {
			return openError(x.dir, err)
		}
	}
}

// replace closes the open generation, if there is one, and takes another in its place. The caller holds mu for writing.
func (x *Index) replace(gen string, b bleve.Index) {
	if x.bleve != nil {
		x.bleve.Close()
	}
	x.gen, x.bleve = gen, b
}

// openError describes err, by which the generation in use could not be opened.
func openError(dir string, err error) error {
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		return err
	case errors.Is(err, fs.ErrPermission):
		return accessError(dir, err)
	}
	return &DamagedError{Dir: dir, Err: err}
}

// accessError describes err, which says that this user may not read the index in dir.
func accessError(dir string, err error) error {
	return fmt.Errorf("the index %s cannot be read: let this user read it: %w", dir, err)
}

// readCurrent returns the name of the current generation, or "" if there is none.
func readCurrent(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, currentName))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", accessError(dir, err)
	}
	if err != nil {
		return "", fmt.Errorf("open index: %w", err)
	}
	gen := strings.TrimSpace(string(b))
	if !strings.HasPrefix(gen, anyGenPrefix) || filepath.Base(gen) != gen || len(gen) > 64 {
		return "", &DamagedError{File: filepath.Join(dir, currentName), Err: fmt.Errorf("%q is not a generation", gen)}
	}
	if !strings.HasPrefix(gen, genPrefix) {
		return "", fmt.Errorf("open index %s: %w", dir, ErrOtherVersion)
	}
	return gen, nil
}

// openVerified opens a published generation for reading, if its files are as they were written.
func openVerified(path string) (bleve.Index, error) {
	if err := verify(path); err != nil {
		return nil, err
	}
	return openGeneration(path, true)
}

func openGeneration(path string, readOnly bool) (b bleve.Index, err error) {
	defer recoverDamage(path, &err)
	return bleve.OpenUsing(path, map[string]any{
		"read_only":          readOnly,
		"bolt_timeout":       "5s", // no one holds a published generation for writing, so do not wait forever
		"numSnapshotsToKeep": 1,
	})
}

// view calls f with the current generation. Damage that makes the index library panic in f is an error.
func (x *Index) view(f func(bleve.Index) error) (err error) {
	if x.dir != "" {
		if err := x.openCurrent(); err != nil {
			return err
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return ErrClosed
	}
	if x.bleve == nil {
		return nil
	}
	defer recoverDamage(x.dir, &err)
	return f(x.bleve)
}

// records returns all that the index remembers of its files.
func (x *Index) records(ctx context.Context) (r records, err error) {
	err = x.view(func(b bleve.Index) (err error) {
		r, err = loadRecords(ctx, b)
		return err
	})
	return r, err
}

// openCurrent opens the generation that another Index or process has published.
func (x *Index) openCurrent() error {
	gen, err := readCurrent(x.dir)
	if err != nil {
		return err
	}
	x.mu.RLock()
	same := gen == x.gen || x.closed
	x.mu.RUnlock()
	if same {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	return x.openCurrentLocked()
}
