package search

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// SharedWords returns the words of a query, in lower case, that a passage has in any form, without function words. A passage
// that has none was found by words that are related to these, or spelt like them.
func SharedWords(query string, p passages.Passage) []string {
	has := map[string]bool{}
	for _, t := range slices.Concat(Terms(p.Title), Terms(p.Text), NameTerms(p)) {
		has[t] = true
	}
	shared := []string{}
	for _, word := range strings.FieldsFunc(words.Composed(strings.ToLower(query)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if term, ok := oneTerm(word); ok && has[term] && !isFunctionWord(term) && !slices.Contains(shared, word) {
			shared = append(shared, word)
		}
	}
	return shared
}
