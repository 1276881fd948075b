package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2"

	"tandem/retrieval/passages"
)

const maxQueryWords = 64 // longer queries are cut

// Search returns up to k passages that may answer the question, best first (see Compound). A question without a known
// word finds nothing, which is not an error.
func (x *Index) Search(ctx context.Context, q passages.Query, k int) ([]passages.Passage, error) {
	var found []passages.Passage
	err := x.view(func(b bleve.Index) (err error) {
		f, err := newFinder(b)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		found, err = Compound(ctx, q, k, func(ctx context.Context, text string, n int) ([]passages.Passage, error) {
			return x.opt.Rerank.Best(ctx, text, n, func(n int) ([]passages.Passage, error) {
				if x.opt.Words <= passages.SentenceWords {
					return searchSentences(ctx, f, text, n)
				}
				return Rank(ctx, f, text, n, x.opt.Related)
			})
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}
