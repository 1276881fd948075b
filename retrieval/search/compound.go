package search

import (
	"context"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tandem/retrieval/passages"
)

// maxFound bounds the passages of a search, whose question may come from the other side.
const maxFound = 256

// Compound answers a search with several queries to an engine. Engines share it, so that they treat questions alike.
// find returns up to n passages for one query, best first.
//
// A compound question ("…, and …?") is searched as a whole and by its parts (clauses). The queries take turns, so that each
// finds its passages. A question of two lines is a follow-up: the first line is the question before it. Every part is then
// searched alone and together with that line, which may name what the part leaves out.
func Compound(ctx context.Context, question string, k int, find func(ctx context.Context, query string, n int) ([]passages.Passage, error)) ([]passages.Passage, error) {
	if k <= 0 {
		return nil, nil
	}
	k = min(k, maxFound)
	queries := queriesOf(question)
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
func queriesOf(question string) []string {
	question = norm.NFC.String(strings.TrimSpace(question)) // as the texts of documents are
	line := strings.LastIndexByte(question, '\n')
	parts := clauses(question[line+1:])
	switch {
	case line >= 0:
		for _, part := range parts {
			parts = append(parts, question[:line]+" "+part)
		}
	case len(parts) != 1:
		parts = append(parts, question)
	}
	return parts
}
