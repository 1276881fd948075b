package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tandem/retrieval/passages"
)

// perScored is how many candidates a Rerank scores for each passage that is returned.
const perScored = 4

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
	found, err := find(n * perScored)
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
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	best := make([]passages.Passage, min(n, len(found)))
	for i := range best {
		best[i] = found[order[i]]
	}
	return best, nil
}
