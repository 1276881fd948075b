package search

import (
	"math"

	"tandem/retrieval/internal/terms"
	"tandem/retrieval/passages"
)

// Lexical returns the scorer "lexical-1". With t over the distinct terms of the query,
//
//	R = scale · Σ q(t)·idf(t)·sat(t)  /  √(Σ idf(t) / typical)
//
// where sat is BM25's saturation and length normalisation of t's count in the passage and its title, and q(t) is t's count
// in the query, at most 3. When the sentence being written follows the question, the terms that both share count more. The
// root keeps long queries from giving extreme weights.
//
// The document frequencies are fixed and ship with the program (package terms), so that a passage has the same relevance
// on both sides, unlike with BM25 over an index.
//
// The constants nearly minimise the log-loss of softmax R over four candidates of each side for the passage that holds the
// answer, on XQuAD. TestCalibration prints the curve.
func Lexical() *LexicalScorer { return lexicalOne }

var lexicalOne = &LexicalScorer{params: lexicalParams{
	scale: 0.35, k1: 0.8, b: 0.3, average: 48, title: 2, unknown: 0.8, typical: 40,
}}

// lexicalParams are the constants of the scorer. The scorer's name stands for them: a scorer with other constants needs
// another name.
type lexicalParams struct {
	scale   float64 // nats per unit of overlap
	k1, b   float64 // saturation and length normalisation, as in BM25
	average float64 // terms in an average passage
	title   float64 // how many occurrences one in the title counts as
	unknown float64 // weight of an unknown term, relative to the greatest idf
	typical float64 // Σ idf of a typical question
}

// Limits of a query.
const (
	maxRepeats = 3   // occurrences of a term that count
	maxTerms   = 256 // distinct terms
)

// LexicalScorer gives passages their relevance; see Lexical.
type LexicalScorer struct{ params lexicalParams }

// Name identifies the scorer and its version.
func (*LexicalScorer) Name() string { return "lexical-1" }

// Prepare weighs the terms of the passages once. The function that it returns appends to dst the relevance of each
// passage to a query, in nats and in the order of ps, at the cost of one look-up for each term of the query.
func (s *LexicalScorer) Prepare(ps []passages.Passage) func(dst []float64, query string) []float64 {
	index := make(map[string][]posting)
	for i, p := range ps {
		count := make(map[string]float64)
		length := 0.0
		terms.Each(p.Text, func(t []byte) { count[string(t)]++; length++ })
		terms.Each(p.Title, func(t []byte) { count[string(t)] += s.params.title; length++ })
		norm := s.params.k1 * (1 - s.params.b + s.params.b*length/s.params.average)
		for t, n := range count {
			if idf := s.weight([]byte(t)); idf > 0 {
				w := idf * n * (s.params.k1 + 1) / (n + norm)
				index[t] = append(index[t], posting{i, w})
			}
		}
	}
	return func(dst []float64, query string) []float64 {
		return s.scores(index, len(ps), dst, query)
	}
}

// scores appends the relevance of n passages to query, given the weights of their terms.
func (s *LexicalScorer) scores(index map[string][]posting, n int, dst []float64, query string) []float64 {
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

// weight returns the idf of a term, which is 0 for function words.
func (s *LexicalScorer) weight(term []byte) float64 {
	if idf, known := terms.IDF(term); known {
		return idf
	}
	return s.params.unknown * terms.MaxIDF()
}

// posting is what a term adds to a passage's relevance.
type posting struct {
	passage int
	weight  float64
}

// queryTerms counts the terms of a query. Queries are short, so a list is enough.
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
