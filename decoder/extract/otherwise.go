package extract

import (
	"slices"
	"strings"

	"tandem/decoder"
	"tandem/internal/words"
)

// otherwise returns the sentence that says something other than what was said and is likeliest to be right, if it would
// have been the answer had nobody said more; at most one. Only values are compared: sentences differ in too many ways.
// It must speak of what the question speaks of, as far as the sentence does that says the answer here. A document that
// says the answer seldom contradicts itself: what else it says is about something else. In a conversation, another
// document than the one that it is about must speak of what was asked before, too.
func (s *part) otherwise(said string, quotes []decoder.Quote, nothing float64) []decoder.Quote {
	if s.form != formValue {
		return nil
	}
	topic := words.Content(s.clause)
	before := words.Without(s.asked, topic)
	least := minAbout * float64(len(topic))
	says := func(q decoder.Quote) bool { return q.Weight >= decoder.MinShare }
	shares := func(q decoder.Quote) float64 { return float64(words.Shared(topic, s.wordsAround(q))) }
	var sayers []string // the documents that say the answer
	for _, q := range quotes {
		if says(q) {
			least, sayers = max(least, shares(q)), append(sayers, s.known[q.Passage].source)
		}
	}
	var best []decoder.Quote
	for _, q := range quotes {
		likelier := q.Relevance >= nothing && (best == nil || q.Relevance > best[0].Relevance)
		follows := len(before) == 0 || s.contexts[q.Passage].ofLastSource || words.Shared(before, s.wordsAround(q)) > 0
		if likelier && follows && !slices.Contains(sayers, s.known[q.Passage].source) && shares(q) >= least && disagree(s.clause, said, q) {
			best = []decoder.Quote{q}
		}
	}
	return best
}

// minAbout is the share of a question's words that a sentence must have, with its title, to be about the same.
const minAbout = 0.6

// wordsAround returns the words of a quote, of its passage's title, of the question in the line above that it answers, and
// of what stands before it in its line if one of both is short: "Gate. The code is 4096 now."
func (s *part) wordsAround(q decoder.Quote) []string {
	p := s.known[q.Passage]
	text := p.text[:p.body] + q.Text
	if at := p.at(q); at > p.body {
		above := p.lineStart(at)
		if before := p.text[above:at]; min(len(strings.Fields(q.Text)), len(strings.Fields(before))) <= fewWords {
			text += " " + before
		}
		if before := p.text[p.lineStart(max(0, above-1)):above]; strings.HasSuffix(strings.TrimSpace(before), "?") {
			text += " " + before
		}
	}
	return words.Content(text)
}
