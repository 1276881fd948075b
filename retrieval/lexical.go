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

// Lexical returns the scorer "lexical-1": idf-weighted overlap of the query's terms with the passage and
// its title, with BM25's saturation and length normalisation. Its document frequencies are fixed and
// shipped (idf.txt: English text in pieces of the passages' size), so unlike BM25 over an index it gives
// the same passage the same relevance on both sides.
//
// A relevance is scale · overlap in nats. The scale was calibrated (TestCalibration prints the curve) so
// that softmax R over the candidates of both sides has the least log-loss for the passage that holds the
// answer.
func Lexical() Scorer { return lexicalOne }

var lexicalOne = &lexical{params: lexicalParams{
	scale: 0.5, k1: 1.2, b: 0.5, average: 48, title: 2, unknown: 1,
}}

// lexicalParams are the constants of the scorer. They are part of its name: to change one is to make
// another scorer.
type lexicalParams struct {
	scale   float64 // nats per unit of overlap
	k1, b   float64 // saturation and length normalisation, as in BM25
	average float64 // terms in an average passage
	title   float64 // occurrences that one in the title counts for
	unknown float64 // weight of a query term that no statistics know, relative to the greatest idf
}

type lexical struct{ params lexicalParams }

func (*lexical) Name() string { return "lexical-1" }

func (s *lexical) Score(query string, p Passage) float64 {
	return s.Prepare([]Passage{p}).Scores(nil, query)[0]
}

// Prepare weighs the terms of each passage once. A query then costs one look-up for each of its terms.
func (s *lexical) Prepare(ps []Passage) Prepared {
	out := &lexicalPrepared{terms: make(map[string][]weighed), passages: len(ps)}
	for i, p := range ps {
		count := make(map[string]float64)
		length := 0.0
		terms.Each(p.Text, func(t []byte) { count[string(t)]++; length++ })
		terms.Each(p.Title, func(t []byte) { count[string(t)] += s.params.title; length++ })
		norm := s.params.k1 * (1 - s.params.b + s.params.b*length/s.params.average)
		for t, n := range count {
			if idf := s.weight(t); idf > 0 {
				w := idf * n * (s.params.k1 + 1) / (n + norm)
				out.terms[t] = append(out.terms[t], weighed{i, s.params.scale * w})
			}
		}
	}
	return out
}

// weight is the idf of a term, 0 for function words: they say nothing of the topic.
func (s *lexical) weight(term string) float64 {
	table := statistics()
	if table.function[term] {
		return 0
	}
	if idf, ok := table.idf[term]; ok {
		return idf
	}
	return s.params.unknown * table.most
}

type weighed struct {
	passage int
	weight  float64 // nats that the term's presence in the query adds
}

type lexicalPrepared struct {
	terms    map[string][]weighed
	passages int
}

func (l *lexicalPrepared) Scores(dst []float64, query string) []float64 {
	base := len(dst)
	for range l.passages {
		dst = append(dst, 0)
	}
	scores := dst[base:]
	var seen [64][]weighed // a term counts once, however often the query has it
	n := 0
	terms.Each(query, func(t []byte) {
		found := l.terms[string(t)]
		if len(found) == 0 {
			return
		}
		for _, s := range seen[:n] {
			if &s[0] == &found[0] {
				return
			}
		}
		if n < len(seen) {
			seen[n] = found
			n++
		}
		for _, f := range found {
			scores[f.passage] += f.weight
		}
	})
	return dst
}

//go:generate go run ./internal/idfgen -o idf.txt ../../shared/data/wikitext2/wiki.valid.raw

// idf.txt holds the number of pieces of text that were counted, then lines of a count and the terms that
// occur in so many pieces.
//
//go:embed idf.txt
var idfTable string

type termStatistics struct {
	idf      map[string]float64
	most     float64 // of a term that is not in the table
	function map[string]bool
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
	t := &termStatistics{idf: make(map[string]float64, 8192), most: idf(1), function: make(map[string]bool)}
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
	terms.Each(functionWords, func(w []byte) { t.function[string(w)] = true })
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
