package search

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	api "github.com/blevesearch/bleve_index_api"

	"tandem/retrieval/passages"
)

// Finder finds passages by their terms (Terms). An engine has one.
type Finder interface {
	// Count returns how many passages there are, and for each term how many of them have it in their text, or in their title if
	// those are more.
	Count(ctx context.Context, terms []string) (passages uint64, counts []uint64, err error)
	// Find returns up to n passages that have one of the terms in title or text, best first by BM25, where an occurrence in the
	// title counts titleCount times, and a term as much as it weighs. Where an engine can, it also takes terms with that many typing
	// errors.
	Find(ctx context.Context, terms []Term, n int) ([]passages.Passage, error)
}

// Term is a term to find.
type Term struct {
	Text   string
	Weight float64 // 1 for a term of the question, less for another that may stand for it
	Typos  int     // how many typing errors it may have; 0 for a term that passages have
}

// Terms returns the terms of a text, as engines hold them.
func Terms(text string) (out []string) {
	for _, t := range analyzer().Analyze([]byte(text)) {
		out = append(out, string(t.Term))
	}
	return out
}

var analyzer = sync.OnceValue(func() analysis.Analyzer { return indexMapping().AnalyzerNamed(analyzerName) })

// finder is an index as a Finder.
type finder struct {
	index  bleve.Index
	reader api.IndexReader
}

func newFinder(b bleve.Index) (finder, error) {
	advanced, err := b.Advanced()
	if err != nil {
		return finder{}, err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return finder{}, err
	}
	return finder{b, reader}, nil
}

// Close lets the index free what the finder has read from.
func (f finder) Close() error { return f.reader.Close() }

// Count implements Finder.
func (f finder) Count(ctx context.Context, terms []string) (passages uint64, counts []uint64, err error) {
	if passages, err = f.reader.DocCount(); err != nil {
		return 0, nil, err
	}
	for _, term := range terms {
		most := uint64(0)
		for _, field := range []string{fieldTitle, fieldText} {
			n, err := f.count(ctx, term, field)
			if err != nil {
				return 0, nil, err
			}
			most = max(most, n)
		}
		counts = append(counts, most)
	}
	return passages, counts, nil
}

// count returns how many passages have a term in a field.
func (f finder) count(ctx context.Context, term, field string) (uint64, error) {
	r, err := f.reader.TermFieldReader(ctx, []byte(term), field, false, false, false)
	if err != nil {
		return 0, err
	}
	return r.Count(), r.Close()
}

// Find implements Finder.
func (f finder) Find(ctx context.Context, terms []Term, n int) ([]passages.Passage, error) {
	var either []query.Query
	for _, part := range searchedFields {
		for _, t := range terms {
			if t.Typos > 0 {
				q := bleve.NewFuzzyQuery(t.Text)
				q.SetFuzziness(t.Typos)
				q.SetField(part.field)
				q.SetBoost(part.boost * t.Weight)
				either = append(either, q)
				continue
			}
			q := bleve.NewTermQuery(t.Text)
			q.SetField(part.field)
			q.SetBoost(part.boost * t.Weight)
			either = append(either, q)
		}
	}
	return find(ctx, f.index, bleve.NewDisjunctionQuery(either...), n)
}

// searchedFields are the fields that a query looks in, in a fixed order, so that equal questions find equal passages.
var searchedFields = []struct {
	field string
	boost float64
}{{fieldTitle, titleCount}, {fieldText, 1}}

// find returns up to n passages that match a query, best first, and equal ones in the order of their IDs. Which of them it finds
// does not depend on the order in which files were added. If there is no room for all that are as good as the worst, it leaves these
// out, or has the engine choose by their IDs if few are better.
func find(ctx context.Context, b bleve.Index, q query.Query, n int) ([]passages.Passage, error) {
	hits, err := hitsOf(ctx, b, q, n+1, "-_score")
	if err == nil && len(hits) > n {
		better := slices.IndexFunc(hits, func(h *search.DocumentMatch) bool { return h.Score == hits[n].Score })
		if hits = hits[:better]; better*leastBetter < n {
			hits, err = hitsOf(ctx, b, q, n, "-_score", "_id") // to look up the IDs of all matches takes most of the time
		}
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(hits, func(a, b *search.DocumentMatch) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	found := make([]passages.Passage, 0, len(hits))
	for _, h := range hits {
		found = append(found, passageOf(h))
	}
	return found, nil
}

// leastBetter is which part of the passages that it was asked for a search returns at least, where there are as many.
const leastBetter = 4

// hitsOf returns up to n matches of a query in an order, with what passageOf needs.
func hitsOf(ctx context.Context, b bleve.Index, q query.Query, n int, order ...string) (search.DocumentMatchCollection, error) {
	request := bleve.NewSearchRequestOptions(q, n, 0, false)
	request.Fields = []string{fieldTitle, fieldText, fieldSource}
	request.SortBy(order)
	result, err := b.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	return result.Hits, nil
}

func passageOf(h *search.DocumentMatch) passages.Passage {
	str := func(field string) string { s, _ := h.Fields[field].(string); return s }
	return passages.Passage{ID: h.ID, Source: str(fieldSource), Title: str(fieldTitle), Text: str(fieldText)}
}
