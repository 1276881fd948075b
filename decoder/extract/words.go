package extract

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
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

// countable reports whether a word may belong to the name of what is counted: it is no function word.
func countable(word string) bool { return len(words.Content(word)) > 0 }

// hasAnyWord reports whether a text has one of some words in lower case.
func hasAnyWord(text string, words []string) bool {
	return slices.ContainsFunc(letterWords(text), func(word string) bool { return slices.Contains(words, word) })
}

// letterWords returns a text's words of letters, in lower case.
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
var capitalized = lazyregexp.New(`^\p{Lu}[\pL-]+$`)

// noName matches what is written like a name and is none: a day of the week, a month, or a title before a name:
// "Monday", "Mr".
var noName = lazyregexp.New(`(?i)^(?:` + aMonth + `|` + words.Weekdays + `|mon|tue|wed|thu|fri|sat|sun|mr|mrs|ms|miss|dr|prof|easter|christmas)$`)

// aName matches a name of one or more words: "Anna Roth".
var aName = lazyregexp.New(`\p{Lu}[\pL'’-]+(?: \p{Lu}[\pL'’-]+)*`)

// asksOnly has the words of a question, such as "price", that say what is asked for and not of what.
var asksOnly = words.Set(`much many long far old often high tall big large heavy loud noisy weigh weighs cost costs price expensive pay last lasts take takes time start starts
	begin begins mean means called name value`)

// hasDigit reports whether a text has a digit.
func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// allWords returns the words and numbers of a text as they are spelt, function words too.
func allWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) })
}

// isWordRune reports whether a rune belongs to words or numbers.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// wordAt matches a word or a number: "max", "8080".
var wordAt = lazyregexp.New(`[\pL\pN]+`)

// unmentioned returns the words of a that are not in b, not even with a longer ending or in other words: "configuration"
// has "configure", and "usage" has "run".
func unmentioned(a, b []string) []string {
	return slices.DeleteFunc(words.Without(a, b), func(x string) bool {
		return slices.ContainsFunc(append([]string{x}, alike[x]...), func(x string) bool {
			return words.Has(b, x) || slices.ContainsFunc(b, func(y string) bool { return sameRoot(x, y) })
		})
	})
}

// sameRoot reports whether two words begin alike and differ in their endings.
func sameRoot(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= minRoot && n >= min(len(a), len(b))-2 || n >= 3 && n == len(a) && strings.HasSuffix(b, "ing") && len(b) <= n+4
}

// minRoot is how many bytes two words with different endings have in common.
const minRoot = 5

// alike has words for what people do with programs, and other words for the same in headings.
var alike = map[string][]string{
	"use": {"usage", "using", "example", "examples"}, "run": {"usage", "start", "running", "launch"}, "start": {"run", "launch", "starting"},
	"launch": {"run", "start"}, "execute": {"run", "usage"}, "upgrade": {"update", "upgrading", "migrate"}, "update": {"upgrade", "upgrading"},
	"migrate": {"upgrade", "upgrading"}, "delete": {"remove", "rm"}, "remove": {"delete", "rm"}, "compile": {"build"}, "build": {"compile"},
	"setup": {"install", "configure"},
}
