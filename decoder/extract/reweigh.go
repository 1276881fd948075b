package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/model/span"
)

// reweigh makes spans likelier whose sentences have words of the question that other sentences of the passage lack: a
// small reader often points at the right kind of thing in a sentence about something else. A sentence has the words of
// the heading and of the question above it, too. The probabilities keep their sum. sentenceFails says that the sentence
// of the likeliest span cannot answer.
func (p passage) reweigh(w wants, spans []span.Span, seen patternCache) (sentenceFails bool) {
	rarity := p.rarity(words.Without(w.words, words.Content(p.title())))
	total, sum, all := 0.0, 0.0, newSentenceCache(seen)
	for i := range spans {
		total += spans[i].P
		cost, _ := w.misfit(p, spans[i], all)
		spans[i].P *= math.Exp(wordWorth*rarity[p.sentenceIndex(spans[i].Begin)] - cost)
		sum += spans[i].P
	}
	for i := range spans {
		spans[i].P *= total / sum
	}
	slices.SortStableFunc(spans, func(a, b span.Span) int { return cmp.Compare(b.P, a.P) })
	if len(spans) > 0 {
		_, sentenceFails = w.misfit(p, spans[0], all)
	}
	return sentenceFails
}

// wordWorth is what a word of the question is worth in a sentence, in nats times the logarithm of how rare it is in the
// passage; one with a digit is worth twice that.
const wordWorth = 1.0

// rarity returns for each sentence how much of the wanted words it has: of each word, the more the fewer sentences have it.
func (p passage) rarity(wanted []string) []float64 {
	out := make([]float64, len(p.ends))
	for i, has := range p.sentencesWith(wanted) {
		n := 0
		for _, h := range has {
			if h {
				n++
			}
		}
		if n == 0 {
			continue
		}
		weight := math.Log(float64(len(p.ends)+1) / (float64(n) + 0.5))
		if hasDigit(wanted[i]) {
			weight *= 2
		}
		for k, h := range has {
			if h {
				out[k] += weight
			}
		}
	}
	return out
}

// sentencesWith returns for each wanted word which sentences have it. A sentence has the words of the heading or the
// question above it, too, and one that begins with a pronoun those of the sentence before.
func (p passage) sentencesWith(wanted []string) [][]bool {
	has := make([][]bool, len(wanted))
	for i := range has {
		has[i] = make([]bool, len(p.ends))
	}
	begin, above, before := 0, []string(nil), []string(nil)
	for n, end := range p.ends {
		own := words.Content(p.text[begin:end])
		all := own
		if begin >= p.body {
			all = slices.Concat(own, above)
		}
		if refers.MatchString(strings.TrimSpace(p.text[begin:end])) {
			all = slices.Concat(all, before)
		}
		before = all
		if begin >= p.body && (p.heading(p.sentenceStart(end-1), end) || p.isQuestion(p.sentenceStart(end-1))) {
			above = own
		}
		for i, w := range wanted {
			has[i][n] = words.Has(all, w)
		}
		begin = end
	}
	return has
}
