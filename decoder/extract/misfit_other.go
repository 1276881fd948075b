package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// otherWay reports whether a sentence has the journey the other way round: "Lund – Kiel" for one to Lund, or "to Lund" for the
// way back from there.
func (w wants) otherWay(sentence string) bool {
	begins := func(place string) bool { return journey(sentence, place+" ", "") }
	ends := func(place string) bool { return journey(sentence, "", " "+place) }
	if w.back && strings.Contains(sentence, " to "+w.from) && !saysBack.MatchString(sentence) {
		return true
	}
	return w.to != "" && begins(w.to) && !ends(w.to) || w.from != "" && ends(w.from) && !begins(w.from)
}

var (
	// asksBack matches a question about the way back from a place.
	asksBack = lazyregexp.New(`(?i)\b(?:(?:way|trip|journey|train|bus|flight|ferry|ticket|go|going|get|come|coming|travel\pL*|drive|fly|flying) back|return (?:trip|journey|train|bus|flight|ferry|ticket))\b.* from \pL`)
	// saysBack matches what says that a sentence is about the way back, too.
	saysBack = lazyregexp.New(`(?i)\b(?:back|home|from|return\pL*|round[ -]trip|both ways|each way|rückfahrt|zurück|retour|vuelta)\b`)
)

// toElsewhere reports whether a sentence, with the heading above it, has a journey from the same place to another one
// than the question's. A place in capitals, "JFK", may be the question's.
func (w wants) toElsewhere(head, sentence string) bool {
	if w.to == "" || w.from == "" || strings.Contains(head+sentence, w.to) {
		return false
	}
	m := goesTo.FindStringSubmatch(sentence)
	return m != nil && m[1] != w.to && strings.ToUpper(m[1]) != m[1] && strings.Contains(sentence, w.from)
}

// journey reports whether a sentence has a mark between two places, with some text before it and after it.
func journey(sentence, before, after string) bool {
	return slices.ContainsFunc([]string{"–", "—", "-", "→", "->"}, func(mark string) bool {
		return strings.Contains(sentence, before+mark+after)
	})
}

// inOtherItem reports whether a candidate for an amount of money stands in an item of a list whose label has no word of the
// question, though the label of another item has some that are nowhere else, and that item may name an amount.
func (w wants) inOtherItem(c candidate) bool {
	own := labelOf(c.text[c.lineStart(c.begin):c.lineEnd(c.begin)])
	if !w.money || own == "" || amountWord.MatchString(own) || !c.isItem(c.begin) || words.Shared(w.words, words.Content(own)) > 0 {
		return false
	}
	left := words.Without(w.words, words.Content(c.title()+"\n"+c.head+"\n"+c.text[c.lineStart(c.begin):c.lineEnd(c.begin)]))
	for begin, end := range c.lines() {
		line := c.text[begin:end]
		if c.isItem(begin) && words.Shared(left, words.Content(labelOf(line))) >= fewestLabelled && w.mayNameAmount(line) {
			return true
		}
	}
	return false
}

// fewestLabelled is how many words of a question the label of an item has that it surely asks about.
const fewestLabelled = 2

// besideOther looks at a sentence that names two things, one rather than the other. It returns how many words of the
// question stand beside the candidate, and how many only beside the other.
func (c candidate) besideOther(w wants) (here, there int) {
	if !c.says(ratherThan) || ratherThan.MatchString(w.question) {
		return 0, 0
	}
	m := ratherThan.FindStringIndex(c.said)
	behind := c.said[m[1]:]
	if end := afterOther.FindStringIndex(behind); end != nil { // "rather than Ada in the hall": both are in the hall
		behind = behind[:end[0]]
	}
	one, other := words.Content(c.said[:m[0]]), words.Content(behind)
	if c.from-c.begin >= m[1] {
		one, other = other, one
	}
	return words.Shared(w.words, one), words.Shared(words.Without(w.words, one), other)
}

// afterOther matches what may go with both things again: " in the hall".
var afterOther = lazyregexp.New(`(?i) (?:in|on|at|to|for|of|from|with|by|because|this|next|last|as)\b|[,;:]`)

// ratherThan matches what stands between two things of which one is meant: "instead of".
var ratherThan = lazyregexp.New(`(?i)\b(?:rather than|instead of|as opposed to|compared (?:to|with))\b`)
