package retrieval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// names are the people that a section has named so far: by first name whether in full.
type names map[string]bool

// add takes over the full names in s: two capitalised words in a row, the first not at a sentence's start
// only because every sentence starts with a capital.
func (n names) add(s string) {
	fields := strings.Fields(s)
	for i := 1; i < len(fields); i++ {
		if first := fields[i-1]; isName(first) && isName(strings.Trim(fields[i], ".,;:!?'’")) && !leaders[strings.ToLower(first)] {
			n[first] = true
		}
	}
}

func isName(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	next, _ := utf8.DecodeRuneInString(word[size:])
	return unicode.IsUpper(r) && unicode.IsLower(next)
}

// leans reports whether a sentence cannot be understood without the one before: it begins with a pronoun,
// with the first name of somebody who has been named in full, or speaks of a thing without saying whose it
// is ("The spare key is kept …", "Fee: 8 euros"), and titles do not name it either.
func (n names) leans(sentence, titles string) bool {
	sentence, _ = cutMarker(sentence)
	fields := strings.Fields(sentence)
	if len(fields) == 0 {
		return false
	}
	first := strings.Trim(fields[0], ".,;:!?")
	word := strings.ToLower(first)
	if bare, _, ok := strings.Cut(word, "'"); ok && leaning[bare] || leaning[word] { // "it's"
		return true
	}
	if owner := strings.TrimSuffix(strings.TrimSuffix(first, "'s"), "’s"); n[owner] && (len(fields) == 1 || !isName(fields[1])) {
		return true
	}
	return (articles[word] || strings.Contains(strings.Join(fields[:min(len(fields), 6)], " "), ": ")) && !saysWhose(fields, titles)
}

// saysWhose reports whether the subject of a sentence names somebody or something in particular: by a
// name, an "of" or a word of the titles.
func saysWhose(fields []string, titles string) bool {
	titles = " " + strings.ToLower(titles) + " "
	for i, f := range fields {
		word := strings.ToLower(strings.Trim(f, ".,;:!?"))
		switch {
		case i == 0 && strings.HasSuffix(f, ":"):
			return false // a label
		case i == 0: // an article, or a capital that begins the sentence
		case verbs[word] || i >= 10:
			return false
		case relations[word], isName(f), strings.HasSuffix(word, "'s"), strings.HasSuffix(word, "’s"), strings.HasSuffix(word, "s'"):
			return true
		case len(word) > 2 && strings.Contains(titles, " "+word+" "):
			return true
		case strings.HasSuffix(f, ":"):
			return false
		}
	}
	return false
}

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

var (
	leaning = wordSet("it its he she him his her hers they them their theirs this that these those there here we our us such both")
	// articles begin a sentence that may leave out whose thing it speaks of.
	articles  = wordSet("the as")
	relations = wordSet("of for at from to in on between with")
	verbs     = wordSet(`is are was were be has have had can could will would may must costs opens closes begins starts ends takes
 lasts comes holds stands lies serves weighs belongs bakes amounts works stays eats`)
	leaders = wordSet("the a an my our your mr mrs ms dr remember note since in on at for")
)
