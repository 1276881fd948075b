package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
)

// SourceInfo describes an indexed file.
type SourceInfo struct {
	Path     string
	Title    string
	Size     int64
	Modified time.Time
	Passages int
}

// List returns the indexed files in order of their paths.
func (x *Index) List() ([]SourceInfo, error) {
	var out []SourceInfo
	err := x.view(func(b bleve.Index) error {
		return eachRecord(context.Background(), b, func(r record) {
			if len(r.Passages) > 0 {
				out = append(out, r.info())
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list index: %w", err)
	}
	sortByPath(out)
	return out, nil
}

// Info describes the indexed file at a path that a passage names. The error wraps ErrNotIndexed if there is none.
func (x *Index) Info(ctx context.Context, path string) (info SourceInfo, err error) {
	err = x.view(func(b bleve.Index) error {
		return eachRecord(ctx, b, func(r record) {
			if r.Path == path && len(r.Passages) > 0 {
				info = r.info()
			}
		})
	})
	if err == nil && info.Path == "" {
		err = fmt.Errorf("%w: %s", ErrNotIndexed, path)
	}
	return info, err
}

// Root returns the file or folder that was added and that holds path, the one nearest to it; "" for none.
func (x *Index) Root(ctx context.Context, path string) (root string, err error) {
	if x.dir == "" {
		return "", nil
	}
	from, err := sourcesOf(ctx, x.dir)
	for _, r := range from.Roots {
		if within(path, r, sep) && len(r) > len(root) {
			root = r
		}
	}
	return root, err
}

// Empty reports whether the index holds no passage. It is faster than List.
func (x *Index) Empty() (empty bool, err error) {
	const some = 16
	empty = true
	err = x.view(func(b bleve.Index) error {
		request := bleve.NewSearchRequestOptions(bleve.NewMatchAllQuery(), some, 0, false)
		request.Fields, request.Score = []string{fieldSource}, "none"
		found, err := b.Search(request)
		if err != nil {
			return err
		}
		for _, hit := range found.Hits {
			if _, is := hit.Fields[fieldSource]; is { // a passage; other documents are records of files without text
				empty = false
				return nil
			}
		}
		if n, err := b.DocCount(); err != nil || n <= some {
			return err
		}
		return eachRecord(context.Background(), b, func(r record) { empty = empty && len(r.Passages) == 0 })
	})
	if err != nil {
		return false, fmt.Errorf("search index: %w", err)
	}
	return empty, nil
}

// list returns the files that have passages, in order of their paths.
func (r records) list() (out []SourceInfo) {
	for _, f := range r.files {
		if len(f.Passages) > 0 {
			out = append(out, f.info())
		}
	}
	sortByPath(out)
	return out
}

func sortByPath(files []SourceInfo) {
	slices.SortFunc(files, func(a, b SourceInfo) int { return strings.Compare(a.Path, b.Path) })
}
