package streams

import (
	"slices"
	"strings"
	"unicode"
)

// Alike is the share of their words from which two texts count as near-duplicates.
const Alike = 0.6

// Rank returns the streams in the order in which to show them, without empty texts and near-duplicates. The likeliest per token
// comes first. Each next one has the highest sum of its mean log probability and of how it differs, from 0 to 1, from the most
// similar text before it.
func Rank(list []Stream) (ranked []Stream) {
	var left []Stream
	for _, s := range list {
		if strings.TrimSpace(s.Text) != "" {
			left = append(left, s)
		}
	}
	for len(left) > 0 {
		best, most := -1, 0.0
		for i := range left {
			alike := 0.0
			for j := range ranked {
				alike = max(alike, Similarity(left[i].Text, ranked[j].Text))
			}
			if alike >= Alike {
				continue
			}
			if value := left[i].PerToken() + 1 - alike; best < 0 || value > most {
				best, most = i, value
			}
		}
		if best < 0 {
			return ranked
		}
		ranked = append(ranked, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return ranked
}

// Similarity returns how alike two texts are, from 0 to 1: the share of words and pairs of neighbouring words that they have in
// common (Dice's coefficient), whatever their case and marks. Texts without words are alike if they are equal.
func Similarity(a, b string) float64 {
	x, y := words(a), words(b)
	if len(x) == 0 || len(y) == 0 {
		if strings.TrimSpace(a) == strings.TrimSpace(b) {
			return 1
		}
		return 0
	}
	counts := map[string]int{}
	parts := func(w []string) []string {
		all := slices.Clone(w)
		for i := 1; i < len(w); i++ {
			all = append(all, w[i-1]+" "+w[i])
		}
		return all
	}
	p, q := parts(x), parts(y)
	for _, w := range p {
		counts[w]++
	}
	common := 0
	for _, w := range q {
		if counts[w] > 0 {
			counts[w]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(p)+len(q))
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
}
