package specdec

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"tandem"
)

// A drafter that took tokens back proposes what one proposes that never had them.
func TestRewind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocabulary := rapid.SampledFrom([]int{2, 3, 12, 40}).Draw(t, "vocabulary")
		prompt := append(tokens(t, 60, vocabulary, "prompt"), 1)
		fresh := func() []Drafter {
			return []Drafter{&Lookup{Branches: 2}, &SAM{Tree: true}, &SAM{}, &Ngrams{}}
		}
		var text []tandem.Token
		drafters := fresh()
		for _, d := range drafters {
			d.Committed(prompt)
		}
		text = append(text, prompt...)
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			keep := rapid.IntRange(len(prompt), len(text)).Draw(t, "keep")
			more := tokens(t, 12, vocabulary, "more")
			text = append(text[:keep:keep], more...)
			for _, d := range drafters {
				d.Rewind(keep)
				d.Committed(more)
			}
			for i, d := range fresh() {
				d.Committed(prompt)
				d.Committed(text[len(prompt):])
				want, got := NewTree(64, nil), NewTree(64, nil)
				d.Propose(want)
				drafters[i].Propose(got)
				if !reflect.DeepEqual(got.Nodes, want.Nodes) {
					t.Fatalf("%T after %d: %v, want %v", d, text, got.Nodes, want.Nodes)
				}
			}
		}
	})
}

// No draft crosses a separator.
func TestSeparator(t *testing.T) {
	text := []tandem.Token{1, 2, 3, Separator, 4, 5, Separator}
	for _, d := range []Drafter{&Lookup{Branches: 2}, &SAM{Tree: true}, &SAM{}, &Ngrams{}} {
		d.Committed(text)
		d.Committed([]tandem.Token{2})
		tree := NewTree(64, nil)
		d.Propose(tree)
		if len(tree.Nodes) == 0 || tree.Nodes[0].Token != 3 {
			t.Errorf("%T: %v, want 3 first", d, tree.Nodes)
		}
		for _, n := range tree.Nodes {
			if n.Token == Separator || n.Token == 4 {
				t.Errorf("%T drafts %d across a separator", d, n.Token)
			}
		}
	}
}
