package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/blevesearch/bleve/v2"
	api "github.com/blevesearch/bleve_index_api"
)

// record is what the index remembers of a file, to tell whether the file changed and what to delete. It is stored as JSON.
type record struct {
	Path     string    `json:"path"`
	Title    string    `json:"title"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Settled  bool      `json:"settled"` // the file was last written well before it was read
	Hash     string    `json:"hash"`
	Words    int       `json:"words"`          // length of passages that the file was cut to
	Passages []string  `json:"passages"`       // IDs
	Skip     string    `json:"skip,omitempty"` // why it has no passages
	Parsers  int       `json:"parsers"`        // documents.Version when the file was read; 0 to read it again
}

// settle is how long before it was read a file must have been written for its size and time to identify its contents. File
// systems count time in steps of up to two seconds.
const settle = 2 * time.Second

// unchanged reports whether a file of this size and time is certainly the one that was read.
func (r record) unchanged(size int64, modified time.Time) bool {
	return r.Settled && r.Size == size && r.Modified.Equal(modified) && !modified.IsZero()
}

// docID returns the ID of the bleve document that carries the record: the first passage, or else a document of the file.
func (r record) docID() string {
	if len(r.Passages) > 0 {
		return r.Passages[0]
	}
	return "file:" + r.Path
}

// info describes the file to users.
func (r record) info() SourceInfo {
	return SourceInfo{r.Path, r.Title, r.Size, r.Modified, len(r.Passages)}
}

// records is all that an index remembers of its files.
type records struct {
	files map[string]record // by path
	roots rootSet
}

// countPassages counts the passages of all files.
func (r records) countPassages() (n int) {
	for _, f := range r.files {
		n += len(f.Passages)
	}
	return n
}

func loadRecords(ctx context.Context, b bleve.Index) (records, error) {
	out := records{files: make(map[string]record)}
	if b == nil {
		return out, nil
	}
	raw, err := b.GetInternal(rootsKey)
	if err != nil {
		return out, err
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &out.roots); err != nil {
			return out, fmt.Errorf("roots of the index: %w", err)
		}
	}
	return out, eachRecord(ctx, b, func(r record) { out.files[r.Path] = r })
}

// eachRecord passes the records to do, one after the other: it takes no memory for all of them at once.
func eachRecord(ctx context.Context, b bleve.Index, do func(record)) (err error) {
	f, err := newFinder(b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	heads, err := f.reader.TermFieldReader(ctx, []byte("1"), fieldHead, false, false, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, heads.Close()) }()
	for at := new(api.TermFieldDoc); ; {
		if at, err = heads.Next(at); at == nil || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		id, err := f.reader.ExternalID(at.ID)
		if err != nil {
			return err
		}
		r, err := recordOf(f.reader, id)
		if err != nil {
			return fmt.Errorf("record %s of the index: %w", id, err)
		}
		do(r)
	}
}

// recordOf returns the record that a document carries.
func recordOf(reader api.IndexReader, id string) (r record, err error) {
	doc, err := reader.Document(id)
	if err != nil || doc == nil {
		return r, cmp.Or(err, errors.New("there is no such document"))
	}
	var text []byte
	doc.VisitFields(func(f api.Field) {
		if f.Name() == fieldRecord {
			text = f.Value()
		}
	})
	return r, json.Unmarshal(text, &r)
}
