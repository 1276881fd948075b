package passages

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/terms"
)

// names is what a section has named so far: people by their first names, things by their heads ("hall" for "the
// hillside town hall").
type names struct {
	people, heads map[string]mention
	topic         mention // the last that was named as what the text is about
}

// mention is where something was named, and how.
type mention struct {
	unit   int    // -1 for nowhere
	name   string // without an article; "" where it cannot be told from the sentence
	person string // whom "she" would mean, where that is another: the founder of what is named
}

var nowhere = mention{unit: -1}

// meant returns the mention as a sentence means it that leans on it.
func (m mention) meant(sentence string) mention {
	first, _, _ := strings.Cut(sentence, " ")
	if m.person != "" && personal[strings.ToLower(english.TrimWord(first))] {
		m.name = m.person
	}
	return m
}

func newNames() *names {
	return &names{people: map[string]mention{}, heads: map[string]mention{}, topic: nowhere}
}

// place says what the sentence that is about to become unit at leans on, and takes over what it names.
func (n *names) place(sentence, titles string, at int) mention {
	on, leans := n.leans(sentence, titles)
	if leans && on.unit < 0 {
		on = n.topic.meant(sentence)
	}
	switch {
	case on.unit >= 0:
		if on != n.topic.meant(sentence) {
			n.topic = on
		}
	case leans: // on nothing but the title, unless "The inn was new" brings something in; "The owner is Rita" does not
		n.topic = nowhere
		fields := strings.Fields(unremarked(sentence))
		if strings.EqualFold(fields[0], "the") && slices.IndexFunc(fields, english.IsVerb) == 2 {
			if does := len(fields) > 3 && !english.Be[fields[2]]; does || !slices.ContainsFunc(fields[3:], isValue) {
				n.topic = mention{unit: at}
			}
		}
	case namesSomething(sentence):
		thing, person := subject(sentence)
		if known, ok := n.heads[thing]; ok { // "the lesson of the library", and which one is known
			thing = known.name
		} else if thing != "" && strings.HasPrefix(n.topic.name, thing+" of ") {
			thing = n.topic.name
		}
		n.topic = mention{at, thing, person}
	}
	if on.unit < 0 { // what leans speaks of a thing's parts: "As email address, note" names no address
		n.add(sentence, at)
	}
	return on
}

// add takes over the names in s: of people, two capitalised words in a row; of things, a noun with a word
// before it that says which, and at most maxTitle words in all: in a list of words each would be a name with all
// before it. The first mention counts.
func (n *names) add(s string, at int) {
	s, _ = english.CutMarker(s)
	fields := strings.Fields(s)
	for i := 1; i < len(fields); i++ {
		first, word := fields[i-1], english.TrimPossessive(english.TrimWord(fields[i]))
		if english.IsName(first) && english.IsName(word) && !leaders[strings.ToLower(first)] {
			n.people[first] = mention{unit: at, name: first + " " + word}
		}
		if _, ok := n.heads[word]; !ok && isNoun(word) && which(first) && !english.IsPossessive(first) {
			from := i - 1
			for from > max(0, i-documents.MaxTitle+1) && (which(fields[from-1]) || ages[fields[from-1]]) {
				from--
			}
			n.heads[word] = mention{unit: at, name: strings.Join(append(slices.Clone(fields[from:i]), word), " ")}
		}
	}
}

// isValue reports whether a word is a name, a number or a code: a sentence that ends in one says something of a thing that is known.
func isValue(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
}

// which reports whether a word before a noun says which it is.
func which(word string) bool {
	return word == english.TrimWord(word) && !plainWords[strings.ToLower(word)]
}

// unremarked cuts what only draws attention off a sentence: a list marker, "Note:", "Remember that".
func unremarked(sentence string) string {
	sentence, _ = english.CutMarker(sentence)
	for {
		word, rest, ok := strings.Cut(sentence, " ")
		if !ok || !english.Remarks[strings.ToLower(word)] {
			return sentence
		}
		sentence = rest
	}
}

// isOf reports whether a sentence goes on as "is the founder of …": it is about either.
func isOf(fields []string) bool {
	at := slices.IndexFunc(fields, func(f string) bool { return relations[strings.ToLower(f)] })
	return (english.Be[fields[0]] || fields[0] == "works") && at > 1 && at < 6 && !strings.ContainsAny(strings.Join(fields[:at], ""), ".,:;") && !slices.ContainsFunc(fields[1:at], english.IsName)
}

// isNoun reports whether a word might be a noun that names a thing: long enough, in lower case.
func isNoun(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return len(word) > 2 && unicode.IsLower(r) && !plainWords[word]
}

// leans reports whether a sentence cannot be understood without one before, and which if that is plain: it
// begins with a pronoun, with the first name of somebody who has been named in full, calls a thing that has
// been named by its head alone ("the hall"), or speaks of a thing without saying whose it is ("The spare key is
// kept …", "Fee: 8 euros"), and titles do not name it either.
func (n *names) leans(sentence, titles string) (on mention, leans bool) {
	fields := strings.Fields(unremarked(sentence))
	if len(fields) == 0 {
		return nowhere, false
	}
	first := strings.Trim(fields[0], ".,;:!?")
	word := strings.ToLower(first)
	if bare, _, ok := strings.Cut(word, "'"); (ok && english.Leaning[bare] || english.Leaning[word]) && !keeps(fields) { // "it's"
		return nowhere, true
	}
	if at, ok := n.first(fields); ok {
		return at, true
	}
	if at, ok := n.short(fields, titles); ok {
		return at, true
	}
	if unsaid(fields) || n.part(fields, titles) {
		return nowhere, true
	}
	if saysWhose(fields, titles) || acts(fields) {
		return nowhere, false
	}
	for _, f := range fields[1:] {
		if w := strings.ToLower(english.TrimWord(f)); w == "it" || w == "its" || w == "here" {
			return nowhere, true
		}
	}
	return nowhere, english.Articles[word] || strings.Contains(strings.Join(fields[:min(len(fields), 6)], " "), ": ")
}

// first finds somebody who has been named before and is called by the first name alone in the sentence's subject.
func (n *names) first(fields []string) (at mention, ok bool) {
	for i, f := range fields[:max(1, slices.IndexFunc(fields, english.IsVerb))] {
		alone := (i == 0 || !english.IsName(fields[i-1]) || english.IsPossessive(fields[i-1])) && (i+1 == len(fields) || !english.IsName(fields[i+1]) || english.IsPossessive(f))
		if at, ok := n.people[english.TrimPossessive(english.TrimWord(f))]; ok && alone {
			return at, true
		}
	}
	return nowhere, false
}

// unsaid reports whether a sentence says what something is but not of what: "Ada is the conductor." ends in what
// she is, "As host, note Ada." begins with it.
func unsaid(fields []string) bool {
	if strings.EqualFold(fields[0], "as") && len(fields) > 1 && fields[1] != "for" {
		for _, f := range fields[1:min(len(fields), 5)] {
			if !isNoun(english.TrimWord(f)) && !relations[f] && f != "the" {
				return false
			}
			if strings.HasSuffix(f, ",") {
				return true
			}
		}
		return false
	}
	for i := len(fields) - 1; i > 1 && i > len(fields)-6; i-- {
		word, last := english.TrimWord(fields[i]), i == len(fields)-1
		switch {
		case !last && i > 2 && word == "of" && (fields[i+1] == "a" || fields[i+1] == "an" || i == len(fields)-2): // "is the number of people"
		case word == "a", word == "an":
		case strings.EqualFold(word, "the"):
			return !last && (fields[i-1] == "is" || fields[i-1] == "are") && !slices.Contains(fields[:i], "of")
		case !isNoun(word) && !ages[word] && word != "current", english.IsPossessive(word), relations[word], word != fields[i] && !last:
			return false
		}
	}
	return false
}

// short finds a thing that has been named before and is called by its head alone now.
func (n *names) short(fields []string, titles string) (at mention, ok bool) {
	for i := 1; i < len(fields); i++ {
		w := english.TrimPossessive(english.TrimWord(fields[i]))
		if !strings.EqualFold(fields[i-1], "the") || titled(titles, w) {
			continue
		}
		after := "" // "the driver of …", "the door code": more is said than the head
		if i+1 < len(fields) && fields[i] == w {
			after = strings.ToLower(english.TrimWord(fields[i+1]))
		}
		if at, ok := n.heads[w]; ok && after != "of" && (after == "" || english.Verbs[after] || plainWords[after]) {
			return at, true
		}
	}
	return nowhere, false
}

// part reports whether fields begin with a label that speaks of a part that nobody has heard of: "Name of the dog: …" where no dog
// was named.
func (n *names) part(fields []string, titles string) bool {
	the := slices.Index(fields[:min(len(fields), 5)], "the")
	if the < 2 || the+2 >= len(fields) || !relations[fields[the-1]] || english.IsVerb(fields[0]) {
		return false
	}
	for _, f := range fields[1 : the-1] {
		if !isNoun(f) {
			return false
		}
	}
	noun, label := strings.CutSuffix(fields[the+1], ":")
	_, heard := n.heads[noun]
	return label && isNoun(noun) && !heard && !titled(titles, noun)
}

// setsOut reports whether a sentence begins with what it is about: "At the mill, …", "As for the mill, …".
func setsOut(fields []string) bool {
	first := strings.ToLower(fields[0])
	return (relations[first] || first == "as" && len(fields) > 1 && fields[1] == "for") &&
		slices.ContainsFunc(fields[1:min(len(fields), 8)], func(f string) bool { return strings.HasSuffix(f, ",") })
}

// numbered returns the words at the beginning of a sentence that name something by a number, "Night train 11"; 0 if
// it begins otherwise.
func numbered(fields []string) int {
	for i, f := range fields[:min(len(fields), 4)] {
		switch {
		case i == 0 && !(english.IsName(f) && !leaders[strings.ToLower(f)] && !relations[strings.ToLower(f)]):
			return 0
		case i > 0 && !strings.HasSuffix(f, ".") && strings.ContainsAny(f, "0123456789") && !unicode.IsLower(rune(f[0])):
			return i + 1
		case i > 0 && strings.ToUpper(f) == f && len(f) > 1 && !english.IsVerb(f): // "Server WG 39058"
		case i > 0 && !isNoun(f) || english.IsVerb(f):
			return 0
		}
	}
	return 0
}

// definite reports whether a sentence without names speaks of something in particular at all; "Thanks for reading" does not.
func definite(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool {
		f = strings.ToLower(f)
		return f == "the" || f == "my" || f == "our" || f == "of" || english.IsPossessive(f)
	}) || slices.ContainsFunc(fields[1:], func(f string) bool { return isValue(f) && unicode.IsUpper([]rune(f)[0]) })
}

// acts reports whether a sentence begins with a thing or somebody that does what only something in particular does:
// "The big market hall charges", "The mill was built", "Brenn has".
func acts(fields []string) bool {
	at := slices.IndexFunc(fields, english.IsVerb)
	if at < 1 || at > 5 {
		return false
	}
	the := strings.EqualFold(fields[0], "the")
	if the && at < 2 || !the && !english.IsName(fields[0]) {
		return false
	}
	for i, f := range fields[:at] {
		f = strings.ToLower(f)
		if vague := plainWords[f] || english.Leaning[f] || leaders[f] || nobody[f]; vague && !ages[f] && !(i == 0 && (the || f == "my")) {
			return false
		}
	}
	verb := strings.ToLower(fields[at])
	if !the && verb != "must" && unheard(fields[0]) {
		return true
	}
	if verb == "can" && at+2 < len(fields) && fields[at+1] == "be" && at > 2 {
		return true
	}
	passive := (verb == "is" || verb == "was") && at+1 < len(fields) &&
		(done[fields[at+1]] || !the && (strings.HasSuffix(fields[at+1], "en") || strings.HasSuffix(fields[at+1], "ed")))
	return passive || verb == "is" && large[english.TrimWord(fields[len(fields)-1])] || has[verb] || (!the || at > 2) && (english.Actions[verb] || transitive[verb])
}

// namesSomething reports whether a sentence that does not lean names what it is about.
func namesSomething(sentence string) bool {
	fields := strings.Fields(unremarked(sentence))
	switch {
	case len(fields) == 0:
		return false
	case keeps(fields):
		return true
	case english.Leaning[strings.ToLower(fields[0])]:
		return false
	case saysWhose(fields, "") && definite(fields), acts(fields), setsOut(fields), headed(fields), numbered(fields) > 0:
		return true
	}
	if verb := slices.IndexFunc(fields, english.IsVerb); verb > 0 {
		whose := ""
		if verb < 6 && english.Be[fields[verb]] { // "4471 is the harbour mill's code"
			whose = complement(fields[verb+1:])
		}
		if isOf(fields[verb:]) || strings.Contains(whose, " ") || english.IsName(whose) || verb > 1 && strings.HasSuffix(fields[0], "ing") && fields[1] == "the" {
			return true
		}
	}
	return english.IsPossessive(fields[0]) || slices.ContainsFunc(fields[1:], english.IsName)
}

// headed reports whether fields begin with a thing and what is said of it, without a verb: "The mill: fee 8 euros", "Orla, area: 4 hectares".
func headed(fields []string) bool {
	if len(fields) < 3 {
		return false
	}
	colon := strings.HasSuffix(fields[1], ":") || strings.HasSuffix(fields[2], ":")
	return len(fields) > 3 && fields[0] == "The" && strings.HasSuffix(fields[2], ":") ||
		strings.HasSuffix(fields[0], ",") && english.IsName(fields[0]) && isNoun(english.TrimWord(fields[1])) && (colon || unheard(fields[0]))
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
		case i == 0 && (strings.HasSuffix(f, ":") || labels(fields)):
			return i+1 < len(fields) && unheard(f) && isNoun(fields[i+1]) // a label, as is "Spare key:"; "The lake cabin:" names a thing
		case i == 0 && english.IsPossessive(f):
			return true
		case i > 0 && i < 6 && strings.HasSuffix(f, ":") && fields[0] == "The" && (i > 1 || i+2 < len(fields) && isNoun(fields[i+1]) && !english.IsVerb(fields[i+1])):
			return true
		case relations[word] && i+1 < len(fields) && (fields[i+1] == "a" || fields[i+1] == "an"): // "cost of a swim": a kind, not whose
		case i > 0 && fields[i-1] == "that": // "the code that belongs to the mill"
		case i == 0: // an article, or a capital that begins the sentence
		case english.Verbs[word] || i >= 10:
			return false
		case word == "of" && kind(fields[i+1:]): // "the number of rooms is", "the slice of cake price is": a kind, not whose
		case word == "of" && i+2 < len(fields) && fields[i+1] == "the" && english.TrimWord(fields[i+2]) == "day":
		case relations[word], english.IsName(f), english.IsPossessive(word):
			return true
		case len(word) > 2 && strings.Contains(titles, " "+word+" "):
			return true
		case strings.HasSuffix(f, ":"):
			return false
		}
	}
	return false
}

// kind reports whether one to three nouns stand before a verb.
func kind(fields []string) bool {
	at := slices.IndexFunc(fields, english.IsVerb)
	return at > 0 && at < 4 && !slices.ContainsFunc(fields[:at], func(f string) bool { return !isNoun(f) || english.IsPossessive(f) })
}

// unheard reports whether a capitalised word is none of ordinary English: a name.
func unheard(word string) bool {
	known := true
	terms.Each(english.TrimPossessive(english.TrimWord(word)), func(t []byte) {
		_, ok := terms.IDF(t)
		known = known && ok
	})
	return english.IsName(word) && !known
}

// labels reports whether fields begin with a label of several words that says of no thing in particular what it is: "Number of pages: 12".
func labels(fields []string) bool {
	end := slices.IndexFunc(fields[:min(len(fields), 5)], func(f string) bool { return strings.HasSuffix(f, ":") })
	if end < 2 || end+1 == len(fields) || strings.EqualFold(fields[0], "the") || fields[0] == "My" {
		return false
	}
	for _, f := range fields[1 : end+1] {
		if word := strings.TrimSuffix(f, ":"); !relations[word] && (!isNoun(word) || english.IsPossessive(word)) && word != "a" {
			return false
		}
	}
	return slices.ContainsFunc(fields[1:end], func(f string) bool { return relations[f] })
}
