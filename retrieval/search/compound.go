package search

import (
	"context"
	"strings"

	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// maxResults bounds the passages of a search, whose question may come from the other side.
const maxResults = 256

// Compound answers a search with several queries to an engine. Engines share it, so that they treat questions alike.
// find returns up to n passages for one query, best first.
//
// A compound question ("…, and …?") is searched as a whole and by its parts (clauses). The queries take turns, so that
// each finds its passages. Every part of a follow-up is searched alone and together with the question before it, which
// may name what the part leaves out.
func Compound(ctx context.Context, q passages.Query, k int, find func(ctx context.Context, query string, n int) ([]passages.Passage, error)) ([]passages.Passage, error) {
	if k <= 0 {
		return nil, nil
	}
	k = min(k, maxResults)
	queries := queriesOf(q)
	found := make([][]passages.Passage, len(queries))
	for i, query := range queries {
		err := ctx.Err()
		if err == nil {
			found[i], err = find(ctx, query, k)
		}
		if err != nil {
			return nil, err
		}
	}
	return passages.Interleave(k, found...), nil
}

// queriesOf returns the queries that answer a question.
func queriesOf(q passages.Query) []string {
	before, text := clean(q.Before), clean(q.Text)
	if text == "" {
		before, text = "", before
	}
	parts := clauses(text)
	switch {
	case before != "":
		for _, part := range parts {
			parts = append(parts, before+" "+part)
		}
	case len(parts) != 1:
		parts = append(parts, text)
	}
	return parts
}

// clean returns a text as those of documents are.
func clean(text string) string { return words.Composed(strings.TrimSpace(text)) }
