package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Remove drops a file, or a folder with everything below it, whether or not it still exists. If it is below a folder that
// was added, it stays out until it is added again. The error wraps ErrNotIndexed if the index holds nothing of it.
func (x *Index) Remove(ctx context.Context, path string) (Report, error) {
	return x.write(ctx, func(u *update) error { return u.remove(path) })
}

// ErrNotIndexed is wrapped by the error of Remove if the index holds nothing below the path.
var ErrNotIndexed = errors.New("not in the index")

func (u *update) remove(path string) error {
	paths, err := PossiblePaths(path)
	if err != nil {
		return fmt.Errorf("remove from index: %w", err)
	}
	abs := paths[0]
	if i := slices.IndexFunc(paths, u.knows); i >= 0 {
		abs = paths[i]
	}
	isRoot := slices.ContainsFunc(u.roots.Roots, func(r string) bool { return within(r, abs, sep) })
	if err := u.dropAll(func(path string) bool { return within(path, abs, sep) }); err != nil {
		return err
	}
	if u.report.Removed == 0 && !isRoot {
		return fmt.Errorf("%w: %s", ErrNotIndexed, path)
	}
	return u.setRoots(u.roots.remove(abs, sep))
}

// knows reports whether a file, or one below a folder, is in the index or was added.
func (u *update) knows(path string) bool {
	if slices.ContainsFunc(u.roots.Roots, func(r string) bool { return within(r, path, sep) }) {
		return true
	}
	for p := range u.files {
		if within(p, path, sep) {
			return true
		}
	}
	return false
}
