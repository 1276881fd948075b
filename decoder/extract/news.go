package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

// Bounds for a sentence that may say what has become of another's value.
const (
	surelyRead    = 0.5 // the least probability, by the reader, that it answers
	minTopicShare = 0.4 // the least share of the question's words that it has with what stands around it
	minTopicWords = 2   // the fewest such words: "And the bike?" does not say what it asks about it
	beforeNews    = 40  // the most bytes between what announces a value and the value
)

// newer reports whether a sentence announces a value in the place of another sentence's. It has to be about what is asked, and its passage
// has to have all words of the question that the other sentence has: the notice about the late boat is not about the early one.
func (s *part) newer(was, q decoder.Quote) bool {
	old, now := s.known[was.Passage], s.known[q.Passage]
	if asksPast.MatchString(s.clause) || !now.announces(q) || old.announces(was) || !s.comparable(was, q) {
		return false
	}
	topic := decoder.ContentWords(s.clause)
	if float64(decoder.SharedWords(topic, s.wordsAround(q))) < max(minTopicWords, minTopicShare*float64(len(topic))) {
		return false
	}
	said, words := decoder.ContentWords(was.Text), decoder.ContentWords(now.text)
	return !slices.ContainsFunc(topic, func(w string) bool {
		one := []string{w}
		return decoder.SharedWords(one, said) > 0 && decoder.SharedWords(one, words) == 0
	})
}

// announcesAbout reports whether a sentence that has all of the question's words, with its title, announces its value: what it takes the
// place of may stand in a document of the other side.
func (p passage) announcesAbout(w wants, q decoder.Quote) bool {
	words := decoder.ContentWords(p.text[:p.body] + q.Text)
	all := len(w.words) >= minTopicWords && decoder.SharedWords(w.words, words) == len(w.words)
	return all && p.announces(q) && !replaces(q.Text, q.Text[q.From:q.To], w.question)
}

// comparable reports whether two values differ and are of one kind: both amounts of money, or both times of the day, or neither.
func (s *part) comparable(a, b decoder.Quote) bool {
	x, y := a.Text[a.From:a.To], b.Text[b.From:b.To]
	return ofMoney.MatchString(x) == ofMoney.MatchString(y) && ofDay.MatchString(x) == ofDay.MatchString(y) && disagree(s.clause, x, b)
}

// announces reports whether a sentence says of its value that it is new, without saying what was before: "is now £31", "moved to 3:15",
// "from 14 July the boat leaves at 8", or anything below "Addendum". When a change comes into force is no such value.
func (p passage) announces(q decoder.Quote) bool {
	dates := since.FindAllStringIndex(q.Text, -1)
	if slices.ContainsFunc(dates, func(m []int) bool { return m[0] < q.To && q.From < m[1] }) {
		return false
	}
	before := func(m []int) bool { return m[0] < q.To && q.From-m[1] <= beforeNews }
	if slices.ContainsFunc(append(dates, change.FindAllStringIndex(q.Text, -1)...), before) || nowBehind.MatchString(q.Text[q.To:]) {
		return true
	}
	at := strings.Index(p.text[p.body:], q.Text)
	return at > 0 && addition.MatchString(p.text[p.body:p.body+at])
}

var (
	// change matches what stands before a new value.
	change = regexp.MustCompile(`(?i)` + apart(`now|no more|no longer|instead|from here on`+
		`|(?:mov|chang|rais|ris|increas|reduc|lower|postpon|reschedul|extend|shift|switch|swapp|dropp|shov)(?:es?|s|ed|en|ing)?(?: \pL+){0,5}? (?:to|until|till)`+
		`|put (?:up|back|forward) (?:to|until|by)|(?:goes|go|went|gone|going) (?:up|down|back)(?: to)?`+
		`|(?:update|updated|correction|corrected|change|changed|changes|notice|edit|ps|nb|neu|korrektur|änderung|changement|cambio)\b[^.:;\n]{0,30}[:!–—]`))

	// since matches from when on something holds; a stretch of time is no such thing.
	since = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:with effect from|effective(?: from)?|as (?:of|from)|starting|from) (?:next (?:week|month|year|season|term)|the same (?:date|day)|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? ` +
		aMonth + `|` + aMonth + `)(?:[^\pL\pN–-]|$)`)

	nowBehind = regexp.MustCompile(`(?i)^ ?(?:now|instead|from now on)\b`)

	// addition matches the heading of what was added to a text, which changes what it says above.
	addition = regexp.MustCompile(`(?im)(?:^|[.!?] )\W*(?:addend\pL*|amendment|amended|errat\pL+|corrigend\pL+|correction|stop press|p\.?s\b|update|nachtrag|avenant)\b`)
)
