package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names is what a section has named so far, and in which unit: people by their first names, things by their
// heads ("hall" for "the hillside town hall").
type names struct {
	people, heads map[string]int
	topic         int // the unit that last named what the text is about; -1 for none
}

func newNames() *names { return &names{people: map[string]int{}, heads: map[string]int{}, topic: -1} }

// place says which unit the sentence that is about to become unit at leans on, -1 for none, and takes over
// what it names.
func (n *names) place(sentence, titles string, at int) int {
	on, leans := n.leans(sentence, titles)
	if leans && on < 0 {
		on = n.topic
	}
	switch {
	case on >= 0:
		n.topic = on
	case leans || namesSomething(sentence):
		n.topic = at
	}
	n.add(sentence, at)
	return on
}

// add takes over the names in s: of people, two capitalised words in a row; of things, a noun with a word
// before it that says which. The first mention counts.
func (n *names) add(s string, at int) {
	fields := strings.Fields(s)
	for i := 1; i < len(fields); i++ {
		first, word := fields[i-1], trimWord(fields[i])
		if isName(first) && isName(word) && !leaders[strings.ToLower(first)] {
			n.people[first] = at
		}
		if _, ok := n.heads[word]; !ok && isNoun(word) && first == trimWord(first) && !plainWords[strings.ToLower(first)] {
			n.heads[word] = at
		}
	}
}

func trimWord(s string) string { return strings.Trim(s, ".,;:!?'’\"()") }

// isNoun reports whether a word might be a noun that names a thing: long enough, in lower case.
func isNoun(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return len(word) > 2 && unicode.IsLower(r) && !plainWords[word]
}

func isName(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	next, _ := utf8.DecodeRuneInString(word[size:])
	return unicode.IsUpper(r) && unicode.IsLower(next)
}

// leans reports whether a sentence cannot be understood without one before, and which if that is plain: it
// begins with a pronoun, with the first name of somebody who has been named in full, calls a thing that has
// been named by its head alone ("the hall"), or speaks of a thing without saying whose it is ("The spare key is
// kept …", "Fee: 8 euros"), and titles do not name it either.
func (n *names) leans(sentence, titles string) (on int, leans bool) {
	sentence, _ = cutMarker(sentence)
	fields := strings.Fields(sentence)
	if len(fields) == 0 {
		return -1, false
	}
	first := strings.Trim(fields[0], ".,;:!?")
	word := strings.ToLower(first)
	if bare, _, ok := strings.Cut(word, "'"); ok && leaning[bare] || leaning[word] { // "it's"
		return -1, true
	}
	owner := strings.TrimSuffix(strings.TrimSuffix(first, "'s"), "’s")
	if at, ok := n.people[owner]; ok && (len(fields) == 1 || !isName(fields[1])) {
		return at, true
	}
	if at, ok := n.short(fields, titles); ok {
		return at, true
	}
	if saysWhose(fields, titles) {
		return -1, false
	}
	for _, f := range fields[1:] {
		if w := strings.ToLower(trimWord(f)); w == "it" || w == "its" || w == "here" {
			return -1, true
		}
	}
	return -1, articles[word] || strings.Contains(strings.Join(fields[:min(len(fields), 6)], " "), ": ")
}

// short finds a thing that has been named before and is called by its head alone now.
func (n *names) short(fields []string, titles string) (at int, ok bool) {
	for i := 1; i < len(fields); i++ {
		w := trimWord(fields[i])
		if !strings.EqualFold(fields[i-1], "the") || titled(titles, w) {
			continue
		}
		after := "" // "the driver of …", "the door code": more is said than the head
		if i+1 < len(fields) && fields[i] == w {
			after = strings.ToLower(trimWord(fields[i+1]))
		}
		if at, ok := n.heads[w]; ok && after != "of" && (after == "" || verbs[after] || plainWords[after]) {
			return at, true
		}
	}
	return 0, false
}

// namesSomething reports whether a sentence that does not lean names what it is about.
func namesSomething(sentence string) bool {
	sentence, _ = cutMarker(sentence)
	fields := strings.Fields(sentence)
	if len(fields) == 0 {
		return false
	}
	return possessive(trimWord(fields[0])) || slices.ContainsFunc(fields[1:], isName) || saysWhose(fields, "")
}

func possessive(word string) bool {
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s") || strings.HasSuffix(word, "s'")
}

func titled(titles, word string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(titles), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), strings.ToLower(word))
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
		case relations[word], isName(f), possessive(word):
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
	// plainWords are no nouns and say of no noun which one it is.
	plainWords = wordSet(`the a an this that these those my our your his her its their of for at from to in on between with by into under over
 and or but not now also here there then still very every each all any both is are was were be been has have had can could will would may must
 costs opens closes begins starts ends takes lasts comes holds stands lies serves weighs belongs bakes amounts works stays eats current old new`)
	leaders = wordSet("the a an my our your mr mrs ms dr remember note since in on at for")
)
