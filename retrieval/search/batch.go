package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// AddAll is Add for several files and folders in one write, which takes little longer than for a folder with all of
// them. It returns a report for each that it began with. If there is no such file, those before it stay in the index;
// the last report and the error are of that one.
func (x *Index) AddAll(ctx context.Context, paths []string, progress func(Progress)) ([]Report, error) {
	return writeFunc(x.write).addAll(ctx, paths, progress)
}

// NotIndexedError says which files and folders of several the index holds nothing of. It is an ErrNotIndexed.
type NotIndexedError struct{ Paths []string }

func (e *NotIndexedError) Error() string {
	return fmt.Sprintf("%v: %s", ErrNotIndexed, strings.Join(e.Paths, ", "))
}

// Is reports whether the error is ErrNotIndexed.
func (e *NotIndexedError) Is(target error) bool { return target == ErrNotIndexed }

// RemoveAll is Remove for several files and folders in one write. It returns a report for each. If the index holds
// nothing of some, the others are removed, and the error is a NotIndexedError.
func (x *Index) RemoveAll(ctx context.Context, paths []string) ([]Report, error) {
	return writeFunc(x.write).removeAll(ctx, paths)
}

// writeFunc runs a change as one write.
type writeFunc func(ctx context.Context, change func(*update) error) (Report, error)

// add adds the file or folder at path. It writes nothing if that cannot be read.
func (w writeFunc) add(ctx context.Context, path string, progress func(Progress)) (Report, error) {
	if err := checkReadable(path); err != nil {
		return Report{}, err
	}
	return w(ctx, func(u *update) error {
		root, err := u.rootPath(path)
		if err != nil {
			return err
		}
		return u.addRoot(ctx, root, progress)
	})
}

func (w writeFunc) addAll(ctx context.Context, paths []string, progress func(Progress)) ([]Report, error) {
	return w.forEachPath(ctx, paths, func(u *update, path string) (refused, err error) {
		if refused = checkReadable(path); refused != nil {
			return refused, nil
		}
		root, refused := u.rootPath(path)
		if refused != nil {
			return refused, nil
		}
		return nil, u.addRoot(ctx, root, progress)
	})
}

func (w writeFunc) removeAll(ctx context.Context, paths []string) ([]Report, error) {
	var removed, unknown []string
	reports, err := w.forEachPath(ctx, paths, func(u *update, path string) (refused, err error) {
		switch err = u.remove(path); {
		case err == nil:
			removed = append(removed, path)
		case errors.Is(err, ErrNotIndexed):
			if !slices.ContainsFunc(removed, func(r string) bool { return within(path, r, sep) }) {
				unknown = append(unknown, path)
			}
			err = nil
		}
		return nil, err
	})
	if err == nil && len(unknown) > 0 {
		err = &NotIndexedError{unknown}
	}
	return reports, err
}

// forEachPath calls change with one path after the other, in one write, up to the first that it refuses. It returns a
// report for each call. An error besides refused makes the whole write fail.
func (w writeFunc) forEachPath(ctx context.Context, paths []string, change func(*update, string) (refused, err error)) (reports []Report, err error) {
	var refused error
	whole, err := w(ctx, func(u *update) (err error) {
		for i := 0; i < len(paths) && err == nil && refused == nil; i++ {
			u.report = Report{}
			refused, err = change(u, paths[i])
			reports = append(reports, u.report)
		}
		return err
	})
	for i := range reports {
		reports[i].Passages = whole.Passages
	}
	return reports, cmp.Or(err, refused)
}
