package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"

	"tandem/internal/sentences"
	"tandem/internal/spelling"
	"tandem/internal/words"
	"tandem/retrieval/internal/terms"
	"tandem/retrieval/passages"
)

// Constants of the ranking of windows. They are near the optimum on the recall tables of docs/answers.md, which is
// flat.
const (
	saturation     = 1.2 // BM25's k1
	lengthWeight   = 0.4 // BM25's b
	titleCount     = 2   // occurrences that one in the title counts as
	sentenceWeight = 0.5 // of the terms in the best sentence and the title, relative to BM25
	typoWeight     = 0.7 // of a term that looks like a term of the question that no passage has
	partWeight     = 0.3 // of a term that begins or ends with a term of the question, or the reverse
	standInWeight  = 0.5 // of a term that may stand for a term of the question, times its grade
)

// Lengths in characters.
const (
	minPart  = 4  // of a term that may be part of another
	minTypo  = 4  // of a term that may be misspelt
	twoTypos = 8  // of a term that may be misspelt twice
	maxTypo  = 40 // of a term that may be misspelt: an engine takes memory for each character
)

// Finder finds passages by their terms (Terms). An engine has one.
type Finder interface {
	// Count returns how many passages there are, and for each term how many of them have it in their text, or in their title if
	// those are more.
	Count(ctx context.Context, terms []string) (passages uint64, with []uint64, err error)
	// Find returns up to n passages that have one of the terms in title or text, best first by BM25, where an occurrence in the
	// title counts titleCount times. Where an engine can, it also takes terms with that many typing errors.
	Find(ctx context.Context, terms []Wanted, n int) ([]passages.Passage, error)
}

// Wanted is a term to find.
type Wanted struct {
	Term  string
	Typos int // how many typing errors it may have; 0 for a term that passages have
}

// Terms returns the terms of a text, as engines hold them.
func Terms(text string) (out []string) {
	for _, t := range analyzer().Analyze([]byte(text)) {
		out = append(out, string(t.Term))
	}
	return out
}

var analyzer = sync.OnceValue(func() analysis.Analyzer { return indexMapping().AnalyzerNamed(en.AnalyzerName) })

// Ranked returns up to n passages for a query, best first. It ranks the candidates that f finds by the sum of BM25 over
// title and text (Robertson and Zaragoza 2009, Eq. 3.15) and a score for the query's terms that are in one sentence with the
// title. A misspelt term finds similar terms. Words that are related to those of the question count in part; related may be
// nil.
func Ranked(ctx context.Context, f Finder, text string, n int, related Related) ([]passages.Passage, error) {
	question := slices.DeleteFunc(Terms(text), isFunctionWord)
	question = slices.Compact(slices.Sorted(slices.Values(question[:min(len(question), maxQueryWords)])))
	if len(question) == 0 {
		return nil, nil
	}
	s := statistics{ctx: ctx, finder: f, frequency: map[string]uint64{}}
	if s.look(question); s.err != nil {
		return nil, s.err
	}
	s.relate(text, question, related)
	candidates, err := f.Find(ctx, s.wanted(question), n*perPassage)
	if err != nil {
		return nil, err
	}
	score := s.scores(question, candidates)
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	found := make([]passages.Passage, 0, n)
	for _, i := range order[:min(n, len(order))] {
		found = append(found, candidates[i])
	}
	return found, s.err
}

// statistics looks up how frequent terms are in the index.
type statistics struct {
	ctx       context.Context
	finder    Finder
	passages  uint64
	frequency map[string]uint64   // passages with the term in title or text, about
	standIns  map[string][]worthy // of the question's terms, in alphabetical order
	err       error               // the first
}

// Related returns words that may stand for a lower-case word or go with it, each with a grade from 0 to 1.
type Related func(word string) map[string]float64

// relate looks up what may stand for the question's terms and is in some passage.
func (s *statistics) relate(text string, question []string, related Related) {
	s.standIns = map[string][]worthy{}
	if related == nil {
		return
	}
	var all []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		of := Terms(word)
		if len(of) != 1 || s.standIns[of[0]] != nil || !slices.Contains(question, of[0]) {
			continue
		}
		grades := related(word)
		for _, other := range slices.Sorted(maps.Keys(grades)) {
			if t := Terms(other); len(t) == 1 && t[0] != of[0] {
				s.standIns[of[0]] = append(s.standIns[of[0]], worthy{t[0], standInWeight * grades[other]})
				all = append(all, t[0])
			}
		}
	}
	s.look(slices.Compact(slices.Sorted(slices.Values(all))))
	for t, of := range s.standIns {
		s.standIns[t] = slices.DeleteFunc(of, func(w worthy) bool { return s.count(w.term) == 0 })
	}
}

// Shared returns the words of a query, in lower case, that a passage has in any form, without function words. A passage
// that has none was found by words that are related to these, or spelt like them.
func Shared(query string, p passages.Passage) []string {
	has := map[string]bool{}
	for _, t := range slices.Concat(Terms(p.Title), Terms(p.Text)) {
		has[t] = true
	}
	shared := []string{}
	for _, word := range strings.FieldsFunc(words.Composed(strings.ToLower(query)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if of := Terms(word); len(of) == 1 && has[of[0]] && !isFunctionWord(of[0]) && !slices.Contains(shared, word) {
			shared = append(shared, word)
		}
	}
	return shared
}

// isFunctionWord reports whether a term says how a question is asked, not what it is about.
func isFunctionWord(term string) bool {
	idf, known := terms.IDF([]byte(term))
	return known && idf == 0
}

// look looks up terms.
func (s *statistics) look(terms []string) {
	passages, with, err := s.finder.Count(s.ctx, terms)
	if err != nil {
		s.err = cmp.Or(s.err, err)
		return
	}
	s.passages = passages
	for i, t := range terms {
		s.frequency[t] = with[i]
	}
}

// count returns the number of passages that have a term in their text, or in their title if those are more.
func (s *statistics) count(term string) uint64 {
	n, ok := s.frequency[term]
	if !ok && s.err == nil {
		s.look([]string{term})
		n = s.frequency[term]
	}
	return n
}

// idf returns a term's inverse document frequency.
func (s *statistics) idf(term string) float64 {
	n := min(float64(s.count(term)), float64(s.passages))
	return math.Log(1 + (float64(s.passages)-n+0.5)/(n+0.5))
}

// wanted returns the terms of the question and what may stand for them. Those that no passage has may be misspelt.
func (s *statistics) wanted(question []string) []Wanted {
	var out []Wanted
	for _, t := range question {
		w := Wanted{Term: t}
		if s.count(t) == 0 && len(s.standIns[t]) == 0 {
			w.Typos = maxTypos(t)
		}
		out = append(out, w)
		for _, other := range s.standIns[t] {
			out = append(out, Wanted{Term: other.term})
		}
	}
	return out
}

// A candidate is a passage as its terms.
type candidate struct {
	title     map[string]bool
	count     map[string]float64
	length    float64
	sentences []map[string]bool
}

func (s *statistics) candidate(p passages.Passage) candidate {
	c := candidate{title: map[string]bool{}, count: map[string]float64{}}
	for _, t := range Terms(p.Title) {
		c.title[t] = true
		c.count[t] += titleCount
		c.length += titleCount
	}
	for _, text := range sentences.Split(p.Text) {
		sentence := map[string]bool{}
		for _, t := range Terms(text) {
			sentence[t] = true
			c.count[t]++
			c.length++
		}
		c.sentences = append(c.sentences, sentence)
	}
	return c
}

// A wanted term is a term of the question, with the terms that can replace it and the weight of an occurrence of each.
type wanted struct {
	idf   float64
	terms []worthy // the question's term first, the others in alphabetical order
}

// worthy is a term and the weight of an occurrence of it.
type worthy struct {
	term  string
	worth float64
}

// scores returns the ranking score of each passage for a question.
func (s *statistics) scores(question []string, ps []passages.Passage) []float64 {
	candidates := make([]candidate, len(ps))
	vocabulary, average := map[string]bool{}, 0.0
	for i, p := range ps {
		candidates[i] = s.candidate(p)
		average += candidates[i].length / float64(len(ps))
		for t := range candidates[i].count {
			vocabulary[t] = true
		}
	}
	known := slices.Sorted(maps.Keys(vocabulary))
	var want []wanted
	for _, t := range question {
		want = append(want, s.want(t, known))
	}
	out := make([]float64, len(ps))
	for i, c := range candidates {
		out[i] = c.bm25(want, average) + sentenceWeight*c.bestSentence(want)
	}
	return out
}

// want returns a term of the question with those of the known terms that stand for it.
func (s *statistics) want(term string, known []string) wanted {
	w := wanted{s.idf(term), []worthy{{term, 1}}}
	w.terms = append(w.terms, s.standIns[term]...)
	misspelt := s.count(term) == 0 && len(s.standIns[term]) == 0
	if s.count(term) == 0 {
		w.idf = 0
		for _, other := range s.standIns[term] {
			w.idf = max(w.idf, s.idf(other.term))
		}
	}
	for _, k := range known {
		switch {
		case k == term:
		case misspelt && alike(term, k):
			w.terms = append(w.terms, worthy{k, typoWeight})
		case isPart(term, k) || isPart(k, term):
			w.terms = append(w.terms, worthy{k, partWeight})
		default:
			continue
		}
		if misspelt {
			w.idf = max(w.idf, s.idf(k))
		}
	}
	return w
}

// bm25 returns the passage's BM25, where the occurrences of all that stand for a term count together.
func (c candidate) bm25(want []wanted, average float64) (sum float64) {
	norm := saturation * (1 - lengthWeight + lengthWeight*c.length/average)
	for _, w := range want {
		n := 0.0
		for _, t := range w.terms {
			n += t.worth * c.count[t.term]
		}
		sum += w.idf * n * (saturation + 1) / (n + norm)
	}
	return sum
}

// bestSentence returns the weight of the terms in that sentence which has most of those that are not in the title, with
// those in the title.
func (c candidate) bestSentence(want []wanted) (best float64) {
	for _, sentence := range c.sentences {
		sum := 0.0
		for _, w := range want {
			most := 0.0
			for _, t := range w.terms {
				if t.worth > most && (sentence[t.term] || c.title[t.term]) {
					most = t.worth
				}
			}
			sum += w.idf * most
		}
		best = max(best, sum)
	}
	return best
}

// isPart reports whether a term begins or ends with another, as compounds and derived words do.
func isPart(part, term string) bool {
	return utf8.RuneCountInString(part) >= minPart && (strings.HasPrefix(term, part) || strings.HasSuffix(term, part))
}

// maxTypos returns how many typing errors a term may have. Numbers and codes have none.
func maxTypos(term string) int {
	n := utf8.RuneCountInString(term)
	switch {
	case n < minTypo || n > maxTypo || strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsLetter(r) }):
		return 0
	case n < twoTypos:
		return 1
	}
	return 2
}

// alike reports whether one term may be the other, misspelt.
func alike(misspelt, term string) bool {
	a, b := []rune(misspelt), []rune(term)
	most := maxTypos(misspelt)
	if most == 0 || maxTypos(term) == 0 {
		return false
	}
	return spelling.Distance(a, b, most) <= most
}
