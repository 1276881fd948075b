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

// entities is what a section has named so far: people by their first names, and things by their head nouns ("hall" for
// "the hillside town hall").
type entities struct {
	people, heads map[string]mention
	topic         mention // what the text is about at present
}

// mention records where and how something was named.
type mention struct {
	unit   int    // index of the unit; -1 for none
	name   string // without an article; "" if the sentence does not tell
	person string // whom "she" would mean, if not the thing named: its founder, for example
}

var noMention = mention{unit: -1}

// referent returns the mention as a later sentence refers to it: a personal pronoun refers to the person.
func (m mention) referent(sentence string) mention {
	first, _, _ := strings.Cut(sentence, " ")
	if m.person != "" && personal[strings.ToLower(english.TrimWord(first))] {
		m.name = m.person
	}
	return m
}

func newEntities() *entities {
	return &entities{people: map[string]mention{}, heads: map[string]mention{}, topic: noMention}
}

// resolve returns the mention that a sentence refers to, and records what the sentence names. The sentence becomes unit at.
func (e *entities) resolve(sentence, titles string, at int) mention {
	on, refers := e.antecedent(sentence, titles)
	if refers && on.unit < 0 {
		on = e.topic.referent(sentence)
	}
	switch {
	case on.unit >= 0:
		if on != e.topic.referent(sentence) {
			e.topic = on
		}
	case refers: // to nothing but the title; but "The inn was new" introduces the inn, unlike "The owner is Rita"
		e.topic = noMention
		fields := strings.Fields(withoutRemarks(sentence))
		if strings.EqualFold(fields[0], "the") && slices.IndexFunc(fields, english.IsVerb) == 2 {
			if does := len(fields) > 3 && !english.Be[fields[2]]; does || !slices.ContainsFunc(fields[3:], isValue) {
				e.topic = mention{unit: at}
			}
		}
	case namesTopic(sentence):
		thing, person := topicOf(sentence)
		if known, ok := e.heads[thing]; ok { // "the lesson of the library": the earlier sentence says which library
			thing = known.name
		} else if thing != "" && strings.HasPrefix(e.topic.name, thing+" of ") {
			thing = e.topic.name
		}
		e.topic = mention{at, thing, person}
	}
	if on.unit < 0 { // a sentence that refers back names only parts: "As email address, note" names no address
		e.add(sentence, at)
	}
	return on
}

// add records the names in s: of people, two capitalised words; of things, a noun after a word that says which one.
// Names have at most documents.MaxTitle words; otherwise each word of a long list would be a name with all words before
// it. Of a thing's mentions the first counts.
func (e *entities) add(s string, at int) {
	s, _ = english.CutMarker(s)
	fields := strings.Fields(s)
	for i := 1; i < len(fields); i++ {
		first, word := fields[i-1], english.TrimPossessive(english.TrimWord(fields[i]))
		if english.IsName(first) && english.IsName(word) && !notFirstNames[strings.ToLower(first)] {
			e.people[first] = mention{unit: at, name: first + " " + word}
		}
		if _, ok := e.heads[word]; !ok && isNoun(word) && specifies(first) && !english.IsPossessive(first) {
			from := i - 1
			for from > max(0, i-documents.MaxTitle+1) && (specifies(fields[from-1]) || oldNew[fields[from-1]]) {
				from--
			}
			e.heads[word] = mention{unit: at, name: strings.Join(append(slices.Clone(fields[from:i]), word), " ")}
		}
	}
}

// isValue reports whether a word is a name, a number or a code.
func isValue(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
}

// specifies reports whether a word before a noun says which one it is.
func specifies(word string) bool {
	return word == english.TrimWord(word) && !plainWords[strings.ToLower(word)]
}

// withoutRemarks removes a list marker and words that only draw attention ("Note:", "Remember that") from the start.
func withoutRemarks(sentence string) string {
	sentence, _ = english.CutMarker(sentence)
	for {
		word, rest, ok := strings.Cut(sentence, " ")
		if !ok || !english.Remarks[strings.ToLower(word)] {
			return sentence
		}
		sentence = rest
	}
}

// continuesWithOf reports whether a sentence continues like "is the founder of …", which makes it about either thing.
func continuesWithOf(fields []string) bool {
	at := slices.IndexFunc(fields, func(f string) bool { return prepositions[strings.ToLower(f)] })
	return (english.Be[fields[0]] || fields[0] == "works") && at > 1 && at < 6 && !strings.ContainsAny(strings.Join(fields[:at], ""), ".,:;") && !slices.ContainsFunc(fields[1:at], english.IsName)
}

// isNoun reports whether a word may be a noun that names a thing: it is long enough and in lower case.
func isNoun(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return len(word) > 2 && unicode.IsLower(r) && !plainWords[word]
}

// antecedent reports whether a sentence refers to an earlier one, and to which mention if that is clear. A sentence
// refers back if it begins with a pronoun or with the first name of someone named in full before, calls a known thing by
// its head noun alone ("the hall"), or does not say whose thing it is about ("The spare key is kept …", "Fee: 8 euros")
// and titles do not either.
func (e *entities) antecedent(sentence, titles string) (m mention, refers bool) {
	fields := strings.Fields(withoutRemarks(sentence))
	if len(fields) == 0 {
		return noMention, false
	}
	first := strings.Trim(fields[0], ".,;:!?")
	word := strings.ToLower(first)
	if bare, _, ok := strings.Cut(word, "'"); (ok && english.Anaphors[bare] || english.Anaphors[word]) && !saysWhatOneDoes(fields) { // "it's"
		return noMention, true
	}
	if at, ok := e.byFirstName(fields); ok {
		return at, true
	}
	if at, ok := e.byHead(fields, titles); ok {
		return at, true
	}
	if lacksTopic(fields) || e.isUnknownPart(fields, titles) {
		return noMention, true
	}
	if namesOwner(fields, titles) || hasActingSubject(fields) {
		return noMention, false
	}
	for _, f := range fields[1:] {
		if w := strings.ToLower(english.TrimWord(f)); w == "it" || w == "its" || w == "here" {
			return noMention, true
		}
	}
	return noMention, english.Articles[word] || strings.Contains(strings.Join(fields[:min(len(fields), 6)], " "), ": ")
}

// byFirstName finds a known person whom the subject of the sentence calls by the first name alone.
func (e *entities) byFirstName(fields []string) (at mention, ok bool) {
	for i, f := range fields[:max(1, slices.IndexFunc(fields, english.IsVerb))] {
		alone := (i == 0 || !english.IsName(fields[i-1]) || english.IsPossessive(fields[i-1])) && (i+1 == len(fields) || !english.IsName(fields[i+1]) || english.IsPossessive(f))
		if at, ok := e.people[english.TrimPossessive(english.TrimWord(f))]; ok && alone {
			return at, true
		}
	}
	return noMention, false
}

// lacksTopic reports whether a sentence names a role but not of what: "Ada is the conductor." ends with one, "As host,
// note Ada." begins with one.
func lacksTopic(fields []string) bool {
	if strings.EqualFold(fields[0], "as") && len(fields) > 1 && fields[1] != "for" {
		for _, f := range fields[1:min(len(fields), 5)] {
			if !isNoun(english.TrimWord(f)) && !prepositions[f] && f != "the" {
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
		case !isNoun(word) && !oldNew[word] && word != "current", english.IsPossessive(word), prepositions[word], word != fields[i] && !last:
			return false
		}
	}
	return false
}

// byHead finds a known thing that the sentence calls by its head noun alone.
func (e *entities) byHead(fields []string, titles string) (at mention, ok bool) {
	for i := 1; i < len(fields); i++ {
		w := english.TrimPossessive(english.TrimWord(fields[i]))
		if !strings.EqualFold(fields[i-1], "the") || inTitles(titles, w) {
			continue
		}
		after := "" // "the driver of …", "the door code": not the head noun alone
		if i+1 < len(fields) && fields[i] == w {
			after = strings.ToLower(english.TrimWord(fields[i+1]))
		}
		if at, ok := e.heads[w]; ok && after != "of" && (after == "" || english.Verbs[after] || plainWords[after]) {
			return at, true
		}
	}
	return noMention, false
}

// isUnknownPart reports whether fields begin with a label that mentions an unknown part: "Name of the dog: …" where no dog
// was named.
func (e *entities) isUnknownPart(fields []string, titles string) bool {
	the := slices.Index(fields[:min(len(fields), 5)], "the")
	if the < 2 || the+2 >= len(fields) || !prepositions[fields[the-1]] || english.IsVerb(fields[0]) {
		return false
	}
	for _, f := range fields[1 : the-1] {
		if !isNoun(f) {
			return false
		}
	}
	noun, label := strings.CutSuffix(fields[the+1], ":")
	_, known := e.heads[noun]
	return label && isNoun(noun) && !known && !inTitles(titles, noun)
}

// startsWithSetting reports whether a sentence begins by naming its topic: "At the mill, …", "As for the mill, …".
func startsWithSetting(fields []string) bool {
	first := strings.ToLower(fields[0])
	return (prepositions[first] || first == "as" && len(fields) > 1 && fields[1] == "for") &&
		slices.ContainsFunc(fields[1:min(len(fields), 8)], func(f string) bool { return strings.HasSuffix(f, ",") })
}

// numberedName returns the length in words of a name with a number at the start of a sentence, such as "Night train 11",
// or 0 if there is none.
func numberedName(fields []string) int {
	for i, f := range fields[:min(len(fields), 4)] {
		switch {
		case i == 0 && !(english.IsName(f) && !notFirstNames[strings.ToLower(f)] && !prepositions[strings.ToLower(f)]):
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

// definite reports whether a sentence is about something in particular, unlike "Thanks for reading".
func definite(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool {
		f = strings.ToLower(f)
		return f == "the" || f == "my" || f == "our" || f == "of" || english.IsPossessive(f)
	}) || slices.ContainsFunc(fields[1:], func(f string) bool { return isValue(f) && unicode.IsUpper([]rune(f)[0]) })
}

// hasActingSubject reports whether a sentence begins with a subject and a verb that only particular things have: "The big
// market hall charges", "The mill was built", "Brenn has".
func hasActingSubject(fields []string) bool {
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
		if vague := plainWords[f] || english.Anaphors[f] || notFirstNames[f] || nobody[f]; vague && !oldNew[f] && !(i == 0 && (the || f == "my")) {
			return false
		}
	}
	verb := strings.ToLower(fields[at])
	if !the && verb != "must" && isUncommonName(fields[0]) {
		return true
	}
	if verb == "can" && at+2 < len(fields) && fields[at+1] == "be" && at > 2 {
		return true
	}
	passive := (verb == "is" || verb == "was") && at+1 < len(fields) &&
		(participles[fields[at+1]] || !the && (strings.HasSuffix(fields[at+1], "en") || strings.HasSuffix(fields[at+1], "ed")))
	return passive || verb == "is" && measures[english.TrimWord(fields[len(fields)-1])] || singleWordVerbs[verb] || (!the || at > 2) && (english.Actions[verb] || transitive[verb])
}

// namesTopic reports whether a sentence, if it does not refer back, names what it is about.
func namesTopic(sentence string) bool {
	fields := strings.Fields(withoutRemarks(sentence))
	switch {
	case len(fields) == 0:
		return false
	case saysWhatOneDoes(fields):
		return true
	case english.Anaphors[strings.ToLower(fields[0])]:
		return false
	case namesOwner(fields, "") && definite(fields), hasActingSubject(fields), startsWithSetting(fields), startsWithTopic(fields), numberedName(fields) > 0:
		return true
	}
	if verb := slices.IndexFunc(fields, english.IsVerb); verb > 0 {
		whose := ""
		if verb < 6 && english.Be[fields[verb]] { // "4471 is the harbour mill's code"
			whose = complement(fields[verb+1:])
		}
		if continuesWithOf(fields[verb:]) || strings.Contains(whose, " ") || english.IsName(whose) || verb > 1 && strings.HasSuffix(fields[0], "ing") && fields[1] == "the" {
			return true
		}
	}
	return english.IsPossessive(fields[0]) || slices.ContainsFunc(fields[1:], english.IsName)
}

// startsWithTopic reports whether fields begin with a thing and a statement without a verb: "The mill: fee 8 euros",
// "Orla, area: 4 hectares".
func startsWithTopic(fields []string) bool {
	if len(fields) < 3 {
		return false
	}
	colon := strings.HasSuffix(fields[1], ":") || strings.HasSuffix(fields[2], ":")
	return len(fields) > 3 && fields[0] == "The" && strings.HasSuffix(fields[2], ":") ||
		strings.HasSuffix(fields[0], ",") && english.IsName(fields[0]) && isNoun(english.TrimWord(fields[1])) && (colon || isUncommonName(fields[0]))
}

// inTitles reports whether a word occurs in titles.
func inTitles(titles, word string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(titles), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), strings.ToLower(word))
}

// namesOwner reports whether the subject of a sentence names someone or something in particular: by a name, an "of" or a
// word of the titles.
func namesOwner(fields []string, titles string) bool {
	titles = " " + strings.ToLower(titles) + " "
	for i, f := range fields {
		word := strings.ToLower(strings.Trim(f, ".,;:!?"))
		switch {
		case i == 0 && (strings.HasSuffix(f, ":") || isGenericLabel(fields)):
			return i+1 < len(fields) && isUncommonName(f) && isNoun(fields[i+1]) // "Spare key:" is a label, "The lake cabin:" names a thing
		case i == 0 && english.IsPossessive(f):
			return true
		case i > 0 && i < 6 && strings.HasSuffix(f, ":") && fields[0] == "The" && (i > 1 || i+2 < len(fields) && isNoun(fields[i+1]) && !english.IsVerb(fields[i+1])):
			return true
		case prepositions[word] && i+1 < len(fields) && (fields[i+1] == "a" || fields[i+1] == "an"): // "cost of a swim": of a kind, not of a thing
		case i > 0 && fields[i-1] == "that": // "the code that belongs to the mill"
		case i == 0: // an article, or capitalised as the first word
		case english.Verbs[word] || i >= 10:
			return false
		case word == "of" && isKind(fields[i+1:]): // "the number of rooms is", "the slice of cake price is": of a kind
		case word == "of" && i+2 < len(fields) && fields[i+1] == "the" && english.TrimWord(fields[i+2]) == "day":
		case prepositions[word], english.IsName(f), english.IsPossessive(word):
			return true
		case len(word) > 2 && strings.Contains(titles, " "+word+" "):
			return true
		case strings.HasSuffix(f, ":"):
			return false
		}
	}
	return false
}

// isKind reports whether fields begin with one to three nouns and a verb.
func isKind(fields []string) bool {
	at := slices.IndexFunc(fields, english.IsVerb)
	return at > 0 && at < 4 && !slices.ContainsFunc(fields[:at], func(f string) bool { return !isNoun(f) || english.IsPossessive(f) })
}

// isUncommonName reports whether a word is capitalised and not a word of ordinary English.
func isUncommonName(word string) bool {
	known := true
	terms.Each(english.TrimPossessive(english.TrimWord(word)), func(t []byte) {
		_, ok := terms.IDF(t)
		known = known && ok
	})
	return english.IsName(word) && !known
}

// isGenericLabel reports whether fields begin with a label of several words that names no particular thing: "Number of
// pages: 12".
func isGenericLabel(fields []string) bool {
	end := slices.IndexFunc(fields[:min(len(fields), 5)], func(f string) bool { return strings.HasSuffix(f, ":") })
	if end < 2 || end+1 == len(fields) || strings.EqualFold(fields[0], "the") || fields[0] == "My" {
		return false
	}
	for _, f := range fields[1 : end+1] {
		if word := strings.TrimSuffix(f, ":"); !prepositions[word] && (!isNoun(word) || english.IsPossessive(word)) && word != "a" {
			return false
		}
	}
	return slices.ContainsFunc(fields[1:end], func(f string) bool { return prepositions[f] })
}
