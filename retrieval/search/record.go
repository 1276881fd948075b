package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
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

// records is all that an index remembers of its files.
type records struct {
	files map[string]record // by path
	roots rootSet
}

// rootSet is what Refresh walks.
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
	return out, eachRecord(ctx, b, func(r record) { out.files[r.Path] = r })
}

// eachRecord passes the records to f, one after the other: it takes no memory for all of them at once.
func eachRecord(ctx context.Context, b bleve.Index, f func(record)) (err error) {
	advanced, err := b.Advanced()
	if err != nil {
		return err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	heads, err := reader.TermFieldReader(ctx, []byte("1"), fieldHead, false, false, false)
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
		id, err := reader.ExternalID(at.ID)
		if err != nil {
			return err
		}
		r, err := recordOf(reader, id)
		if err != nil {
			return fmt.Errorf("record %s of the index: %w", id, err)
		}
		f(r)
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

// add adds a root. A root that the walk of another one reaches is left out; a root replaces those that its own walk reaches.
func (s rootSet) add(path string, sep string) rootSet {
	under := func(p, q string) bool { return within(p, q, sep) }
	out := rootSet{}
	covered := false
	for _, r := range s.Roots {
		covered = covered || reaches(r, path, sep)
		if !reaches(path, r, sep) || r == path {
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

// remove removes path. If a root is above it, path is excluded from that root.
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

// ownsBelow reports whether a root below dir, which the walk of dir does not reach, holds path.
func (s rootSet) ownsBelow(dir, path, sep string) bool {
	return slices.ContainsFunc(s.Roots, func(r string) bool {
		return within(path, r, sep) && within(r, dir, sep) && !reaches(dir, r, sep)
	})
}

// reaches reports whether a walk of dir visits path: it is dir or below it, and nothing between them is hidden.
func reaches(dir, path, sep string) bool {
	return within(path, dir, sep) && !strings.Contains(strings.TrimPrefix(path, strings.TrimSuffix(dir, sep)), sep+".")
}

// excludes reports whether path was removed by hand.
func (s rootSet) excludes(path, sep string) bool {
	return slices.ContainsFunc(s.Excluded, func(e string) bool { return within(path, e, sep) })
}

// within reports whether path is dir or below it.
func within(path, dir, sep string) bool {
	above := strings.TrimSuffix(dir, sep)
	return path == dir || strings.HasPrefix(path, above) && strings.HasPrefix(path[len(above):], sep) || dir == "."
}

// pathSet is a set of files and folders, without separators at their ends.
type pathSet map[string]bool

// hold reports whether path or a folder above it is in the set.
func (s pathSet) hold(path, sep string) bool {
	for p := range above(path, sep) {
		if s[p] {
			return true
		}
	}
	return s["."]
}

// above yields a path and the folders above it, from the deepest up. The topmost of an absolute path is "".
func above(path, sep string) iter.Seq[string] {
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
