package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/internal/words"
)

// apart returns a pattern that matches any of some alternatives without a letter or a digit before or after it. The \b
// of package regexp would do if it knew more letters than those of English. A match has the characters around it, too.
func apart(alternatives string) string {
	return `(?:^|[^\pL\pN])(?:` + alternatives + `)(?:[^\pL\pN]|$)`
}

// excluding returns the words that are not in a set.
func excluding(words []string, in map[string]bool) (out []string) {
	for _, w := range words {
		if !in[w] {
			out = append(out, w)
		}
	}
	return out
}

// countable reports whether a word may belong to the name of what is counted.
func countable(word string) bool { return len(words.Content(word)) > 0 }

// hasAnyWord reports whether a text has one of some words in lower case.
func hasAnyWord(text string, words []string) bool {
	return slices.ContainsFunc(letterWords(text), func(word string) bool { return slices.Contains(words, word) })
}

// letterWords returns a text's words of letters, in small ones.
func letterWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
}

// namesIn returns the words of a question that are written like names, in lower case.
func namesIn(question string) (out []string) {
	for i, word := range strings.Fields(question) {
		word = strings.Trim(word, `?!.,;:"'()`)
		word = words.WithoutPossessive(word)
		if i > 0 && capitalized.MatchString(word) && len(words.Content(word)) > 0 && !noName.MatchString(word) {
			out = append(out, strings.ToLower(word))
		}
	}
	return out
}

// capitalized matches a word with a capital: "Emil".
var capitalized = regexp.MustCompile(`^\p{Lu}[\pL-]+$`)

// noName matches what is written like a name and is none: a day of the week, a month, or a title before a name:
// "Monday", "Mr".
var noName = regexp.MustCompile(`(?i)^(?:` + aMonth + `|` + words.Weekdays + `|mon|tue|wed|thu|fri|sat|sun|mr|mrs|ms|miss|dr|prof|easter|christmas)$`)

// nameWords returns the words of a question with a capital, without its first.
func nameWords(question string) (out []string) {
	for i, w := range strings.Fields(question) {
		if i > 0 && w != strings.ToLower(w) {
			out = append(out, strings.TrimSuffix(strings.Trim(w, "?.,!"), "'s"))
		}
	}
	return out
}

// aName matches a name of one or more words: "Anna Roth".
var aName = regexp.MustCompile(`\p{Lu}[\pL'’-]+(?: \p{Lu}[\pL'’-]+)*`)
