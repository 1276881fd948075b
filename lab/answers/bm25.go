package answers

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
)

// BM25 ranks sentences by Okapi BM25 (Robertson and Zaragoza 2009, Eq. 3.15) with k1 = 1.2, b = 0.75 over Porter's stems. A
// sentence is searched together with its document's title and its heading. It shares no code with the product's retrieval,
// which is measured against it.
type BM25 struct {
	Sentences []string
	terms     []map[string]int
	length    []int
	frequency map[string]int // sentences with the term
	mean      float64
}

// add adds a sentence under a heading.
func (b *BM25) add(heading, sentence string) {
	terms := map[string]int{}
	n := 0
	for _, t := range stems(heading + " " + sentence) {
		terms[t]++
		n++
	}
	if b.frequency == nil {
		b.frequency = map[string]int{}
	}
	for t := range terms {
		b.frequency[t]++
	}
	b.mean = (b.mean*float64(len(b.length)) + float64(n)) / float64(len(b.length)+1)
	b.Sentences, b.terms, b.length = append(b.Sentences, sentence), append(b.terms, terms), append(b.length, n)
}

// Best returns the k best sentences for a question, best first. Sentences without a word of it are not among them.
func (b *BM25) Best(question string, k int) []string {
	const k1, bLength = 1.2, 0.75
	type hit struct {
		at    int
		score float64
	}
	query := map[string]bool{}
	for _, t := range stems(question) {
		query[t] = true
	}
	var hits []hit
	for i, terms := range b.terms {
		score := 0.0
		for _, t := range slices.Sorted(maps.Keys(query)) {
			tf, df := float64(terms[t]), float64(b.frequency[t])
			if tf == 0 {
				continue
			}
			idf := math.Log(1 + (float64(len(b.terms))-df+0.5)/(df+0.5))
			score += idf * tf * (k1 + 1) / (tf + k1*(1-bLength+bLength*float64(b.length[i])/b.mean))
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(y.score, x.score) })
	var out []string
	for _, h := range hits[:min(k, len(hits))] {
		out = append(out, b.Sentences[h.at])
	}
	return out
}

// stems returns the stems of a text's words without function words.
func stems(text string) []string {
	var stream analysis.TokenStream
	for _, w := range tokens(text) {
		if !functionWords[w] {
			stream = append(stream, &analysis.Token{Term: []byte(w)})
		}
	}
	var out []string
	for _, t := range porter.NewPorterStemmer().Filter(stream) {
		out = append(out, string(t.Term))
	}
	return out
}
