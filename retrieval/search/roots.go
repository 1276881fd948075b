package search

import (
	"slices"
)

// rootSet is what Refresh walks.
type rootSet struct {
	Roots    []string `json:"roots"`    // files and folders that were added
	Excluded []string `json:"excluded"` // below a root, but removed by hand
}

var rootsKey = []byte("tandem.roots")

// add adds a root. A root that the walk of another one reaches is left out, unless it is below what was removed by hand;
// a root replaces those that its own walk reaches.
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
		if under(e, path) {
			continue
		}
		out.Excluded = append(out.Excluded, e)
		if covered && under(path, e) { // it alone comes back
			out.Roots, covered = append(out.Roots, path), false
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

// excludes reports whether path was removed by hand, and neither it nor a folder above it was added again.
func (s rootSet) excludes(path, sep string) bool {
	return slices.ContainsFunc(s.Excluded, func(e string) bool {
		return within(path, e, sep) && !slices.ContainsFunc(s.Roots, func(r string) bool { return within(r, e, sep) && within(path, r, sep) })
	})
}
