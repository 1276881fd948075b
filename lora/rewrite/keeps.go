package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var numberPattern = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)

// droppable are words at the beginning of a sentence that a version may leave out. Other capitalised words there may be
// names.
var droppable = set("sorry thanks thank hi hey hello dear yo fyi look listen well so and but honestly just tell give gimme want wanna let stop hurry shut can don won okay ok oops nope yeah cheers many make be hopefully bye hand remember see")

// Keeps reports whether a version contains the numbers of a sentence, equally often, all of its names as whole words, and no
// other names. Names are words with a capital within a sentence and, at its beginning, all words that are not in a list of
// common ones; a version may write those in lower case.
func Keeps(sentence, version string) bool {
	before, after := numberPattern.FindAllString(sentence, -1), numberPattern.FindAllString(version, -1)
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		return false
	}
	had, has := namedWords(sentence), namedWords(version)
	for _, w := range had {
		low := strings.ToLower(w.text)
		if w.begins && (droppable[low] || noOrder[low] || asking[low]) {
			continue
		}
		if !slices.ContainsFunc(has, func(v named) bool { return v.text == w.text || w.begins && strings.EqualFold(v.text, w.text) }) && (w.begins || w.capital) {
			return false
		}
	}
	return !addsNames(had, has)
}

// NumbersOff returns the numbers that a version lacks, and those that only it has.
func NumbersOff(text, version string) (lost, new []string) {
	had, has := numberPattern.FindAllString(text, -1), numberPattern.FindAllString(version, -1)
	lost = slices.DeleteFunc(slices.Clone(had), func(n string) bool { return slices.Contains(has, n) })
	return lost, slices.DeleteFunc(has, func(n string) bool { return slices.Contains(had, n) })
}

// adds reports whether a summary has numbers or names that a text lacks.
func adds(text, summary string) bool {
	numbers := numberPattern.FindAllString(text, -1)
	for _, n := range numberPattern.FindAllString(summary, -1) {
		if !slices.Contains(numbers, n) {
			return true
		}
	}
	return addsNames(namedWords(text), namedWords(summary))
}

func addsNames(had, has []named) bool {
	for _, w := range has {
		if w.capital && !w.begins && !slices.ContainsFunc(had, func(v named) bool { return strings.EqualFold(v.text, w.text) }) {
			return true
		}
	}
	return false
}

// named is a word that may be a name.
type named struct {
	text            string
	begins, capital bool // it begins a sentence or a quotation; it has a capital and is not "I"
}

func namedWords(text string) (list []named) {
	begins := true
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) {
			begins = begins || strings.ContainsRune(".!?:\"“", r)
			i += n
			continue
		}
		end := i + strings.IndexFunc(text[i:]+" ", func(r rune) bool { return !unicode.IsLetter(r) })
		list = append(list, named{text[i:end], begins, unicode.IsUpper(r) && text[i:end] != "I"})
		begins, i = false, end
	}
	return list
}
