package extract

import (
	"regexp"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/decoder/ground"
)

// otherwise returns the sentence that says something else than what was said and is likeliest to be right, if it would have
// been the answer had nobody said more; at most one. Only values are compared: sentences differ in too many ways.
func (s *part) otherwise(said string, quotes []decoder.Quote, nothing float64) []decoder.Quote {
	if s.form != value || said == Unknown {
		return nil
	}
	var best []decoder.Quote
	for _, q := range quotes {
		if q.Relevance >= nothing && disagree(s.clause, said, q) && (best == nil || q.Relevance > best[0].Relevance) {
			best = []decoder.Quote{q}
		}
	}
	return best
}

// mostWords is how many words a value has that is compared.
const mostWords = 10

// disagree reports whether what a quote answers to a question says something else than an answer: other numbers or, where
// neither has one, other words that the question does not have. Of a number and a word it does not say so: they answer
// different questions.
func disagree(question, answer string, q decoder.Quote) bool {
	other := q.Text[q.From:q.To]
	if len(strings.Fields(other)) > mostWords || other == "" {
		return false
	}
	a, b := numbers(answer), numbers(other)
	if len(a)+len(b) == 0 {
		asked := words(question)
		a, b = without(words(answer), asked), without(words(other), asked)
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	for x := range b {
		if a[x] {
			return false
		}
	}
	return true
}

var number = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)

// numbers returns the numbers of a text, times and amounts as they are written.
func numbers(text string) map[string]bool {
	out := map[string]bool{}
	for _, n := range number.FindAllString(text, -1) {
		out[n] = true
	}
	return out
}

// words returns the words of a text in lower case, without function words.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !functionWords[w] {
			out[w] = true
		}
	}
	return out
}

var functionWords = set(strings.Join(ground.Words(), " "))

func without(words, others map[string]bool) map[string]bool {
	for w := range others {
		delete(words, w)
	}
	return words
}
