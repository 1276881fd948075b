package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
)

// record is what the index remembers of a file, to tell whether it changed and what to delete.
type record struct {
	Path     string    `json:"path"`
	Title    string    `json:"title"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Settled  bool      `json:"settled"` // the file was last written well before it was read
	Hash     string    `json:"hash"`
	Words    int       `json:"words"`          // the length of passages that was aimed at
	Passages []string  `json:"passages"`       // IDs
	Skip     string    `json:"skip,omitempty"` // why it has no passages
	Parsers  int       `json:"parsers"`        // parsersVersion when it was read
}

// settle is how long before being read a file must have been written for size and time to vouch for its
// contents: file systems count time in steps of up to two seconds.
const settle = 2 * time.Second

// unchanged reports whether a file of this size and time can be taken as read.
func (r record) unchanged(size int64, modified time.Time) bool {
	return r.Settled && r.Size == size && r.Modified.Equal(modified) && !modified.IsZero()
}

// docID is the document that carries the record: the first passage, or one of its own.
func (r record) docID() string {
	if len(r.Passages) > 0 {
		return r.Passages[0]
	}
	return "file:" + r.Path
}

// records is the whole memory of an index.
type records struct {
	files map[string]record // by path
	roots rootSet
}

// rootSet says what Refresh walks.
type rootSet struct {
	Roots    []string `json:"roots"`    // files and folders that were added
	Excluded []string `json:"excluded"` // below a root, but removed by hand
}

var rootsKey = []byte("tandem.roots")

// sorted returns the records in order of their paths.
func (r records) sorted() []record {
	out := make([]record, 0, len(r.files))
	for _, f := range r.files {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b record) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// passages counts the passages of all files.
func (r records) passages() (n int) {
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
	n, err := b.DocCount()
	if err != nil || n == 0 {
		return out, err
	}
	head := bleve.NewTermQuery("1")
	head.SetField(fieldHead)
	request := bleve.NewSearchRequestOptions(head, int(n), 0, false)
	request.Fields = []string{fieldRecord}
	request.Score = "none"
	result, err := b.SearchInContext(ctx, request)
	if err != nil {
		return out, err
	}
	for _, h := range result.Hits {
		var r record
		text, _ := h.Fields[fieldRecord].(string)
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return out, fmt.Errorf("record %s of the index: %w", h.ID, err)
		}
		out.files[r.Path] = r
	}
	return out, nil
}

// add notes that path is a root. A root below another is left out, one above others replaces them.
func (s rootSet) add(path string, sep string) rootSet {
	under := func(p, q string) bool { return within(p, q, sep) }
	out := rootSet{}
	covered := false
	for _, r := range s.Roots {
		covered = covered || under(path, r)
		if !under(r, path) || r == path {
			out.Roots = append(out.Roots, r)
		}
	}
	if !covered {
		out.Roots = append(out.Roots, path)
	}
	for _, e := range s.Excluded {
		if !under(e, path) && !under(path, e) {
			out.Excluded = append(out.Excluded, e)
		}
	}
	slices.Sort(out.Roots)
	return out
}

// remove forgets path, which also keeps it out when a root lies above it.
func (s rootSet) remove(path string, sep string) rootSet {
	out := rootSet{}
	below := false
	for _, r := range s.Roots {
		if !within(r, path, sep) {
			out.Roots = append(out.Roots, r)
			below = below || within(path, r, sep)
		}
	}
	for _, e := range s.Excluded {
		if !within(e, path, sep) {
			out.Excluded = append(out.Excluded, e)
		}
	}
	if below {
		out.Excluded = append(out.Excluded, path)
	}
	return out
}

// excludes reports whether path was removed by hand.
func (s rootSet) excludes(path, sep string) bool {
	return slices.ContainsFunc(s.Excluded, func(e string) bool { return within(path, e, sep) })
}

// within reports whether path is dir or lies below it.
func within(path, dir, sep string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, sep)+sep) || dir == "."
}
