package passages

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place returns a passage's title as people are shown it, without headings that repeat what stands before them: a page
// called "Zoo – Prices" often begins with the heading "Prices".
func Place(title string) string {
	var shown []string
	for _, h := range strings.Split(strings.TrimSpace(title), ": ") {
		said := names(h)
		n := len(shown)
		switch {
		case n > 0 && len(said) > 1 && slices.Equal(names(shown[n-1]), said[:1]), n > 0 && begins(h, shown[n-1]): // it says more than the one before
			shown[n-1] = h
		case !slices.ContainsFunc(shown, func(before string) bool { return len(said) == 1 && slices.Contains(names(before), said[0]) }):
			shown = append(shown, h)
		}
	}
	return strings.Join(shown, ": ")
}

// begins reports whether a heading begins with all words of the one before it.
func begins(heading, before string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(heading), strings.ToLower(before))
	next, _ := utf8.DecodeRuneInString(rest)
	return ok && before != "" && !unicode.IsLetter(next) && !unicode.IsDigit(next) && len(names(rest)) > 0
}

// betweenNames stands between the names of a page and of its site.
var betweenNames = regexp.MustCompile(` +[-–—|·] +`)

// names returns the names that a title consists of, in lower case and without punctuation.
func names(title string) (list []string) {
	for _, name := range betweenNames.Split(title, -1) {
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(words) > 0 {
			list = append(list, strings.Join(words, " "))
		}
	}
	return list
}
