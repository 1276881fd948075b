package search

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tandem/retrieval/passages"
)

// A Rerank decides which of the passages that are found are returned, in what order, and for each part of a question; equal
// scores keep the order of the search, and its errors are those of the search.
func TestRerank(t *testing.T) {
	tree := fstest.MapFS{}
	for _, name := range []string{"amber", "beryl", "coral", "delta", "ember", "flint"} {
		tree[name+".md"] = &fstest.MapFile{Data: []byte("# " + name + "\n\nThe ferry of " + name + " leaves at nine. Its harbour is old.\n")}
	}
	open := func(r Rerank) *Index {
		x, err := Memory(Options{Rerank: r})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		if _, err := x.AddFS(t.Context(), tree, "."); err != nil {
			t.Fatal(err)
		}
		return x
	}
	titles := func(r Rerank, question string, k int) (out []string) {
		found, err := open(r).Search(t.Context(), passages.Query{Text: question}, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			out = append(out, p.Title)
		}
		return out
	}
	const question = "When does the ferry leave?"
	plain := titles(nil, question, 6)
	equal := func(_ context.Context, _ string, found []passages.Passage) ([]float64, error) {
		return make([]float64, len(found)), nil
	}
	if got := titles(equal, question, 6); !slices.Equal(got, plain) || len(got) != 6 {
		t.Errorf("equal scores: %v, without a scorer %v", got, plain)
	}
	var asked []string
	backwards := func(_ context.Context, query string, found []passages.Passage) ([]float64, error) {
		asked = append(asked, query)
		scores := make([]float64, len(found))
		for i, p := range found {
			scores[i] = float64(p.Title[0])
		}
		return scores, nil
	}
	if got := titles(backwards, question, 2); !slices.Equal(got, []string{"flint", "ember"}) {
		t.Errorf("the last letter first: %v", got)
	}
	asked = nil
	titles(backwards, "When does the ferry leave, and how old is the harbour?", 4)
	if len(asked) != 3 || !strings.HasPrefix(asked[1], "how old") {
		t.Errorf("scored for %q, want each part and the whole", asked)
	}
	broken := errors.New("no scores today")
	for want, r := range map[string]Rerank{
		"no scores today": func(context.Context, string, []passages.Passage) ([]float64, error) { return nil, broken },
		"1 scores for 6":  func(context.Context, string, []passages.Passage) ([]float64, error) { return []float64{1}, nil },
	} {
		if _, err := open(r).Search(t.Context(), passages.Query{Text: question}, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
