package jinja

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/rangetable"
)

// Python's changes of case may make several letters of one, and look at the letters around: ß becomes SS, and a sigma at the end
// of a word ς. A cases.Caser keeps state, so each call makes one.

func upper(s string) string { return cases.Upper(language.Und).String(s) }
func lower(s string) string { return cases.Lower(language.Und).String(s) }
func fold(s string) string  { return cases.Fold().String(s) }

// special returns the lower-case letters that a caser makes several letters.
func special(c cases.Caser) map[rune]string {
	out := map[rune]string{}
	rangetable.Visit(unicode.Lower, func(r rune) {
		if s := c.String(string(r)); utf8.RuneCountInString(s) > 1 {
			out[r] = s
		}
	})
	return out
}

var (
	specialTitles = sync.OnceValue(func() map[rune]string { return special(cases.Title(language.Und)) })
	specialUppers = sync.OnceValue(func() map[rune]string { return special(cases.Upper(language.Und)) })
)

// titled is a letter as it begins a word.
func titled(r rune) string {
	return cmp.Or(specialTitles()[r], string(unicode.ToTitle(r)))
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return titled(r) + lower(s)[len(lower(s[:n])):]
}

// title is the method of texts: each letter behind another character than a letter begins a word.
func title(s string) string {
	var b strings.Builder
	within := false
	for _, r := range s {
		if within {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteString(titled(r))
		}
		within = isCased(r)
	}
	return b.String()
}

var words = regexp.MustCompile(`[^-\s\v\x1c-\x1f\x{85}\pZ({\[<]+`)

// filterTitle is the filter title, which is not the method: words begin after white space, hyphens and opening brackets only.
func filterTitle(m *machine, x any, _ *arguments) any {
	s := m.str(x)
	m.work(8 * len(s)) // an expression goes character by character
	m.alloc(6 * len(s))
	return words.ReplaceAllStringFunc(s, func(word string) string {
		m.step()
		_, n := utf8.DecodeRuneInString(word)
		return upper(word[:n]) + lower(word[n:])
	})
}

func swapCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsLower(r):
			b.WriteString(cmp.Or(specialUppers()[r], string(unicode.ToUpper(r))))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isCased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

// isLower reports whether a text has letters that have a case, and all are lower case.
func isLower(s string) bool { return allCased(s, unicode.IsLower) }

// isUpper is isLower for upper case.
func isUpper(s string) bool { return allCased(s, unicode.IsUpper) }

func allCased(s string, is func(rune) bool) bool {
	return strings.ContainsFunc(s, is) && !strings.ContainsFunc(s, func(r rune) bool { return isCased(r) && !is(r) })
}
