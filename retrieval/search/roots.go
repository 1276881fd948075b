package search

import (
	"maps"
	"slices"
)

// rootSet is what Refresh walks.
type rootSet struct {
	Roots    []string `json:"roots"`    // files and folders that were added
	Excluded []string `json:"excluded"` // below a root, but removed by hand
	// Patterns say what else is left out, by folder, as lines of an ignore file there do.
	Patterns map[string][]string `json:"patterns,omitempty"`
}

var rootsKey = []byte("tandem.roots")

// add adds a root, and takes back that it was removed by hand; what was removed below it stays out. A root that the walk of another
// one reaches is left out; a root replaces those that its own walk reaches.
func (s rootSet) add(path string, sep string) rootSet {
	out := rootSet{Excluded: slices.DeleteFunc(slices.Clone(s.Excluded), func(e string) bool { return e == path }), Patterns: s.Patterns}
	covered := false
	for _, r := range s.Roots {
		if r != path && out.reaches(path, r, sep) {
			continue
		}
		out.Roots = append(out.Roots, r)
		covered = covered || out.reaches(r, path, sep)
	}
	if !covered {
		out.Roots = append(out.Roots, path)
	}
	slices.Sort(out.Roots)
	return out
}

// remove removes path. If a root is above it, path is excluded from that root.
func (s rootSet) remove(path string, sep string) rootSet {
	out := rootSet{Patterns: maps.Clone(s.Patterns)}
	maps.DeleteFunc(out.Patterns, func(folder string, _ []string) bool { return within(folder, path, sep) })
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
		return within(path, r, sep) && within(r, dir, sep) && !s.reaches(dir, r, sep)
	})
}

// reaches reports whether the walk of dir indexes what is at path.
func (s rootSet) reaches(dir, path, sep string) bool {
	return reaches(dir, path, sep) && !s.excludes(dir, path, sep)
}

// equal reports whether two sets are the same.
func (s rootSet) equal(t rootSet) bool {
	return slices.Equal(s.Roots, t.Roots) && slices.Equal(s.Excluded, t.Excluded) && maps.EqualFunc(s.Patterns, t.Patterns, slices.Equal)
}

// excludes reports whether path was removed by hand from what the walk of dir visits.
func (s rootSet) excludes(dir, path, sep string) bool {
	return slices.ContainsFunc(s.Excluded, func(e string) bool { return within(path, e, sep) && !within(dir, e, sep) })
}
