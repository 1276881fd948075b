package retrieval

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

var errTODO = errors.New("retrieval: being written")

// Passage is a piece of a document, small enough to be read as one context beside others.
type Passage struct {
	ID     string // of the source, title and text: equal passages of one source have equal IDs
	Source string // the path it was read from
	Title  string // the document's title, and the section's where there is one
	Text   string // about 64 words, whole sentences
}

// Hit is a passage that a search found.
type Hit struct {
	Passage
	BM25 float64 // comparable within one search of one index only
}

// Skip says why a file or folder was not indexed.
type Skip struct {
	Path   string
	Reason string
}

// Report is the outcome of an Add or Refresh.
type Report struct {
	Added, Updated, Removed, Unchanged int // files
	Passages                           int // in the index now
	Skipped                            []Skip
}

// Progress is told after each file.
type Progress struct {
	Path string // the file just read
	Done int    // files read so far
}

// SourceInfo describes an indexed file.
type SourceInfo struct {
	Path     string
	Title    string
	Size     int64
	Modified time.Time
	Passages int
}

// Options of Open.
type Options struct {
	ReadOnly bool // do not create the directory
}

// Index holds passages and finds them.
type Index struct{}

func Open(dir string, opt Options) (*Index, error) { return nil, errTODO }
func Memory() (*Index, error)                      { return nil, errTODO }
func (x *Index) Close() error                      { return errTODO }
func (x *Index) List() ([]SourceInfo, error)       { return nil, errTODO }
func (x *Index) Add(ctx context.Context, path string, progress func(Progress)) (Report, error) {
	return Report{}, errTODO
}
func (x *Index) AddFS(ctx context.Context, fsys fs.FS, root string) (Report, error) {
	return Report{}, errTODO
}
func (x *Index) Refresh(ctx context.Context, progress func(Progress)) (Report, error) {
	return Report{}, errTODO
}
func (x *Index) Remove(ctx context.Context, path string) (Report, error) { return Report{}, errTODO }
func (x *Index) Search(ctx context.Context, query string, k int) ([]Hit, error) {
	return nil, errTODO
}

// KVStore keeps blobs on disk.
type KVStore struct{}

func OpenKV(dir string, budget int64) (*KVStore, error)                { return nil, errTODO }
func (s *KVStore) Get(key [32]byte) (io.ReadCloser, bool)              { return nil, false }
func (s *KVStore) Put(key [32]byte, write func(io.Writer) error) error { return errTODO }
func (s *KVStore) Close() error                                        { return nil }

// Lexical returns the lexical scorer.
func Lexical() Scorer { return nil }
