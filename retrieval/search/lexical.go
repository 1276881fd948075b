package search

import (
	_ "embed"
	"math"

	"tandem/retrieval/internal/terms"
	"tandem/retrieval/passages"
)

// Lexical returns the scorer "lexical-1". With t over the distinct terms of the query,
//
//	R = scale · Σ q(t)·idf(t)·sat(t)  /  √(Σ idf(t) / typical)
//
// where sat is BM25's saturation and length normalisation of t's count in the passage and its title, and
// q(t) is t's count in the query, at most 3: where a question is followed by the sentence being written,
// the sentence's own words count for more. The root keeps long queries from being overly sure.
//
// Its document frequencies are fixed and shipped (idf.txt: English text in pieces of the passages' size),
// so unlike BM25 over an index it gives the same passage the same relevance on both sides.
//
// Scale and the other constants are those at which softmax R over four candidates of each side has nearly
// the least log-loss for the passage that holds the answer, on XQuAD; TestCalibration prints the curve.
func Lexical() *LexicalScorer { return lexicalOne }

var lexicalOne = &LexicalScorer{params: lexicalParams{
	scale: 0.35, k1: 0.8, b: 0.3, average: 48, title: 2, unknown: 0.8, typical: 40,
}}

// lexicalParams are the constants of the scorer. They are part of its name: to change one is to make
// another scorer.
type lexicalParams struct {
	scale   float64 // nats per unit of overlap
	k1, b   float64 // saturation and length normalisation, as in BM25
	average float64 // terms in an average passage
	title   float64 // occurrences that one in the title counts for
	unknown float64 // weight of a term that is not in the statistics, relative to the greatest idf
	typical float64 // Σ idf of a typical question
}

// Bounds of a query: how often a term counts, and how many distinct terms do.
const (
	maxRepeats = 3
	maxTerms   = 256
)

// LexicalScorer gives passages their relevance; see Lexical.
type LexicalScorer struct{ params lexicalParams }

// Name identifies the scorer and its version.
func (*LexicalScorer) Name() string { return "lexical-1" }

// Prepare weighs the terms of the passages once. The function that it returns appends to dst the relevance of each
// passage to a query, in nats and in the order of ps, at the cost of one look-up for each term of the query.
func (s *LexicalScorer) Prepare(ps []passages.Passage) func(dst []float64, query string) []float64 {
	index := make(map[string][]weighed)
	for i, p := range ps {
		count := make(map[string]float64)
		length := 0.0
		terms.Each(p.Text, func(t []byte) { count[string(t)]++; length++ })
		terms.Each(p.Title, func(t []byte) { count[string(t)] += s.params.title; length++ })
		norm := s.params.k1 * (1 - s.params.b + s.params.b*length/s.params.average)
		for t, n := range count {
			if idf := s.weight([]byte(t)); idf > 0 {
				w := idf * n * (s.params.k1 + 1) / (n + norm)
				index[t] = append(index[t], weighed{i, w})
			}
		}
	}
	return func(dst []float64, query string) []float64 {
		return s.scores(index, len(ps), dst, query)
	}
}

// scores appends the relevance of n passages to query, given the weights of their terms.
func (s *LexicalScorer) scores(index map[string][]weighed, n int, dst []float64, query string) []float64 {
	base := len(dst)
	for range n {
		dst = append(dst, 0)
	}
	scores := dst[base:]
	var q queryTerms
	terms.Each(query, q.add)
	mass := 0.0
	for _, t := range q.distinct {
		text := q.text[t.from:t.to]
		idf := s.weight(text)
		if idf == 0 {
			continue
		}
		mass += idf
		for _, f := range index[string(text)] {
			scores[f.passage] += float64(t.count) * f.weight
		}
	}
	if mass > 0 {
		scale := s.params.scale / math.Sqrt(mass/s.params.typical)
		for i := range scores {
			scores[i] *= scale
		}
	}
	return dst
}

// weight is the idf of a term, 0 for function words: they say nothing of the topic.
func (s *LexicalScorer) weight(term []byte) float64 {
	if idf, known := terms.IDF(term); known {
		return idf
	}
	return s.params.unknown * terms.MaxIDF()
}

// weighed is what a term adds to a passage's overlap.
type weighed struct {
	passage int
	weight  float64
}

// queryTerms counts the terms of a query. Queries are short, so it looks through a list.
type queryTerms struct {
	text     []byte
	distinct []queryTerm
}

type queryTerm struct{ from, to, count int }

func (q *queryTerms) add(term []byte) {
	for i, t := range q.distinct {
		if string(q.text[t.from:t.to]) == string(term) {
			q.distinct[i].count = min(t.count+1, maxRepeats)
			return
		}
	}
	if len(q.distinct) < maxTerms {
		from := len(q.text)
		q.text = append(q.text, term...)
		q.distinct = append(q.distinct, queryTerm{from, len(q.text), 1})
	}
}
