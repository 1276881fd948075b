package search

import (
	"context"
	"fmt"

	"tandem/retrieval/passages"
)

// scoredPerResult is how many candidates a Rerank scores for each passage that is returned.
const scoredPerResult = 4

// A Rerank scores the passages that were found for a query, for example with a model that reads them. The scores order the
// passages of one side and choose among them. They are not part of the relevances R(d), which both sides compare. A span
// reader takes the order into account.
type Rerank func(ctx context.Context, query string, found []passages.Passage) ([]float64, error)

// Best returns the n best of the passages that find finds, best first; of equal scores, in find's order. A nil Rerank keeps
// find's order.
func (r Rerank) Best(ctx context.Context, query string, n int, find func(n int) ([]passages.Passage, error)) ([]passages.Passage, error) {
	if r == nil {
		return find(n)
	}
	found, err := find(n * scoredPerResult)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	scores, err := r(ctx, query, found)
	if err != nil {
		return nil, err
	}
	if len(scores) != len(found) {
		return nil, fmt.Errorf("rerank: %d scores for %d passages", len(scores), len(found))
	}
	return best(found, scores, n), nil
}
