package question

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/words"
)

// completed returns a clause with what it leaves out, from the clause before it.
func completed(before, clause string) string {
	c, goesOn := withoutAnd(clause)
	for _, opener := range []string{"what about ", "how about "} {
		if len(c) > len(opener) && strings.EqualFold(c[:len(opener)], opener) {
			c, goesOn = strings.TrimSpace(c[len(opener):]), true
		}
	}
	before = trimQuestion(before)
	first := firstWord(c)
	switch {
	case before == "":
		return clause
	case namesTopicFirst(c): // "the hut, what does it cost?"
		topic, rest, _ := strings.Cut(c, ", ")
		return resolved(rest, "what is "+topic)
	case asksAlone(c), asksAlone(afterFirst(c)) && prepositions[first], goesOn && asksMore(c): // "and when?", "from when?", "and from what age?"
		return trimQuestion(c) + " " + afterAsking(before) + "?"
	case opensQuestion(c) || openers[first]:
		if q, ok := atThatTime(before, c); ok {
			return q
		}
		if refersBack(c) {
			return resolved(c, before)
		}
		return c
	case otherTimes[first] && trimQuestion(strings.ToLower(c)) == first: // "and before?"
		return before + " " + c
	case prepositions[first]:
		if at := blanksBefore(before, func(w string) bool { return w == first }); len(at) > 0 {
			return before[:at[len(at)-1]] + " " + c
		}
		return before + " " + c
	case !goesOn && !articles[first] && strings.Contains(c, " ") || !goesOn && len(words.Content(c)) >= enoughWords:
		return c // "wifi password of the cabin"
	}
	return withOtherThing(before, c)
}

// atThatTime returns a short question with the time of the one before it in place of "then" at its end, and with what
// that one is about: "who paid for power in july" for "who paid then" after "power in july". ok is false if that names no
// time, or the question names more.
func atThatTime(before, c string) (question string, ok bool) {
	asked, ends := strings.CutSuffix(trimQuestion(c), " then")
	at := atTime.FindStringIndex(before)
	if !ends || at == nil || len(words.Content(asked)) > mostBeforeThen || hasPronoun(asked) {
		return "", false
	}
	about := thing(before[:at[0]] + "?")
	if about == "" && !openers[firstWord(before)] {
		about = before[:at[0]]
	}
	if about != "" && len(words.Content(asked)) == 1 {
		asked += " " + about
	}
	return asked + before[at[0]:] + "?", true
}

// mostBeforeThen is how many content words a question has, at most, that leaves to the one before it what it is about.
const mostBeforeThen = 2

// atTime matches a time at the end of a question: " in July", " on 3 May", " on Friday".
var atTime = regexp.MustCompile(`(?i) (?:in|on|at|since|until) (?:\S+ ){0,2}?(?:` + words.Weekdays + `|` + words.MonthsButMay + `|may|(?:19|20)\d\d)(?: \d{1,4})?$`)

// withOtherThing returns a question with another thing instead of what it is about.
func withOtherThing(before, c string) string {
	if q, ok := withOtherName(before, trimQuestion(c)); ok {
		return q + "?"
	}
	if q, ok := withOpposite(before, trimQuestion(c)); ok {
		return q + "?"
	}
	if m := subjectAndVerb.FindStringSubmatch(before); m != nil && isThing(c) && !subjects[firstWord(m[2])] {
		return m[1] + " " + trimQuestion(c) + " " + m[3] + "?"
	}
	if hasPronoun(c) {
		c = resolved(c, before)
	}
	if q, ok := withOtherObject(before, trimQuestion(c)); ok {
		return q + "?"
	}
	head := headOf(before)
	if tail, ok := complement(before); ok && !hasComplement(c) {
		return head + trimQuestion(c) + " " + tail + "?"
	}
	if questionWords[strings.TrimSpace(strings.ToLower(head))] {
		head = "What is "
	}
	return head + c
}

// withOtherName returns a question with another name instead of the only one that it has, after a preposition: "the port of
// Nextcloud".
func withOtherName(question, name string) (string, bool) {
	for w := range strings.FieldsSeq(name) {
		if !isCapitalized(w) || isPossessive(w) || len(words.Content(w)) == 0 || noName.MatchString(w) {
			return "", false
		}
	}
	w := strings.Fields(question)
	from, to := -1, -1
	for i := 1; i < len(w); i++ {
		switch {
		case !isCapitalized(w[i]) || bare(w[i]) == "i":
		case from < 0:
			from, to = i, i+strings.Count(capitals(w, i), " ")+1
		case i >= to:
			return "", false // which of the two?
		}
	}
	if from < 0 || to < len(w) || !ofName[bare(w[from-1])] || noName.MatchString(w[from]) || isPossessive(w[to-1]) {
		return "", false
	}
	return strings.Join(slices.Concat(w[:from], []string{name}), " "), true
}

// withOpposite returns a question with the opposite of one of its words, if that is what follows: "salted butter" for
// "unsalted butter".
func withOpposite(question, other string) (string, bool) {
	w := strings.Fields(question)
	for i := range w {
		if b, o := bare(w[i]), bare(other); b == "un"+o || b == "non-"+o || o == "un"+b || o == "non-"+b {
			w[i] = other
			return strings.Join(w, " "), true
		}
	}
	return "", false
}

var (
	// ofName has the prepositions before a name that a question is about: "the port of Nextcloud".
	ofName = words.Set("of for in on at with from by to")
	// noName matches what is written like a name and is a time: "Monday".
	noName = regexp.MustCompile(`(?i)^(?:` + words.Weekdays + `|` + words.MonthsButMay + `|may|easter|christmas)$`)
)

// namesTopicFirst reports whether a clause names what it asks about before it asks.
func namesTopicFirst(clause string) bool {
	topic, rest, ok := strings.Cut(clause, ", ")
	return ok && !prepositions[firstWord(topic)] && !opensQuestion(topic) && opensQuestion(rest) && hasPronoun(rest)
}

// asksMore reports whether a clause only says what else it asks for, without a verb: "from what age", "how much", "which room".
func asksMore(clause string) bool {
	w := lowerWords(clause)
	if len(w) > 1 && prepositions[w[0]] {
		w = w[1:]
	}
	return len(w) > 1 && len(w) <= maxThingWords && (w[0] == "what" || w[0] == "which" || w[0] == "how" && (w[1] == "much" || w[1] == "many" || w[1] == "long" || w[1] == "often")) &&
		!slices.ContainsFunc(w, func(s string) bool { return auxiliaries[s] || pronouns[s] || prepositions[s] })
}

// hasPronoun reports whether a pronoun is among the words of a text.
func hasPronoun(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool { return pronouns[bare(w)] })
}

// afterFirst returns what follows the first word.
func afterFirst(s string) string {
	_, rest, _ := strings.Cut(s, " ")
	return rest
}

// enoughWords is how many content words make a question that asks for something by itself, whatever its pronouns stand for.
const enoughWords = 4

// otherTimes has the words that alone ask for another time: "and before?"
var otherTimes = words.Set("before then now later today yesterday tomorrow afterwards")

// afterAsking returns a question without what it asks for: "does the ferry sail" of "when does the ferry sail", "does
// tea cost" of "how much does tea cost".
func afterAsking(question string) string {
	w := strings.Fields(question)
	for i := 1; i < len(w); i++ {
		if auxiliaries[bare(w[i])] {
			return strings.Join(w[i:], " ")
		}
	}
	if len(w) > 1 && questionWords[bare(w[0])] {
		return strings.Join(w[1:], " ")
	}
	return question
}

// withOtherObject returns a question with something else in place of what it is about, and whether it knows the place.
func withOtherObject(question, other string) (string, bool) {
	w := strings.Fields(question)
	from, to := -1, -1
	if isPossessive(other) || strings.HasSuffix(other, "s'") {
		if from, to = owner(w); from < 0 {
			return ofOwner(question, other)
		}
	} else if len(strings.Fields(other)) <= maxThingWords {
		if indefinite[firstWord(other)] {
			from, to = indefiniteSubject(w)
		}
		if from < 0 {
			from, to = object(w)
		}
	}
	if from < 0 {
		return "", false
	}
	return strings.Join(slices.Concat(w[:from], []string{other}, w[to:]), " "), true
}

// indefinite articles begin a thing of any kind: "an adult".
var indefinite = words.Set("a an")

// owner returns where a question names an owner: "Dr. Lee's" in "what is Dr. Lee's number". from is -1 if it names none.
func owner(w []string) (from, to int) {
	for i := len(w) - 1; i > 0; i-- {
		if !isPossessive(w[i]) {
			continue
		}
		for from = i; from > 1 && (isCapitalized(w[from-1]) || articles[bare(w[from-1])]); {
			from--
		}
		return from, i + 1
	}
	return -1, -1
}

// ofOwner returns a question for a thing of one with another's: "what is Dad's code" for "what is the code of the shed".
func ofOwner(question, other string) (string, bool) {
	head := headOf(question)
	named := strings.Fields(question[len(head):])
	if len(named) > 0 && articles[bare(named[0])] {
		named = named[1:]
	}
	of := slices.Index(named, "of")
	if of <= 0 {
		return "", false
	}
	return head + other + " " + strings.Join(named[:of], " "), true
}

// indefiniteSubject returns where a question has a subject such as "an adult" in "how many can an adult take".
func indefiniteSubject(w []string) (from, to int) {
	for i := 2; i+2 < len(w); i++ {
		if auxiliaries[bare(w[i-1])] && indefinite[bare(w[i])] {
			return i, i + 2
		}
	}
	return -1, -1
}

// object returns where a question has its object, if it is clear where its verb is: "the cat" in "who feeds the cat",
// "novels" in "how long can I keep novels".
func object(w []string) (from, to int) {
	verb := 0
	if len(w) > 2 && (bare(w[0]) == "who" || bare(w[0]) == "whom") && !auxiliaries[bare(w[1])] {
		verb = 1
	}
	for i := 1; i+1 < len(w) && verb == 0; i++ {
		if auxiliaries[bare(w[i-1])] && subjects[bare(w[i])] {
			verb = i + 1
		}
	}
	if verb == 0 || verb+1 >= len(w) {
		return -1, -1
	}
	if m := atTime.FindString(strings.Join(w, " ")); m != "" { // "who paid power in July": what is before the time
		w = w[:len(w)-len(strings.Fields(m))]
		if len(w) <= verb+1 {
			return verb + 1, verb + 1
		}
	}
	from = len(w) - 1
	if i := slices.IndexFunc(w[verb+1:], func(s string) bool { return articles[bare(s)] || isCapitalized(s) }); i >= 0 {
		from = verb + 1 + i
	}
	to = from + 1
	for to < len(w) && !prepositions[bare(w[to])] {
		to++
	}
	return from, to
}

// subjectAndVerb matches a question with its subject between an auxiliary and its verb: "what does tea cost".
var subjectAndVerb = regexp.MustCompile(`(?i)^((?:what|how (?:much|long|high|far|often)|when|where|what time) (?:does|do|did)) (.+) (\pL+)$`)

// headOf returns the words of a question before the thing that it asks for: "what is ".
func headOf(question string) string {
	at, words := 0, strings.Fields(question)
	for i, word := range words {
		degree := i == 1 && strings.EqualFold(words[0], "how") && len(words) > 2 && auxiliaries[bare(words[2])] // "how much is"
		if !openers[strings.ToLower(word)] && !degree {
			return question[:at]
		}
		at += strings.Index(question[at:], word) + len(word)
		for at < len(question) && question[at] == ' ' {
			at++
		}
	}
	return ""
}

// complement returns a clause from its first preposition after a word: "of the lake cabin".
func complement(clause string) (string, bool) {
	at := blanksBefore(clause, func(w string) bool { return prepositions[w] })
	if len(at) == 0 {
		return "", false
	}
	return clause[at[0]+1:], true
}

// blanksBefore returns the offsets of the spaces before the words of a clause that wanted accepts, in lower case. The
// first word and the last do not count.
func blanksBefore(clause string, wanted func(word string) bool) (at []int) {
	for i := 1; i < len(clause); i++ {
		if clause[i] != ' ' {
			continue
		}
		if word, _, more := strings.Cut(clause[i+1:], " "); more && wanted(strings.ToLower(word)) {
			at = append(at, i)
		}
	}
	return at
}

func hasComplement(clause string) bool {
	_, ok := complement(clause)
	return ok || strings.Contains(clause, "'s ") || strings.Contains(clause, "’s ")
}

// refersBack reports whether a clause leaves open what it is about: it has a pronoun that no name before it explains, or no
// content at all.
func refersBack(clause string) bool {
	if prepositions[firstWord(clause)] && strings.Contains(clause, ", ") { // "for the mill, when does it open"
		return false
	}
	if len(words.Content(clause)) >= enoughWords {
		return false
	}
	before := "" // the word before
	for i, w := range strings.Fields(clause) {
		if i > 0 && isCapitalized(w) && bare(w) != "i" {
			return false
		}
		p := bare(w)
		if pronouns[p] && !(p == "there" && auxiliaries[before]) {
			return true
		}
		before = firstWord(w)
	}
	return len(words.Content(clause)) == 0
}

// resolved returns a clause with what its pronouns stand for: a person or a thing of the clause before. If they stand for
// something else, that clause follows it.
func resolved(clause, before string) string {
	var out []string
	words, about := strings.Fields(clause), referentsIn(before)
	changed, size := false, 0
	for i, w := range words {
		stands, possessive := about.referent(words, i)
		if size += len(stands); size > maxAsked {
			return clause
		}
		if stands == "" {
			out = append(out, w)
			continue
		}
		if possessive || strings.Contains(strings.ToLower(w), "it's") || strings.Contains(strings.ToLower(w), "he's") {
			// "her fee", "it's late"
			stands += "'s"
			if strings.HasSuffix(stands, "s's") && !isCapitalized(stands) {
				stands = strings.TrimSuffix(stands, "s")
			}
		}
		out, changed = append(out, stands+w[len(strings.TrimRight(w, "?!.,;:")):]), true
	}
	if !changed {
		return clause + " " + before
	}
	return strings.Join(out, " ")
}

// referents are what pronouns may stand for.
type referents struct{ name, thing string }

// referentsIn returns what pronouns after a question may stand for.
func referentsIn(question string) referents { return referents{nameIn(question), thing(question)} }

// person returns the person that the question is about: its first name, or else its thing, "the plumber".
func (r referents) person() string { return cmp.Or(r.name, r.thing) }

// referent returns what word i stands for, if it is a pronoun, and whether it says that it owns something.
func (r referents) referent(words []string, i int) (stands string, possessive bool) {
	switch w, p := words[i], bare(words[i]); p {
	case "he", "she", "him":
		return r.person(), false
	case "his", "her":
		return r.person(), p == "his" || w == p && i+1 < len(words) && !prepositions[bare(words[i+1])] && !auxiliaries[bare(words[i+1])]
	case "it":
		return r.thing, false
	case "its":
		return r.thing, true
	case "they", "them", "their":
		if stands = r.thing; !strings.HasSuffix(stands, "s") {
			if stands = r.name; p == "them" { // not one thing, but perhaps a firm
				stands = ""
			}
		}
		return stands, p == "their"
	}
	return "", false
}

// nameIn returns the first name in a question, or nothing.
func nameIn(question string) string {
	words := strings.Fields(question)
	for i := 1; i < len(words); i++ {
		if !isCapitalized(words[i]) || bare(words[i]) == "i" || questionWords[bare(words[i])] || prepositions[bare(words[i-1])] && bare(words[i-1]) != "of" {
			continue
		}
		return capitals(words, i)
	}
	return ""
}

// capitals returns the name that begins with word i.
func capitals(words []string, i int) string {
	to := i + 1
	for to < len(words) && !isPossessive(words[to-1]) && (isCapitalized(words[to]) || to+1 < len(words) && particles[words[to]] && isCapitalized(words[to+1])) {
		to++
	}
	return withoutMarks(strings.Join(words[i:to], " "))
}

// thing returns the thing that a question is about: "the lake cabin" of "what is the wifi password of the lake cabin", of
// "when does the lake cabin open" and of "who owns the lake cabin".
func thing(question string) string {
	words := strings.Fields(question)
	for i := len(words) - 2; i > 0; i-- {
		if bare(words[i]) == "of" {
			if p := phrase(words, i+1); p != "" && !pronouns[p] {
				return p
			}
		}
	}
	for i := 1; i < len(words); i++ {
		if articles[bare(words[i])] {
			if p := phrase(words, i); p != "" {
				return p
			}
		}
	}
	for i := 1; i < len(words); i++ {
		if !isCapitalized(words[i]) || bare(words[i]) == "i" || questionWords[bare(words[i])] {
			continue
		}
		name := capitals(words, i)
		switch {
		case isPossessive(words[i+strings.Count(name, " ")]):
			return phrase(words, i)
		case bare(words[0]) == "who" && formsOfBe[bare(words[1])]: // a person
			return ""
		}
		return name
	}
	for i := 1; i+2 < len(words); i++ {
		if last := len(words) - 1; auxiliaries[bare(words[i-1])] && !formsOfBe[bare(words[i-1])] && subjects[bare(words[i])] && !prepositions[bare(words[last])] && !participle.MatchString(words[last]) {
			return withoutMarks(words[last]) // "how long can I keep books"
		}
	}
	return ""
}

// phrase returns the thing that words name from word i > 0 on. After an auxiliary verb it is a subject, and its verb is
// left out. So is a participle at its end: "the bridge (built)".
func phrase(words []string, i int) string {
	to := i
	for to < len(words) && (to == i || !articles[bare(words[to])]) && !endsName[bare(words[to])] && !prepositions[bare(words[to])] && !auxiliaries[bare(words[to])] {
		to++
		if last := words[to-1]; strings.TrimRight(last, "?!.,;:") != last {
			break
		}
	}
	atVerb := to < len(words) && (auxiliaries[bare(words[to])] || endsName[bare(words[to])])
	if before := bare(words[i-1]); auxiliaries[before] && to-i > 1 && !atVerb && (to-i > 2 || !articles[bare(words[i])]) {
		if !formsOfBe[before] || to-i > 2 && participle.MatchString(bare(words[to-1])) {
			to--
		}
	}
	if to-i == 1 && articles[bare(words[i])] {
		return ""
	}
	return withoutMarks(strings.Join(words[i:to], " "))
}

// participle matches words that look like past participles: "built".
var participle = regexp.MustCompile(`(ed|wn|ld|lt|ght|orn|ung|ken|ten|ven)$`)

var (
	// particles stand within names: "Ludwig van Beethoven".
	particles = words.Set("de di da du la le van von der den of the el al bin")
	// endsName has the words before which the name of a thing ends: "the bridge that".
	endsName = words.Set("be been and or that than if who whom whose which what when where how why not now today again still due")
	// formsOfBe are those of "be" after a question word: "what is".
	formsOfBe = words.Set("is are was were")
)

// bare returns a word in lower case without marks around it and without a possessive ending.
func bare(w string) string {
	return strings.ToLower(withoutMarks(w))
}

func withoutMarks(s string) string {
	s = strings.Trim(s, `,.?!;:"()`)
	return words.WithoutPossessive(s)
}

func isPossessive(w string) bool { return strings.HasSuffix(w, "'s") || strings.HasSuffix(w, "’s") }

func isCapitalized(w string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, `"'(`))
	return unicode.IsUpper(r)
}
