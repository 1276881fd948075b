package searchtest_test

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/retrieval/search/searchtest"
)

// scan is the simplest engine: it scores every passage and leaves the rest to search.Compound.
type scan []passages.Passage

func (s scan) Search(ctx context.Context, q passages.Query, k int) ([]passages.Passage, error) {
	return search.Compound(ctx, q, k, func(_ context.Context, query string, n int) ([]passages.Passage, error) {
		shared := func(p passages.Passage) (n int) {
			text := strings.ToLower(p.Title + " " + p.Text)
			for word := range strings.FieldsSeq(strings.ToLower(query)) {
				if strings.Contains(text, strings.Trim(word, "?,.")) {
					n++
				}
			}
			return n
		}
		found := slices.DeleteFunc(slices.Clone(s), func(p passages.Passage) bool { return shared(p) == 0 })
		slices.SortStableFunc(found, func(a, b passages.Passage) int { return cmp.Compare(shared(b), shared(a)) })
		return found[:min(n, len(found))], nil
	})
}

// An engine other than the index passes too.
func TestScan(t *testing.T) {
	searchtest.Run(t, func(t *testing.T, files fs.FS) searchtest.Engine {
		var s scan
		names, err := fs.Glob(files, "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			_, ps, err := passages.FromFile(t.Context(), name, data, passages.DefaultWords)
			if err != nil {
				t.Fatal(err)
			}
			s = append(s, ps...)
		}
		return s
	})
}
