// Package searchtest tests what node needs of a search engine. An engine's package calls Run from a test.
package searchtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tandem/retrieval/passages"
)

// Engine finds passages in one side's documents. It has the method of node.Searcher.
type Engine interface {
	Search(ctx context.Context, q passages.Query, k int) ([]passages.Passage, error)
}

// Run tests an engine. open returns one that holds the passages of some files (passages.FromFile) and arranges for it to be
// closed when the test ends. It is called several times.
func Run(t *testing.T, open func(t *testing.T, files fs.FS) Engine) {
	t.Run("Empty", func(t *testing.T) {
		if found := search(t, open(t, fstest.MapFS{}), wifi, 4); len(found) != 0 {
			t.Errorf("%q in no documents", found)
		}
	})
	x := open(t, corpus())
	t.Run("Bounds", func(t *testing.T) { bounds(t, x) })
	t.Run("Best", func(t *testing.T) { best(t, x) })
	t.Run("Compound", func(t *testing.T) { compound(t, x) })
	t.Run("FollowUp", func(t *testing.T) { followUp(t, x) })
	t.Run("Cancelled", func(t *testing.T) { cancelled(t, x) })
	t.Run("Concurrent", func(t *testing.T) { concurrent(t, x) })
}

var (
	wifi = passages.Query{Text: "What is the wifi password of the lake cabin?"}
	both = passages.Query{Text: "What is the wifi password of the lake cabin, and when does the harbour museum open?"}
)

// corpus has several files about each of two topics, and one that answers the follow-up.
func corpus() fstest.MapFS {
	files := fstest.MapFS{
		"cabin.md":  {Data: []byte("# Lake cabin\n\nThe wifi password of the lake cabin is tumbral-5827.\n")},
		"museum.md": {Data: []byte("# Harbour museum\n\nThe harbour museum opens at 9:30.\n")},
		"mill.txt":  {Data: []byte("The owner of the old mill is Rita Hale. The entry fee of the old mill is 8 euros.\n")},
	}
	for i := range 5 {
		files[fmt.Sprintf("flat%d.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "# Town flat %d\n\nThe wifi password of flat %d is quendle-%d.\n", i, i, i)}
	}
	return files
}

// search returns what an engine finds, after checks that hold for every search.
func search(t *testing.T, x Engine, query passages.Query, k int) []passages.Passage {
	t.Helper()
	found, err := x.Search(t.Context(), query, k)
	if err != nil {
		t.Fatalf("%.40q: %v", query.Text, err)
	}
	if len(found) > max(k, 0) {
		t.Errorf("%.40q: %d passages, want at most %d", query.Text, len(found), k)
	}
	for i, p := range found {
		if p.ID == "" || p.Source == "" || p.Title == "" || p.Text == "" {
			t.Errorf("%.40q: incomplete passage %+v", query.Text, p)
		}
		if slices.ContainsFunc(found[:i], func(q passages.Passage) bool { return q.ID == p.ID }) {
			t.Errorf("%.40q: passage %s twice", query.Text, p.ID)
		}
	}
	return found
}

// bounds: no question is an error, and no number of passages.
func bounds(t *testing.T, x Engine) {
	for _, question := range []string{wifi.Text, "", "\n", "the of", "???", "zzzz", "\xff\x00", strings.Repeat("wifi password ", 10000), `+a -b "c AND (d~2^3`} {
		for _, k := range []int{-1, 0, 1, 4, 1 << 40} {
			search(t, x, passages.Query{Text: question}, k)
		}
	}
}

// best: the passage that answers comes first, and again when asked again.
func best(t *testing.T, x Engine) {
	found := search(t, x, wifi, 4)
	if len(found) == 0 || !strings.Contains(found[0].Text, "tumbral-5827") {
		t.Errorf("%q, want the cabin's password first", found)
	}
	if again := search(t, x, wifi, 4); !slices.Equal(again, found) {
		t.Errorf("%q at first, then %q", found, again)
	}
}

// compound: both halves of a question find a passage, though one half has many that match it.
func compound(t *testing.T, x Engine) {
	found := search(t, x, both, 4)
	for _, want := range []string{"tumbral-5827", "9:30"} {
		if !holds(found, want) {
			t.Errorf("%q, want %s among them", found, want)
		}
	}
}

// followUp: a question may leave out what the one before it names.
func followUp(t *testing.T, x Engine) {
	if found := search(t, x, passages.Query{Before: "Who owns the old mill?", Text: "How much is the entry fee?"}, 4); !holds(found, "8 euros") {
		t.Errorf("%q, want the mill's fee among them", found)
	}
}

func holds(found []passages.Passage, text string) bool {
	return slices.ContainsFunc(found, func(p passages.Passage) bool { return strings.Contains(p.Text, text) })
}

// cancelled: a search ends with its context.
func cancelled(t *testing.T, x Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, both, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a cancelled search", err)
	}
}

// concurrent: an engine serves several goroutines.
func concurrent(t *testing.T, x Engine) {
	want := search(t, x, both, 4)
	var searches sync.WaitGroup
	for range 8 {
		searches.Go(func() {
			if got, err := x.Search(t.Context(), both, 4); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
	searches.Wait()
}
