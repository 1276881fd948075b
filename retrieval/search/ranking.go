package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"tandem/retrieval/internal/terms"
	"tandem/retrieval/passages"
)

// Constants of the ranking of windows. They are near the optimum on the recall tables of docs/answers.md, which is
// flat.
const (
	saturation     = 1.2 // BM25's k1
	lengthWeight   = 0.4 // BM25's b
	titleCount     = 2   // occurrences that one in the title counts as
	nameCount      = 0.5 // and one in the name of the file
	sentenceWeight = 0.5 // of the terms in the best sentence and the title, relative to BM25
	typoWeight     = 0.7 // of a term that looks like a term of the question that no passage has
	partWeight     = 0.3 // of a term that begins or ends with a term of the question, or the reverse
	standInWeight  = 0.3 // of a term that may stand for a term of the question, times its grade

	candidatesPerResult = 16 // candidates for each passage that is returned
	leastResults        = 8  // a search that returns fewer passages has as many candidates as for these
)

// Rank returns up to n passages for a query, best first. It ranks the candidates that f finds by the sum of BM25 over
// title and text (Robertson and Zaragoza 2009, Eq. 3.15) and a score for the query's terms that are in one sentence with the
// title. A misspelt term finds similar terms. Words that are related to those of the question count in part; related may be
// nil.
func Rank(ctx context.Context, f Finder, text string, n int, related Related) ([]passages.Passage, error) {
	question := slices.DeleteFunc(Terms(text), isFunctionWord)
	question = slices.Compact(slices.Sorted(slices.Values(question[:min(len(question), maxQueryWords)])))
	if len(question) == 0 {
		return nil, nil
	}
	s := ranker{ctx: ctx, finder: f, frequency: map[string]uint64{}}
	if s.loadCounts(question); s.err != nil {
		return nil, s.err
	}
	s.findStandIns(text, question, related)
	candidates, err := f.Find(ctx, s.searchTerms(question), max(n, leastResults)*candidatesPerResult)
	if err != nil {
		return nil, err
	}
	return best(candidates, s.scores(question, candidates), n), s.err
}

// best returns the n passages with the highest scores, best first. Equal ones keep their order.
func best(ps []passages.Passage, scores []float64, n int) []passages.Passage {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	out := make([]passages.Passage, min(n, len(ps)))
	for i := range out {
		out[i] = ps[order[i]]
	}
	return out
}

// ranker scores passages for one question. It looks up the frequencies of terms as it needs them.
type ranker struct {
	ctx       context.Context
	finder    Finder
	passages  uint64
	frequency map[string]uint64         // passages with the term in title or text, about
	standIns  map[string][]weightedTerm // of the question's terms, in alphabetical order
	err       error                     // the first
}

// Related returns words that may stand for a lower-case word or go with it, each with a grade from 0 to 1.
type Related func(word string) map[string]float64

// findStandIns looks up which terms may stand for the question's, and keeps those that some passage has. A term that is in more
// passages than the question's own tells less, so it weighs less in proportion.
func (s *ranker) findStandIns(text string, question []string, related Related) {
	s.standIns = map[string][]weightedTerm{}
	if related == nil {
		return
	}
	var all []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		term, ok := oneTerm(word)
		if !ok || s.standIns[term] != nil || !slices.Contains(question, term) {
			continue
		}
		grades := related(word)
		for _, other := range slices.Sorted(maps.Keys(grades)) {
			if standIn, ok := oneTerm(other); ok && standIn != term {
				s.standIns[term] = append(s.standIns[term], weightedTerm{standIn, standInWeight * grades[other]})
				all = append(all, standIn)
			}
		}
	}
	s.loadCounts(slices.Compact(slices.Sorted(slices.Values(all))))
	for term, standIns := range s.standIns {
		standIns = slices.DeleteFunc(standIns, func(w weightedTerm) bool { return s.count(w.term) == 0 })
		s.standIns[term] = standIns
		own := s.ownIDF(term)
		for i, w := range standIns {
			standIns[i].weight *= min(1, s.idf(w.term)/own)
		}
	}
}

// ownIDF returns the inverse document frequency of a term of the question. One that no passage has is as rare as the rarest of
// those that may stand for it.
func (s *ranker) ownIDF(term string) (idf float64) {
	if s.count(term) > 0 || len(s.standIns[term]) == 0 {
		return s.idf(term)
	}
	for _, standIn := range s.standIns[term] {
		idf = max(idf, s.idf(standIn.term))
	}
	return idf
}

// oneTerm returns the term of a word. ok is false if it has none or several.
func oneTerm(word string) (term string, ok bool) {
	if ts := Terms(word); len(ts) == 1 {
		return ts[0], true
	}
	return "", false
}

// isFunctionWord reports whether a term says how a question is asked, not what it is about.
func isFunctionWord(term string) bool {
	idf, known := terms.IDF([]byte(term))
	return known && idf == 0
}

// loadCounts asks the finder for the frequencies of terms, all at once.
func (s *ranker) loadCounts(terms []string) {
	passages, counts, err := s.finder.Count(s.ctx, terms)
	if err != nil {
		s.err = cmp.Or(s.err, err)
		return
	}
	s.passages = passages
	for i, t := range terms {
		s.frequency[t] = counts[i]
	}
}

// count returns the number of passages that have a term in their text, or in their title if those are more.
func (s *ranker) count(term string) uint64 {
	n, ok := s.frequency[term]
	if !ok && s.err == nil {
		s.loadCounts([]string{term})
		n = s.frequency[term]
	}
	return n
}

// idf returns a term's inverse document frequency.
func (s *ranker) idf(term string) float64 { return idf(s.passages, s.count(term)) }

// idf is BM25's inverse document frequency of a term that is in some of the passages.
func idf(passages, with uint64) float64 {
	n := min(float64(with), float64(passages))
	return math.Log(1 + (float64(passages)-n+0.5)/(n+0.5))
}

// misspelt reports whether a term of the question may be misspelt: no passage has it, or what may stand for it.
func (s *ranker) misspelt(term string) bool { return s.count(term) == 0 && len(s.standIns[term]) == 0 }

// searchTerms returns the terms of the question and what may stand for them.
func (s *ranker) searchTerms(question []string) []Term {
	var out []Term
	for _, t := range question {
		search := Term{Text: t, Weight: 1}
		if s.misspelt(t) {
			search.Typos, search.Weight = maxTypos(t), typoWeight
		}
		out = append(out, search)
		for _, other := range s.standIns[t] {
			out = append(out, Term{Text: other.term, Weight: other.weight})
		}
	}
	return out
}

// scores returns the ranking score of each passage for a question.
func (s *ranker) scores(question []string, ps []passages.Passage) []float64 {
	candidates := make([]candidate, len(ps))
	vocabulary, average := map[string]bool{}, 0.0
	for i, p := range ps {
		candidates[i] = newCandidate(p)
		average += candidates[i].length
		for t := range candidates[i].count {
			vocabulary[t] = true
		}
	}
	average /= float64(len(ps)) // divided last, so that the candidates' order does not count
	inPassages := slices.Sorted(maps.Keys(vocabulary))
	var groups []termGroup
	for _, t := range question {
		groups = append(groups, s.group(t, inPassages))
	}
	out := make([]float64, len(ps))
	for i, c := range candidates {
		out[i] = c.bm25(groups, average) + sentenceWeight*c.bestSentence(groups)
	}
	return out
}

// group returns a term of the question with those of the other terms that stand for it. A term that no passage has is
// as rare as the most telling of those.
func (s *ranker) group(term string, others []string) termGroup {
	g := termGroup{s.ownIDF(term), []weightedTerm{{term, 1}}}
	g.terms = append(g.terms, s.standIns[term]...)
	misspelt := s.misspelt(term)
	if misspelt {
		g.idf = 0 // until a term like it is found
	}
	for _, other := range others {
		switch {
		case other == term:
		case misspelt && alike(term, other):
			g.terms = append(g.terms, weightedTerm{other, typoWeight})
		case isPart(term, other) || isPart(other, term):
			g.terms = append(g.terms, weightedTerm{other, partWeight})
		default:
			continue
		}
		if misspelt {
			g.idf = max(g.idf, s.idf(other))
		}
	}
	return g
}
