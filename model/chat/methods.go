package chat

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// pythonMethods are the methods of texts in which the engine differs from Python: optional arguments, a limit of
// splits, several prefixes or suffixes.
var pythonMethods = map[string]exec.Method[string]{
	"split":  func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return split(s, arguments{a}, false) },
	"rsplit": func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return split(s, arguments{a}, true) },
	"replace": func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) {
		old, by := arguments{a}.get(0, "old"), arguments{a}.get(1, "new")
		if !old.IsString() || !by.IsString() {
			return nil, errors.New("replace takes two texts")
		}
		return strings.Replace(s, old.String(), by.String(), arguments{a}.most(2, "count")), nil
	},
	"strip":      func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return strip(s, a, true, true) },
	"lstrip":     func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return strip(s, a, true, false) },
	"rstrip":     func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return strip(s, a, false, true) },
	"startswith": func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return with(s, a, strings.HasPrefix) },
	"endswith":   func(s string, _ *exec.Value, a *exec.VarArgs) (any, error) { return with(s, a, strings.HasSuffix) },
}

// most returns an argument that limits a count, or -1 if it is omitted.
func (a arguments) most(i int, name string) int {
	if v := a.get(i, name); !v.IsNil() {
		return v.Integer()
	}
	return -1
}

// split splits a text at separators or at white space, like str.split, or like str.rsplit with last.
func split(s string, a arguments, last bool) (any, error) {
	sep, most := a.get(0, "sep"), a.most(1, "maxsplit")
	if !sep.IsNil() && (!sep.IsString() || sep.String() == "") {
		return nil, errors.New("split needs a separator that is not empty")
	}
	next := cutter(sep, last)
	switch {
	case sep.IsNil() && last:
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	case sep.IsNil():
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	parts := []string{}
	for found := true; found && (s != "" || !sep.IsNil()); most-- {
		part, rest := s, ""
		if found = most != 0; found {
			part, rest, found = next(s)
		}
		parts, s = append(parts, part), rest
	}
	if last {
		slices.Reverse(parts)
	}
	return parts, nil
}

// cutter returns a function that cuts off the first part of a text, or the last.
func cutter(sep *exec.Value, last bool) func(s string) (part, rest string, found bool) {
	switch by := sep.String(); {
	case sep.IsNil() && last:
		return func(s string) (string, string, bool) {
			i := strings.LastIndexFunc(s, unicode.IsSpace)
			if i < 0 {
				return s, "", false
			}
			_, size := utf8.DecodeRuneInString(s[i:])
			return s[i+size:], strings.TrimRightFunc(s[:i], unicode.IsSpace), true
		}
	case sep.IsNil():
		return func(s string) (string, string, bool) {
			i := strings.IndexFunc(s, unicode.IsSpace)
			if i < 0 {
				return s, "", false
			}
			return s[:i], strings.TrimLeftFunc(s[i:], unicode.IsSpace), true
		}
	case last:
		return func(s string) (string, string, bool) {
			i := strings.LastIndex(s, by)
			if i < 0 {
				return s, "", false
			}
			return s[i+len(by):], s[:i], true
		}
	default:
		return func(s string) (string, string, bool) { return strings.Cut(s, by) }
	}
}

// strip trims white space, or the given characters.
func strip(s string, a *exec.VarArgs, left, right bool) (any, error) {
	chars := arguments{a}.get(0, "chars")
	if !chars.IsNil() && !chars.IsString() {
		return nil, errors.New("strip takes a text of characters")
	}
	cut := unicode.IsSpace
	if !chars.IsNil() {
		cut = func(r rune) bool { return strings.ContainsRune(chars.String(), r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s, nil
}

// with reports whether a text has one of several prefixes or suffixes.
func with(s string, a *exec.VarArgs, has func(s, part string) bool) (any, error) {
	if len(a.Args) != 1 {
		return nil, errors.New("startswith and endswith take a text or a tuple of texts")
	}
	if v := a.Args[0]; v.IsString() {
		return has(s, v.String()), nil
	}
	found := false
	a.Args[0].Iterate(func(_, _ int, v, _ *exec.Value) bool {
		found = v.IsString() && has(s, v.String())
		return !found
	}, func() {})
	return found, nil
}
