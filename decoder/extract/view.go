package extract

import (
	"regexp"
	"strings"

	"tandem/model/span"
)

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
	verdicts map[int]bool    // by the index of a misfit of sentences
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
	at      map[textRange]*view // by their offsets
	matches                     // may be those of several passages
}

func newViews(m matches) views { return views{map[textRange]*view{}, m} }

// pointed returns a span in the passage.
func (p passage) pointed(s span.Span, all views) pointed {
	begin, end := p.sentence(s.Begin, s.End)
	v := all.at[textRange{begin, end}]
	if v == nil {
		above := p.above(begin)
		v = &view{
			begin: begin, end: end, said: p.text[begin:end], head: above, dated: strings.ContainsAny(above, "0123456789"), titled: above == p.title(),
			matches: all.matches, verdicts: map[int]bool{},
		}
		all.at[textRange{begin, end}] = v
	}
	return pointed{passage: p, view: v, from: s.Begin, value: p.text[s.Begin:s.End], after: p.text[s.End:max(s.End, end)]}
}

// says reports whether a pattern matches the sentence.
func (v *view) says(pattern *regexp.Regexp) bool { return v.is(pattern, v.said) }

// has reports whether aTime or aNumber matches a text. It looks at a word or two at a time, so that what it remembers
// is of use for the next text.
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
