package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names is what a section has named so far: people by their first names, things by their heads ("hall" for "the
// hillside town hall").
type names struct {
	people, heads map[string]mention
	topic         mention // the last that was named as what the text is about
}

// mention is where something was named, and how.
type mention struct {
	unit int    // -1 for nowhere
	name string // without an article; "" where it cannot be told from the sentence
}

var nowhere = mention{unit: -1}

func newNames() *names {
	return &names{people: map[string]mention{}, heads: map[string]mention{}, topic: nowhere}
}

// place says what the sentence that is about to become unit at leans on, and takes over what it names.
func (n *names) place(sentence, titles string, at int) mention {
	on, leans := n.leans(sentence, titles)
	if leans && on.unit < 0 {
		on = n.topic
	}
	switch {
	case on.unit >= 0:
		n.topic = on
	case leans: // on nothing but the title
		n.topic = mention{at, ""}
	case namesSomething(sentence), n.another(strings.Fields(sentence)):
		n.topic = mention{at, subject(sentence)}
	}
	n.add(sentence, at)
	return on
}

// add takes over the names in s: of people, two capitalised words in a row; of things, a noun with a word
// before it that says which. The first mention counts.
func (n *names) add(s string, at int) {
	s, _ = cutMarker(s)
	fields := strings.Fields(s)
	for i := 1; i < len(fields); i++ {
		first, word := fields[i-1], trimWord(fields[i])
		if isName(first) && isName(word) && !leaders[strings.ToLower(first)] {
			n.people[first] = mention{at, first + " " + bare(word)}
		}
		if _, ok := n.heads[word]; !ok && isNoun(word) && which(first) {
			from := i - 1
			for from > 0 && which(fields[from-1]) {
				from--
			}
			n.heads[word] = mention{at, strings.Join(append(slices.Clone(fields[from:i]), word), " ")}
		}
	}
}

// which reports whether a word before a noun says which it is.
func which(word string) bool { return word == trimWord(word) && !plainWords[strings.ToLower(word)] }

// subject returns what a sentence says something about, as far as that is plain: whose thing it is ("the late
// fee of the mountain pharmacy is", "the west brewery's owner"), else what stands before the verb. "" otherwise.
func subject(sentence string) string {
	sentence, _ = cutMarker(sentence)
	fields := strings.Fields(sentence)
	if len(fields) == 0 || leaning[strings.ToLower(fields[0])] {
		return ""
	}
	end, from := -1, 0
	for i, f := range fields {
		word := strings.ToLower(trimWord(f))
		if verbs[word] && i > 0 {
			end = i
			break
		}
		if possessive(trimWord(f)) || strings.ContainsAny(f[len(f)-1:], ",:") {
			end = i + 1
			break
		}
		if relations[word] && from == 0 {
			from = i + 1
		}
	}
	if end < 0 || from == 0 && isOf(fields[end:]) {
		return ""
	}
	named := fields[from:end]
	for i := range named {
		if strings.EqualFold(named[i], "the") || strings.EqualFold(named[i], "now") {
			named = named[i+1:]
			break
		}
	}
	const most = 5
	if len(named) == 0 || len(named) > most || len(named) == 1 && !isName(named[0]) {
		return ""
	}
	named = slices.Clone(named)
	named[len(named)-1] = bare(trimWord(named[len(named)-1]))
	return strings.Join(named, " ")
}

// isOf reports whether a sentence goes on as "is the founder of …": it is about either.
func isOf(fields []string) bool {
	at := slices.IndexFunc(fields, func(f string) bool { return relations[strings.ToLower(f)] })
	return at > 1 && at < 6 && !strings.ContainsAny(strings.Join(fields[:at], ""), ".,:;") && !slices.ContainsFunc(fields[1:at], isName)
}

// bare cuts the ending of a possessive off.
func bare(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
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
func (n *names) leans(sentence, titles string) (on mention, leans bool) {
	sentence, _ = cutMarker(sentence)
	fields := strings.Fields(sentence)
	if len(fields) == 0 {
		return nowhere, false
	}
	first := strings.Trim(fields[0], ".,;:!?")
	word := strings.ToLower(first)
	if bare, _, ok := strings.Cut(word, "'"); ok && leaning[bare] || leaning[word] { // "it's"
		return nowhere, true
	}
	if at, ok := n.people[bare(first)]; ok && (len(fields) == 1 || !isName(fields[1])) {
		return at, true
	}
	if at, ok := n.short(fields, titles); ok {
		return at, true
	}
	if unsaid(fields) {
		return nowhere, true
	}
	if saysWhose(fields, titles) || n.another(fields) {
		return nowhere, false
	}
	for _, f := range fields[1:] {
		if w := strings.ToLower(trimWord(f)); w == "it" || w == "its" || w == "here" {
			return nowhere, true
		}
	}
	return nowhere, articles[word] || strings.Contains(strings.Join(fields[:min(len(fields), 6)], " "), ": ")
}

// unsaid reports whether a sentence says what something is but not of what: "Ada is the conductor." ends in what
// she is, "As host, note Ada." begins with it.
func unsaid(fields []string) bool {
	if strings.EqualFold(fields[0], "as") {
		for _, f := range fields[1:min(len(fields), 5)] {
			if !isNoun(trimWord(f)) {
				return false
			}
			if strings.HasSuffix(f, ",") {
				return true
			}
		}
		return false
	}
	for i := len(fields) - 1; i > 1 && i > len(fields)-5; i-- {
		word := trimWord(fields[i])
		if strings.EqualFold(word, "the") {
			return i < len(fields)-1 && strings.EqualFold(fields[i-1], "is")
		}
		if !isNoun(word) || relations[word] || word != fields[i] && i < len(fields)-1 {
			return false
		}
	}
	return false
}

// short finds a thing that has been named before and is called by its head alone now.
func (n *names) short(fields []string, titles string) (at mention, ok bool) {
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
	return nowhere, false
}

// another reports whether a sentence begins with a thing of a kind that was named before, but not with that one:
// "The royal inn closes" after "the small inn".
func (n *names) another(fields []string) bool {
	if len(fields) == 0 || !strings.EqualFold(fields[0], "the") {
		return false
	}
	end := slices.IndexFunc(fields, func(f string) bool { return verbs[strings.ToLower(f)] })
	if end < 3 {
		return false
	}
	at, ok := n.heads[fields[end-1]]
	return ok && at.name != strings.Join(fields[1:end], " ") && !slices.ContainsFunc(fields[1:end], func(f string) bool { return relations[f] })
}

// namesSomething reports whether a sentence that does not lean names what it is about.
func namesSomething(sentence string) bool {
	sentence, _ = cutMarker(sentence)
	fields := strings.Fields(sentence)
	if len(fields) == 0 {
		return false
	}
	verb := slices.IndexFunc(fields, func(f string) bool { return verbs[strings.ToLower(f)] })
	return possessive(trimWord(fields[0])) || slices.ContainsFunc(fields[1:], isName) || saysWhose(fields, "") || verb > 0 && isOf(fields[verb:])
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
			return false // a label, as is "Spare key:"; "The lake cabin:" names a thing
		case i > 1 && i < 6 && strings.HasSuffix(f, ":") && fields[0] == "The":
			return true
		case i == 0: // an article, or a capital that begins the sentence
		case verbs[word] || i >= 10:
			return false
		case word == "of" && i+2 < len(fields) && isNoun(fields[i+1]) && verbs[fields[i+2]]: // "the number of rooms is": a kind, not whose
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
