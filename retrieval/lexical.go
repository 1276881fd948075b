package retrieval

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"tandem/retrieval/internal/terms"
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
func Lexical() Scorer { return lexicalOne }

var lexicalOne = &lexical{params: lexicalParams{
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

type lexical struct{ params lexicalParams }

func (*lexical) Name() string { return "lexical-1" }

func (s *lexical) Score(query string, p Passage) float64 {
	return s.Prepare([]Passage{p}).Scores(nil, query)[0]
}

// Prepare weighs the terms of each passage once. A query then costs one look-up for each of its terms.
func (s *lexical) Prepare(ps []Passage) Prepared {
	out := &lexicalPrepared{scorer: s, terms: make(map[string][]weighed), passages: len(ps)}
	for i, p := range ps {
		count := make(map[string]float64)
		length := 0.0
		terms.Each(p.Text, func(t []byte) { count[string(t)]++; length++ })
		terms.Each(p.Title, func(t []byte) { count[string(t)] += s.params.title; length++ })
		norm := s.params.k1 * (1 - s.params.b + s.params.b*length/s.params.average)
		for t, n := range count {
			if idf := s.weight([]byte(t)); idf > 0 {
				w := idf * n * (s.params.k1 + 1) / (n + norm)
				out.terms[t] = append(out.terms[t], weighed{i, w})
			}
		}
	}
	return out
}

// weight is the idf of a term, 0 for function words: they say nothing of the topic.
func (s *lexical) weight(term []byte) float64 {
	table := statistics()
	if idf, ok := table.idf[string(term)]; ok {
		return idf
	}
	return s.params.unknown * table.most
}

// weighed is what a term adds to a passage's overlap.
type weighed struct {
	passage int
	weight  float64
}

type lexicalPrepared struct {
	scorer   *lexical
	terms    map[string][]weighed
	passages int
}

func (l *lexicalPrepared) Scores(dst []float64, query string) []float64 {
	base := len(dst)
	for range l.passages {
		dst = append(dst, 0)
	}
	scores := dst[base:]
	var q queryTerms
	terms.Each(query, q.add)
	mass := 0.0
	for _, t := range q.distinct {
		text := q.text[t.from:t.to]
		idf := l.scorer.weight(text)
		if idf == 0 {
			continue
		}
		mass += idf
		for _, f := range l.terms[string(text)] {
			scores[f.passage] += float64(t.count) * f.weight
		}
	}
	if mass > 0 {
		p := l.scorer.params
		scale := p.scale / math.Sqrt(mass/p.typical)
		for i := range scores {
			scores[i] *= scale
		}
	}
	return dst
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

//go:generate go run ./internal/idfgen -o idf.txt $WIKITEXT

// idf.txt holds the number of pieces of text that were counted, then lines of a count and the terms that
// occur in so many pieces. WIKITEXT names the text: the validation part of WikiText-2 (raw).
//
//go:embed idf.txt
var idfTable string

type termStatistics struct {
	idf  map[string]float64 // 0 for function words
	most float64            // what a term in one piece of text has
}

var statistics = sync.OnceValue(func() *termStatistics {
	table, err := parseStatistics(idfTable)
	if err != nil {
		panic("retrieval: idf.txt, which is built in: " + err.Error())
	}
	return table
})

func parseStatistics(text string) (*termStatistics, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	pieces, err := strconv.ParseFloat(lines[0], 64)
	if err != nil {
		return nil, err
	}
	idf := func(n float64) float64 { return math.Log(1 + (pieces-n+0.5)/(n+0.5)) }
	t := &termStatistics{idf: make(map[string]float64, 8192), most: idf(1)}
	for i, line := range lines[1:] {
		count, rest, _ := strings.Cut(line, " ")
		n, err := strconv.ParseFloat(count, 64)
		if err != nil || n > pieces {
			return nil, fmt.Errorf("line %d: count %q", i+2, count)
		}
		for term := range strings.FieldsSeq(rest) {
			t.idf[term] = idf(n)
		}
	}
	terms.Each(functionWords, func(w []byte) { t.idf[string(w)] = 0 })
	return t, nil
}

// functionWords say how a question is asked or a sentence built, not what it is about.
const functionWords = `a an the this that these those some any each every all both either neither no not nor
 i me my mine we us our ours you your yours he him his she her hers it its they them their theirs one
 be am is are was were been being have has had having do does did doing done can could will would shall
 should may might must let lets s t d ll re ve m don doesn didn isn aren wasn won
 and or but if then else so as than because while though although
 of in on at to from by for with without about into onto over under up down out off through during
 before after between against within
 what which who whom whose when where why how much many there here
 please tell say know give me just also too very more most other such only own same again once
 get got go goes going come comes happen exactly currently called named`
