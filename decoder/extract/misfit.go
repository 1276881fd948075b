package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/model/span"
)

// misfit is a reason why a span is not what a question asks for. A small reader points next to the right words although the thing itself
// is missing there.
type misfit struct {
	name    string
	bare    bool    // only where a value answers
	against float64 // what it costs the span, in nats
	lacks   bool    // the sentence, with the heading above it, cannot answer either
	is      func(w wants, at pointed) bool

	sentence bool // it looks at the sentence, whatever the span in it
}

// What speaks against a span, in nats.
const (
	wrongKind = 3
	echoed    = 2
	wrongPart = 3
	otherDay  = 6 // a reader takes the day below a sentence for sure
)

var misfits = []misfit{
	{name: "no time", sentence: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.time && !at.dated && !at.has(aTime, at.said)
	}},
	{name: "no number", sentence: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.number && !(at.dated && !at.titled) && !at.has(aNumber, at.said)
	}},
	{name: "no time in it", bare: true, against: echoed, is: func(w wants, at pointed) bool {
		return w.time && !at.dated && at.has(aTime, at.said) && !at.has(aTime, at.value)
	}},
	{name: "no number in it", bare: true, against: echoed, is: func(w wants, at pointed) bool {
		return w.number && !at.dated && at.has(aNumber, at.said) && !at.has(aNumber, at.value)
	}},
	{name: "no digit", bare: true, against: wrongKind, is: func(w wants, at pointed) bool {
		return w.digits && (!at.has(aNumber, at.value) || aMeasure.MatchString(at.value))
	}},
	{name: "no code", bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.code && !aCode.MatchString(at.value)
	}},
	{name: "no price", bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.price && !aPrice.MatchString(at.cells(at.from, at.from+len(at.value))) && !aPrice.MatchString(at.head)
	}},
	{name: "no amount", sentence: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.money && !w.amounts(at.head+"\n"+at.cells(at.begin, at.end))
	}},
	{name: "another's value", bare: true, against: wrongPart, is: func(w wants, at pointed) bool { return at.ofOther(w.words) }},
	{name: "per something else", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return w.per != nil && perOther(at.value+at.after, w.per)
	}},
	{name: "yes, but another day", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.confirms && saysYes.MatchString(at.said) && w.yesOfOtherDay(at.said)
	}},
	{name: "a date", bare: true, against: wrongKind, is: func(w wants, at pointed) bool {
		return w.noDate && onlyDate.MatchString(at.value)
	}},
	{name: "the day of something else", bare: true, against: otherDay, is: func(w wants, at pointed) bool {
		return w.time && onlyDate.MatchString(at.value) && at.ofOtherDay(at.from, w.words)
	}},
	{name: "another code", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.otherCode(at.head, at.said)
	}},
	{name: "another number", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.otherNumber(at.head + "\n" + at.said)
	}},
	{name: "another identifier", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.otherIdentifier(at.head, at.said)
	}},
	{name: "another option", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.otherOption(at)
	}},
	{name: "another release", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.ofOtherRelease(at)
	}},
	{name: "said by another", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.saidByAnother(at)
	}},
	{name: "not a step", against: wrongPart, is: func(w wants, at pointed) bool {
		return w.steps && !itemMark.MatchString(at.text[at.lineStart(at.from):]) && len(aStep.FindAllStringIndex(at.text, 2)) == 2
	}},
	{name: "no reason", sentence: true, against: echoed, lacks: true, is: func(w wants, at pointed) bool {
		return w.reason && !at.says(aReason) && decoder.SharedWords(w.words, decoder.ContentWords(at.said)) == len(w.words)
	}},
	{name: "of before", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return !w.past && at.before()
	}},
	{name: "another role", sentence: true, bare: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return len(w.role) > 0 && len(decoder.WithoutWords(w.role, decoder.ContentWords(at.text[:at.body]+" "+at.head+" "+at.said))) > 0
	}},
	{name: "another's", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.anothers(at.head, at.said)
	}},
	{name: "another name's", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool { return w.ofAnotherName(at) }},
	{name: "no place", bare: true, against: wrongKind, is: func(w wants, at pointed) bool {
		return w.noPlace(at.value)
	}},
	{name: "the other end", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return w.otherEnd(at.said[:max(0, at.from-at.begin)], at.value)
	}},
	{name: "of after", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		if !w.former {
			return false
		}
		_, ok := at.sinceThen(at.begin, at.from, at.end)
		return ok
	}},
	{name: "nobody", bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.person && !strings.ContainsFunc(at.value, unicode.IsLetter)
	}},
	{name: "who wrote", sentence: true, bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.person && at.says(mailHead) && !asksWriter.MatchString(w.question)
	}},
	{name: "another measure", bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.mismeasured(at.value)
	}},
	{name: "no time but money", bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.time && onlyMoney.MatchString(at.value) && !at.says(upToMoney) && at.dayAbove(at.begin) == ""
	}},
	{name: "no comparison", sentence: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.compares != "" && !strings.Contains(strings.ToLower(at.text), w.compares)
	}},
	{name: "another shape", sentence: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.misshapen(at.head + "\n" + at.cells(at.begin, at.end))
	}},
	{name: "the way back", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.otherWay(at.said)
	}},
	{name: "the opposite", sentence: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return w.opposite(at.head + "\n" + at.cells(at.begin, at.end))
	}},
	{name: "another day", sentence: true, bare: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return w.days != [7]bool{} && w.otherDay(at.head+"\n"+at.cells(at.begin, at.end))
	}},
	{name: "cancelled", sentence: true, bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return at.says(cancelled) && !asksCancelled.MatchString(w.question)
	}},
	{name: "only planned", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		if w.past || !at.says(wasPlan) {
			return false
		}
		next, changed := at.onlyPlanned(at.begin, at.from, at.end)
		return changed && next > at.end
	}},
	{name: "when sent", sentence: true, bare: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return w.time && !w.past && !asksMailHead.MatchString(w.question) && at.inMailHead(at.from) && fromAddress.MatchString(at.text)
	}},
	{name: "out of date", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return !w.past && at.outdates(w.question)
	}},
	{name: "struck out", bare: true, against: wrongPart, is: func(w wants, at pointed) bool { return !w.past && at.struck(at.from, at.value) }},
	{name: "all struck out", sentence: true, against: wrongPart, lacks: true, is: func(w wants, at pointed) bool {
		return !w.past && strings.Contains(at.said, strike) && !strings.ContainsFunc(struckOut.ReplaceAllString(at.said[len(lineMark.FindString(at.said)):], ""), isWordRune)
	}},
	{name: "closed then, not closing", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return asksClosing.MatchString(w.question) && isClosed.MatchString(at.said[:max(0, at.from-at.begin)])
	}},
	{name: "denied", bare: true, against: wrongPart, is: func(w wants, at pointed) bool {
		return w.person && denies.MatchString(at.after) && !asksDenied.MatchString(w.question)
	}},
	{name: "names of columns", sentence: true, against: wrongKind, lacks: true, is: func(w wants, at pointed) bool {
		return at.namesColumns(at.begin)
	}},
	{name: "the question again", bare: true, against: echoed, is: func(w wants, at pointed) bool {
		said := decoder.ContentWords(at.value)
		return !w.choice && len(said) > 0 && decoder.SharedWords(said, w.words) == len(said)
	}},
}

// pointed is a span in its passage.
type pointed struct {
	passage
	*view
	from  int    // offset in the passage's text of the span
	value string // the span
	after string // what of the sentence comes after it
}

// view is a sentence of a passage, and what was found out about it. Many spans share one.
type view struct {
	begin, end int    // offsets in the passage's text
	said       string // the text
	head       string // the heading or the question above
	dated      bool   // the heading has a number
	titled     bool   // it is the document's title

	matches                  // of all sentences that the question is asked of
	verdicts map[string]bool // by the name of a misfit of sentences
	olds     []string        // values of before that it names
	seen     bool            // olds are known
	turns    [][]valueInTurn // by kind
	turned   bool            // turns are known
}

// matches remembers which texts a pattern matches. Most spans of a sentence, and many passages, share their words.
type matches map[match]bool

type match struct {
	pattern *regexp.Regexp
	text    string
}

// views are the sentences of a passage.
type views struct {
	at      map[[2]int]*view // by their offsets
	matches                  // may be those of several passages
}

func newViews(m matches) views { return views{map[[2]int]*view{}, m} }

// pointed returns a span in the passage.
func (p passage) pointed(s span.Span, all views) pointed {
	begin, end := p.sentence(s.Begin, s.End)
	v := all.at[[2]int{begin, end}]
	if v == nil {
		above := p.above(begin)
		v = &view{
			begin: begin, end: end, said: p.text[begin:end], head: above, dated: strings.ContainsAny(above, "0123456789"), titled: above == p.text[p.start:p.body],
			matches: all.matches, verdicts: map[string]bool{},
		}
		all.at[[2]int{begin, end}] = v
	}
	return pointed{passage: p, view: v, from: s.Begin, value: p.text[s.Begin:s.End], after: p.text[s.End:max(s.End, end)]}
}

// says reports whether a pattern matches the sentence.
func (v *view) says(pattern *regexp.Regexp) bool { return v.is(pattern, v.said) }

// has reports whether aTime or aNumber matches a text. It looks at a word or two at a time, so that what it remembers is of use for the
// next text.
func (m matches) has(pattern *regexp.Regexp, text string) bool {
	before := ""
	for word := range strings.FieldsSeq(text) {
		if m.is(pattern, word) || pairs(before) && m.is(pattern, before+" "+word) {
			return true
		}
		before = word
	}
	return false
}

// pairs reports whether a word may be the first of two that aTime or aNumber match: "as soon", "any time", "up to".
func pairs(word string) bool {
	n := len(word)
	return n >= 2 && (strings.EqualFold(word[n-2:], "as") || strings.EqualFold(word[n-2:], "up") || n >= 3 && strings.EqualFold(word[n-3:], "any"))
}

// is reports whether a pattern matches a text.
func (m matches) is(pattern *regexp.Regexp, text string) bool {
	this := match{pattern, text}
	ok, known := m[this]
	if !known {
		ok = pattern.MatchString(text)
		m[this] = ok
	}
	return ok
}

// outdates reports whether the sentence says that the value is no longer so.
func (at pointed) outdates(question string) bool {
	if !at.seen {
		at.olds, at.seen = oldValues(at.said), true
	}
	return (len(at.olds) > 0 || at.says(instead)) && replacesAny(at.olds, at.said, at.value, question)
}

// misfit returns what speaks against a span, in nats, and whether its sentence, with the heading above it, cannot answer.
func (w wants) misfit(p passage, s span.Span, all views) (against float64, lacks bool) {
	for _, m := range w.misfits(p, s, all) {
		against, lacks = against+m.against, lacks || m.lacks
	}
	return against, lacks
}

// misfits returns the reasons why a span is not what the question asks for.
func (w wants) misfits(p passage, s span.Span, all views) (out []misfit) {
	at := p.pointed(s, all)
	for _, m := range misfits {
		if (w.bare || !m.bare) && m.of(w, at) {
			out = append(out, m)
		}
	}
	return out
}

// of reports whether a misfit is one of a span.
func (m misfit) of(w wants, at pointed) bool {
	if !m.sentence {
		return m.is(w, at)
	}
	is, known := at.verdicts[m.name]
	if !known {
		is = m.is(w, at)
		at.verdicts[m.name] = is
	}
	return is
}

// otherWay reports whether a sentence has the journey the other way round: "Lund – Kiel" for one to Lund.
func (w wants) otherWay(sentence string) bool {
	begins := func(place string) bool { return journey(sentence, place+" ", "") }
	ends := func(place string) bool { return journey(sentence, "", " "+place) }
	return w.to != "" && begins(w.to) && !ends(w.to) || w.from != "" && ends(w.from) && !begins(w.from)
}

// journey reports whether a sentence has a mark between two places, with some text before it and after it.
func journey(sentence, before, after string) bool {
	return slices.ContainsFunc([]string{"–", "—", "-", "→", "->"}, func(mark string) bool {
		return strings.Contains(sentence, before+mark+after)
	})
}

var (
	// asksClosing matches a question when something closes; isClosed what says, before a time, that it is closed then.
	asksClosing = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:when|at what time|what time) (?:do|does|did|will) .*\b(?:close|shut)\b`)
	isClosed    = regexp.MustCompile(`(?i)\b(?:(?:closed|shut)(?: on| for)?|geschlossen(?: am)?|zu am|fermée?s?(?: le)?|cerrad[oa]s?(?: los?| el)?) *$`)
)

// numbered matches a thing that is told from others by its number: "Year 3", "room 12b".
var numbered = regexp.MustCompile(`(\pL{3,})s? (?:no\.? ?|nr\.? ?|number |#)?(\d{1,4}\pL?)\b`)

// numberedThings returns the numbers of the numbered things in a text.
func numberedThings(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range numbered.FindAllStringSubmatch(strings.ToLower(text), -1) {
		if thing := strings.TrimSuffix(m[1], "s"); countable(thing) && months[thing] == "" {
			all[thing] = append(all[thing], m[2])
		}
	}
	return all
}

// otherNumber reports whether a text has a numbered thing of the question under other numbers only: "Year 5" for "Year 3".
func (w wants) otherNumber(text string) bool {
	if len(w.numbered) == 0 {
		return false
	}
	here, all := numberedThings(text), numbers(text)
	for thing, asked := range w.numbered {
		if others := here[thing]; len(others) > 0 && !slices.ContainsFunc(asked, func(n string) bool { return slices.Contains(others, n) || slices.Contains(all, n) }) {
			return true
		}
	}
	return false
}

// aNumberedCode matches capitals with a number behind them: "E3", "P12".
var aNumberedCode = regexp.MustCompile(`\b([A-Z]{1,3})-?0*(\d{1,4})\b`)

// toCode matches several codes at once, some of them without capitals or between others: "E1–5", "E1/2".
var toCode = regexp.MustCompile(`[A-Z]-?\d{1,4} ?(?:[–—/,&-]|to|through|until|and|or|bis|und|à|et) ?(?:[A-Z]{1,3}-?)?\d`)

// codes returns the numbers behind the capitals of a text.
func codes(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range aNumberedCode.FindAllStringSubmatch(text, -1) {
		all[m[1]] = append(all[m[1]], m[2])
	}
	return all
}

// otherCode reports whether a sentence has the capitals of a code of the question with other numbers only, "E1" for "E3", and the heading
// above it does not have the code.
func (w wants) otherCode(head, said string) bool {
	if len(w.codes) == 0 || toCode.MatchString(said) {
		return false
	}
	here, above := codes(said), codes(head)
	for capitals, asked := range w.codes {
		has := func(n string) bool { return slices.Contains(here[capitals], n) || slices.Contains(above[capitals], n) }
		if len(here[capitals]) > 0 && !slices.ContainsFunc(asked, has) {
			return true
		}
	}
	return false
}

// aStep matches a line that begins with a number.
var aStep = regexp.MustCompile(`(?m)^[ \t]*\d{1,3}[.)][ \t]`)

// strike stands before and after what is struck out, and struckOut matches both with what is between.
const strike = "~~"

var struckOut = regexp.MustCompile(`~~[^~]*~~`)

// struck reports whether a value is struck out, with or without its marks: "~~Ada Lund~~ Per Holm".
func (p passage) struck(at int, value string) bool {
	begin := p.lineStart(at)
	first, last := strings.IndexFunc(value, isWordRune), strings.LastIndexFunc(value, isWordRune)
	if first < 0 {
		return false
	}
	from, to := at-begin+first, at-begin+last
	return slices.ContainsFunc(struckOut.FindAllStringIndex(p.text[begin:p.lineEnd(begin)], -1), func(out []int) bool {
		return out[0] < from && to < out[1]
	})
}

// isWordRune reports whether a rune belongs to words or numbers.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// aReason matches what may say why. A sentence without it that only repeats the question does not.
var aReason = regexp.MustCompile(`(?i)\b(?:because|since|as|due to|owing|thanks to|so that|in order|therefore|thus|hence|caus\pL*|reasons?|result\pL*|after|when|led|otherwise|else|avoid|prevent|protect|weil|da|denn|wegen|damit|parce|car|puisque|afin|porque|ya que|debido)\b|:`)

// before reports whether a value is of before: its clause says "was", and a later one "now", with another value.
func (at pointed) before() bool {
	clause := at.text[at.begin:max(at.begin, at.from)]
	if i := strings.LastIndexAny(clause, ";.:"); i >= 0 {
		clause = clause[i:]
	}
	if !at.is(wasSo, clause) {
		return false
	}
	next := at.after + at.next()
	return isNow.MatchString(next) && (len(numbers(at.value)) > 0) == (len(numbers(next)) > 0) && !holds(numbers(at.value), numbers(next))
}

// next returns the sentence after the span's.
func (at pointed) next() string {
	return at.text[at.end:max(at.end, at.ended(min(len(at.text), at.end+2)))]
}

var (
	wasSo = regexp.MustCompile(`(?i)` + apart(`was|were|used to|had|cost|originally|at first|first|initially|war|waren|kostete|était|coûtait|era|costaba`))
	isNow = regexp.MustCompile(`(?i)\b(?:now|since|as of|from now on|today|currently|jetzt|seit|désormais|depuis|ahora|desde)\b`)
)
