package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"

	"tandem/retrieval/passages"
)

const (
	maxQueryWords = 64 // longer queries are cut
	titleBoost    = 2
)

// Search returns up to k passages that may answer the question, best first (see Compound). A question without a known
// word finds nothing, which is not an error.
func (x *Index) Search(ctx context.Context, question string, k int) ([]passages.Passage, error) {
	var found []passages.Passage
	err := x.view(func(b bleve.Index) (err error) {
		found, err = Compound(ctx, question, k, func(ctx context.Context, text string, n int) ([]passages.Passage, error) {
			return bm25(ctx, b, text, n)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// bm25 returns up to n passages that hold a word of the query in title or text, ranked by BM25.
func bm25(ctx context.Context, b bleve.Index, text string, n int) ([]passages.Passage, error) {
	fields := strings.Fields(text)
	text = strings.Join(fields[:min(len(fields), maxQueryWords)], " ")
	or := make([]query.Query, 0, 2)
	for field, boost := range map[string]float64{fieldTitle: titleBoost, fieldText: 1} {
		m := bleve.NewMatchQuery(text)
		m.SetField(field)
		m.SetBoost(boost)
		or = append(or, m)
	}
	request := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(or...), n, 0, false)
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
