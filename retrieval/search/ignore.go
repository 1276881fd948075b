package search

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// IgnoreName is the name of a file that says what is left out of its folder, in the syntax of gitignore.
const IgnoreName = ".tandemignore"

// maxIgnore is the most bytes that an ignore file may have.
const maxIgnore = 1 << 16

// ignoreRule is a line of an ignore file.
type ignoreRule struct {
	line     string
	segments []string // patterns of names; "**" is for any number of names
	folder   bool     // it is for folders alone
	again    bool     // what it matches is not left out
}

// matchSyntax writes a pattern as path.Match reads it. An escaped bracket begins no class.
var matchSyntax = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[!", "[^")

// parseIgnoreLine reads a line of an ignore file. It returns nil for a comment or an empty line.
func parseIgnoreLine(line string) (*ignoreRule, error) {
	line = strings.TrimRight(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return nil, nil
	}
	r := &ignoreRule{line: line}
	pattern, again := strings.CutPrefix(line, "!")
	pattern, r.folder = strings.CutSuffix(pattern, "/")
	anchored := strings.Contains(pattern, "/")
	if r.again = again; !anchored {
		r.segments = []string{"**"}
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(matchSyntax.Replace(pattern), "/"), "/") {
		if _, err := path.Match(segment, ""); err != nil || segment == "" {
			return nil, fmt.Errorf("%q is not a pattern", line)
		}
		if segment != "**" || len(r.segments) == 0 || r.segments[len(r.segments)-1] != "**" {
			r.segments = append(r.segments, segment)
		}
	}
	if r.segments[len(r.segments)-1] == "**" { // all below a folder, without the folder
		r.segments = append(r.segments, "*")
	}
	return r, nil
}

// matches reports whether the rule is for a path, given as its names below the folder of the ignore file.
func (r *ignoreRule) matches(names []string) bool {
	at, i := 0, 0
	star, from := -1, 0 // the last "**", and the first name behind those that it stands for
	for i < len(names) {
		switch {
		case at < len(r.segments) && r.segments[at] == "**":
			star, from = at, i
			at++
			continue
		case at < len(r.segments):
			if ok, _ := path.Match(r.segments[at], names[i]); ok {
				at, i = at+1, i+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		at, i = star+1, from
	}
	return at == len(r.segments)
}

// parseIgnore reads the lines of an ignore file. Its patterns are for names with slashes.
func parseIgnore(lines []string) (rules []*ignoreRule, err error) {
	for i, line := range lines {
		r, err := parseIgnoreLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if r != nil {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// ignored says what is left out of the folders of a walk, by their ignore files and by patterns that were given for them.
type ignored struct {
	top   string              // the topmost folder whose rules count
	given map[string][]string // by folder; these lines come behind those of its file
	known map[string][]*ignoreRule
}

// rules returns those of a folder.
func (g *ignored) rules(folder string) ([]*ignoreRule, error) {
	if rules, ok := g.known[folder]; ok {
		return rules, nil
	}
	file := filepath.Join(folder, IgnoreName)
	text, err := readBounded(os.DirFS(folder), IgnoreName, maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", file, cause(err))
	}
	lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	rules, err := parseIgnore(slices.Concat(lines, g.given[folder]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	g.known[folder] = rules
	return rules, nil
}

// by returns the line by which a file or folder is left out, "" for none. A folder above it that is left out does not count.
func (g *ignored) by(source string, isFolder bool) (string, error) {
	var names []string
	for at := source; at != g.top && at != filepath.Dir(at); at = filepath.Dir(at) {
		names = slices.Insert(names, 0, filepath.Base(at))
		rules, err := g.rules(filepath.Dir(at))
		if err != nil {
			return "", err
		}
		for _, r := range slices.Backward(rules) {
			if (isFolder || !r.folder) && r.matches(names) {
				if r.again {
					return "", nil
				}
				return r.line, nil
			}
		}
	}
	return "", nil
}

// above returns the line by which what is at path, or a folder above it, is left out; "" for none.
func (g *ignored) above(path string, isFolder bool) (string, error) {
	if path == g.top || path == filepath.Dir(path) {
		return "", nil
	}
	if line, err := g.above(filepath.Dir(path), true); line != "" || err != nil {
		return line, err
	}
	return g.by(path, isFolder)
}

// ignoredIn returns what is left out of a walk of root. Where that is below a folder that was added, what is left out of the
// folder counts, too.
func (u *update) ignoredIn(root string) *ignored {
	g := &ignored{top: root, given: u.roots.Patterns, known: map[string][]*ignoreRule{}}
	for _, r := range u.roots.Roots {
		if u.roots.reaches(r, root, sep) {
			g.top = r
		}
	}
	return g
}

// excluding returns the set with other patterns for a folder.
func (s rootSet) excluding(folder string, patterns []string) (rootSet, error) {
	for _, p := range patterns {
		if _, err := parseIgnoreLine(p); err != nil {
			return s, fmt.Errorf("exclude: %w", err)
		}
	}
	s.Patterns = maps.Clone(s.Patterns)
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == "" })
	switch {
	case len(patterns) == 0:
		delete(s.Patterns, folder)
	case s.Patterns == nil:
		s.Patterns = map[string][]string{folder: patterns}
	default:
		s.Patterns[folder] = patterns
	}
	return s, nil
}
