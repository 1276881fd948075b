package search

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// NameTerms returns the terms of the name of a passage's file that its title does not have. They count less than those of the
// text: a name may be old, or say little.
func NameTerms(p passages.Passage) []string {
	titled := Terms(p.Title)
	return slices.DeleteFunc(Terms(nameOf(p.Source)), func(t string) bool { return slices.Contains(titled, t) })
}

// nameOf returns the name of a file without its extension, words that many names have, numbers and codes.
func nameOf(source string) string {
	name := filepath.Base(source)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return nameWord.ReplaceAllStringFunc(strings.ReplaceAll(words.Composed(name), "_", " "), func(word string) string {
		if genericNames[strings.ToLower(word)] || strings.ContainsAny(word, "0123456789") {
			return ""
		}
		return word
	})
}

var nameWord = regexp.MustCompile(`[\pL\pN]+`)

// genericNames are words of names that do not say what a file is about.
var genericNames = words.Set(`note notes notiz notizen readme index untitled unbenannt document dokument file datei text page
	scan img image photo screenshot dsc copy kopie draft final new neu backup export download temp tmp test main default`)
