package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/spelling"
)

// Lengths in characters.
const (
	minPart  = 4  // of a term that may be part of another
	minTypo  = 4  // of a term that may be misspelt
	twoTypos = 8  // of a term that may be misspelt twice
	maxTypo  = 40 // of a term that may be misspelt: an engine takes memory for each character
)

// isPart reports whether a term begins or ends with another, as compounds and derived words do.
func isPart(part, term string) bool {
	return utf8.RuneCountInString(part) >= minPart && (strings.HasPrefix(term, part) || strings.HasSuffix(term, part))
}

// maxTypos returns how many typing errors a term may have. Numbers and codes have none.
func maxTypos(term string) int {
	n := utf8.RuneCountInString(term)
	switch {
	case n < minTypo || n > maxTypo || strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsLetter(r) }):
		return 0
	case n < twoTypos:
		return 1
	}
	return 2
}

// alike reports whether one term may be the other, misspelt.
func alike(misspelt, term string) bool {
	a, b := []rune(misspelt), []rune(term)
	most := maxTypos(misspelt)
	if most == 0 || maxTypos(term) == 0 {
		return false
	}
	return spelling.Distance(a, b, most) <= most
}
