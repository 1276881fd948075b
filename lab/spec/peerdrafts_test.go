package spec

import (
	"slices"
	"testing"

	"tandem"
	"tandem/specdec"
)

// The peers draft by their rules: a key of 12 tokens, and what follows it; or runs of up to four, if frequent enough.
func TestPeerDrafts(t *testing.T) {
	var text []tandem.Token
	for i := range 80 {
		text = append(text, tandem.Token(100+i))
	}
	again := append(slices.Clone(text), text[8:20]...) // the key at 8, 60 tokens behind it
	late := append(slices.Clone(text), text[62:74]...) // six behind the key, and then the key again
	for _, c := range []struct {
		what string
		d    specdec.Drafter
		text []tandem.Token
		want []tandem.Token
	}{
		{"simple", &ngramSimple{}, again, text[20:36]},
		{"simple, few tokens behind", &ngramSimple{}, late, late[74:90]},
		{"simple, no key", &ngramSimple{}, text, nil},
		{"simple, a short text", &ngramSimple{}, again[60:], nil},
		{"map", &ngramMap{}, again, text[20:36]},
		{"map, fewer than 48 tokens behind", &ngramMap{}, late, nil},
		{"cache", &ngramCache{}, again, text[20:36]},
		{"cache, one token seen once", &ngramCache{}, []tandem.Token{1, 2, 3, 1}, nil},
		{"cache, one token seen twice", &ngramCache{}, []tandem.Token{1, 2, 3, 1, 2, 4, 1}, []tandem.Token{2, 3, 1, 2, 4, 1, 2, 3, 1, 2, 4, 1, 2, 3, 1, 2}},
	} {
		c.d.Committed(c.text)
		tree := specdec.NewTree(32, nil)
		c.d.Propose(tree)
		var got []tandem.Token
		for i, n := range tree.Nodes {
			if n.Parent != i-1 {
				t.Fatalf("%s: a branch", c.what)
			}
			got = append(got, n.Token)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
