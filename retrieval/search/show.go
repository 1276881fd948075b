package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/blevesearch/bleve/v2"

	"tandem/retrieval/passages"
)

// SkippedError says that the index holds nothing of a file, and why. It is an ErrNotIndexed.
type SkippedError struct{ Path, Reason string }

func (e *SkippedError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrNotIndexed, e.Path, e.Reason)
}
func (e *SkippedError) Unwrap() error { return ErrNotIndexed }

// Show returns an indexed file and its passages, in the order of the file. The error wraps ErrNotIndexed if the index holds
// no passage of it; it is a SkippedError if the file was visited.
func (x *Index) Show(ctx context.Context, path string) (file SourceInfo, list []passages.Passage, err error) {
	paths, err := PossiblePaths(path)
	if err != nil {
		return file, nil, fmt.Errorf("show from index: %w", err)
	}
	err = x.view(func(b bleve.Index) (err error) {
		var r record
		at := len(paths)
		err = eachRecord(ctx, b, func(one record) {
			if i := slices.Index(paths, one.Path); i >= 0 && i < at {
				r, at = one, i
			}
		})
		switch {
		case err != nil:
			return err
		case r.Skip != "":
			return &SkippedError{path, r.Skip}
		case len(r.Passages) == 0:
			return fmt.Errorf("%w: %s", ErrNotIndexed, path)
		}
		file = r.info()
		f, err := newFinder(b)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		for _, id := range r.Passages {
			p, err := f.passage(id)
			if err != nil {
				return err
			}
			list = append(list, p)
		}
		return nil
	})
	if err != nil {
		return file, nil, fmt.Errorf("show from index: %w", err)
	}
	return file, list, nil
}
