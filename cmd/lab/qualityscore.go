package main

import (
	"strings"
	"unicode"

	"tandem/cmd/internal/cli"
)

// add counts an answer and reports whether it is right.
func (r *qualityRow) add(q asked, answer string) bool {
	r.N++
	right, overlap := false, 0.0
	for _, gold := range q.golds() {
		if q.Kind == "xquad" {
			right = right || strings.Join(normal(gold), " ") == strings.Join(normal(answer), " ")
		} else {
			right = right || gold == answer
		}
		overlap = max(overlap, tokenF1(answer, gold))
	}
	if cli.Refused(answer) {
		r.Refused++
		right = right || len(q.Values) == 0
	}
	if right {
		r.Exact++
	}
	r.F1 += overlap
	if len(q.Values) > 0 && holds(answer, q.Values) || len(q.Values) == 0 && cli.Refused(answer) {
		r.Holds++
	}
	return right
}

// normal is SQuAD's normalisation: lower case, without punctuation and articles.
func normal(s string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) && r < 0x80 {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	var out []string
	for w := range strings.FieldsSeq(s) {
		if w != "a" && w != "an" && w != "the" {
			out = append(out, w)
		}
	}
	return out
}

// tokenF1 is the harmonic mean of precision and recall of the answer's words.
func tokenF1(answer, gold string) float64 {
	a, g := normal(answer), normal(gold)
	if len(a) == 0 || len(g) == 0 {
		if len(a) == len(g) {
			return 1
		}
		return 0
	}
	left := map[string]int{}
	for _, w := range g {
		left[w]++
	}
	same := 0.0
	for _, w := range a {
		if left[w] > 0 {
			left[w]--
			same++
		}
	}
	return 2 * same / float64(len(a)+len(g))
}
