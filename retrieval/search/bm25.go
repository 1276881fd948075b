package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	api "github.com/blevesearch/bleve_index_api"

	"tandem/retrieval/passages"
)

const (
	maxQueryWords = 64 // longer queries are cut
	perPassage    = 6  // candidates for each passage that is returned
)

// Search returns up to k passages that may answer the question, best first (see Compound). A question without a known
// word finds nothing, which is not an error.
func (x *Index) Search(ctx context.Context, q passages.Query, k int) ([]passages.Passage, error) {
	var found []passages.Passage
	err := x.view(func(b bleve.Index) (err error) {
		f, done, err := newFinder(b)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		found, err = Compound(ctx, q, k, func(ctx context.Context, text string, n int) ([]passages.Passage, error) {
			return x.rerank.Best(ctx, text, n, func(n int) ([]passages.Passage, error) {
				if x.words <= passages.SentenceWords {
					return rankedSentences(ctx, b, text, n)
				}
				return Ranked(ctx, f, text, n, x.related)
			})
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// finder is an index as a Finder.
type finder struct {
	index  bleve.Index
	reader api.IndexReader
}

func newFinder(b bleve.Index) (f finder, done func() error, err error) {
	advanced, err := b.Advanced()
	if err != nil {
		return f, nil, err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return f, nil, err
	}
	return finder{b, reader}, reader.Close, nil
}

// Count implements Finder.
func (f finder) Count(ctx context.Context, terms []string) (passages uint64, with []uint64, err error) {
	if passages, err = f.reader.DocCount(); err != nil {
		return 0, nil, err
	}
	for _, term := range terms {
		most := uint64(0)
		for _, field := range []string{fieldTitle, fieldText} {
			r, err := f.reader.TermFieldReader(ctx, []byte(term), field, false, false, false)
			if err != nil {
				return 0, nil, err
			}
			most = max(most, r.Count())
			if err := r.Close(); err != nil {
				return 0, nil, err
			}
		}
		with = append(with, most)
	}
	return passages, with, nil
}

// Find implements Finder.
func (f finder) Find(ctx context.Context, terms []Wanted, n int) ([]passages.Passage, error) {
	var or []query.Query
	for _, part := range []struct {
		field string
		boost float64
	}{{fieldTitle, titleCount}, {fieldText, 1}} { // in a fixed order, so that equal questions find equal passages
		for _, t := range terms {
			if t.Typos > 0 {
				q := bleve.NewFuzzyQuery(t.Term)
				q.SetFuzziness(t.Typos)
				q.SetField(part.field)
				q.SetBoost(part.boost * typoWeight)
				or = append(or, q)
				continue
			}
			q := bleve.NewTermQuery(t.Term)
			q.SetField(part.field)
			q.SetBoost(part.boost)
			or = append(or, q)
		}
	}
	return find(ctx, f.index, bleve.NewDisjunctionQuery(or...), n)
}

// find returns up to n passages that match a query, in bleve's order.
func find(ctx context.Context, b bleve.Index, q query.Query, n int) ([]passages.Passage, error) {
	request := bleve.NewSearchRequestOptions(q, n, 0, false)
	request.Fields = []string{fieldTitle, fieldText, fieldSource}
	request.SortBy([]string{"-_score", "_id"}) // ties have the same order everywhere
	result, err := b.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	found := make([]passages.Passage, 0, len(result.Hits))
	for _, h := range result.Hits {
		found = append(found, passageOf(h))
	}
	return found, nil
}

func passageOf(h *search.DocumentMatch) passages.Passage {
	str := func(field string) string { s, _ := h.Fields[field].(string); return s }
	return passages.Passage{ID: h.ID, Source: str(fieldSource), Title: str(fieldTitle), Text: str(fieldText)}
}
