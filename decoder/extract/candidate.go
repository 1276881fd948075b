package extract

import (
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/model/span"
)

// candidate is a span that the reader points at: it may be the answer, with what its sentence and its passage say.
type candidate struct {
	passage
	*sentenceSeen
	from  int    // where the span begins in the passage's text
	value string // the text of the span
	after string // the rest of the sentence after it
}

// sentenceSeen is a sentence of a passage and what is known of it. Many candidates share one.
type sentenceSeen struct {
	begin, end int    // where it stands in the passage's text
	said       string // its text
	head       string // the heading or the question above it
	dated      bool   // the heading has a digit
	titled     bool   // the heading is the document's title

	patternCache               // shared by all sentences that the question is asked of
	misfits           []misfit // those that judge the sentence alone and apply
	judged            bool     // misfits is known
	formerValues      []string // the values that it says are out of date
	formerKnown       bool
	enumerations      [][]enumeratedValue // by kind
	enumerationsKnown bool
}

// sentenceCache holds the sentences of a passage by where they stand.
type sentenceCache struct {
	at           map[textRange]*sentenceSeen
	patternCache // perhaps shared with other passages
}

func newSentenceCache(c patternCache) sentenceCache {
	return sentenceCache{map[textRange]*sentenceSeen{}, c}
}

// candidate makes a span of the passage a candidate.
func (p passage) candidate(s span.Span, all sentenceCache) candidate {
	begin, end := p.sentence(s.Begin, s.End)
	seen := all.at[textRange{begin, end}]
	if seen == nil {
		above := p.headingAbove(begin)
		seen = &sentenceSeen{
			begin: begin, end: end, said: p.text[begin:end], head: above, dated: hasDigit(above), titled: above == p.title(),
			patternCache: all.patternCache,
		}
		all.at[textRange{begin, end}] = seen
	}
	return candidate{passage: p, sentenceSeen: seen, from: s.Begin, value: p.text[s.Begin:s.End], after: p.text[s.End:max(s.End, end)]}
}

// before returns what stands before the value in its sentence.
func (c candidate) before() string { return c.text[c.begin:max(c.begin, c.from)] }

// patternCache remembers whether a pattern matches a text. Most candidates of a sentence, and many passages, share their
// words, and the patterns are large.
type patternCache map[patternAndText]bool

type patternAndText struct {
	pattern *lazyregexp.Regexp
	text    string
}

// says reports whether a pattern matches the sentence.
func (s *sentenceSeen) says(pattern *lazyregexp.Regexp) bool { return s.matches(pattern, s.said) }

// has reports whether aTime or aNumber matches a text. It looks at one word or two at a time, so that what it remembers
// is of use for other texts.
func (c patternCache) has(pattern *lazyregexp.Regexp, text string) bool {
	before := ""
	for word := range strings.FieldsSeq(text) {
		if c.matches(pattern, word) || beginsPair(before) && c.matches(pattern, before+" "+word) {
			return true
		}
		before = word
	}
	return false
}

// beginsPair reports whether a word may be the first of two that aTime or aNumber match: "as soon", "any time", "up to".
func beginsPair(word string) bool {
	n := len(word)
	return n >= 2 && (strings.EqualFold(word[n-2:], "as") || strings.EqualFold(word[n-2:], "up") || n >= 3 && strings.EqualFold(word[n-3:], "any"))
}

// matches reports whether a pattern matches a text.
func (c patternCache) matches(pattern *lazyregexp.Regexp, text string) bool {
	this := patternAndText{pattern, text}
	ok, known := c[this]
	if !known {
		ok = pattern.MatchString(text)
		c[this] = ok
	}
	return ok
}
