package search

import (
	"context"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"

	"tandem/retrieval/passages"
)

const (
	maxQueryWords = 64 // longer queries are cut
	perPassage    = 6  // candidates for each passage that is returned
)

// Search returns up to k passages that may answer the question, best first (see Compound). A question without a known
// word finds nothing, which is not an error.
func (x *Index) Search(ctx context.Context, question string, k int) ([]passages.Passage, error) {
	query := ranked
	if x.words <= passages.SentenceWords {
		query = rankedSentences
	}
	var found []passages.Passage
	err := x.view(func(b bleve.Index) (err error) {
		found, err = Compound(ctx, question, k, func(ctx context.Context, text string, n int) ([]passages.Passage, error) {
			return query(ctx, b, text, n)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
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
