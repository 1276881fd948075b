package pair

import (
	"slices"
	"testing"
	"time"

	"tandem"
)

// A pass checks what the other side has drafted after the agreed tokens, up to the end of the answer. Drafts after other
// tokens, or outside the vocabulary, are left out.
func TestDraftsToCheck(t *testing.T) {
	one := func(x tandem.Token) tandem.Dist {
		return tandem.Dist{IDs: []tandem.Token{x}, Weights: []uint32{tandem.Mass}}
	}
	for _, c := range []struct {
		what  string
		last  tandem.Token // of the other side's drafts
		wrong tandem.Prefix
		want  []tandem.Token
	}{
		{"all", 8, 0, []tandem.Token{6, 7, 8}},
		{"the end of the answer", 9, 0, []tandem.Token{6, 7}},
		{"other tokens before", 8, 1, []tandem.Token{6, 7}},
		{"not in the vocabulary", 24, 0, []tandem.Token{6, 7}},
	} {
		m := New(Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Ahead: 8}, Self: tandem.Device, Stop: []tandem.Token{9}, Vocab: 24, Greedy: true})
		decode := func(e Event) (d Decode) {
			for _, a := range m.Step(e) {
				if a, ok := a.(Decode); ok {
					d = a
				}
			}
			return d
		}
		m.Step(PeerReady{})
		d := decode(Start{})
		prefix := tandem.NoPrefix
		for i, x := range []tandem.Token{4, 5, 6, 7, c.last} {
			p, dist := prefix, one(x)
			if i == 4 {
				p, dist = p^c.wrong, one(min(x, 23))
			}
			m.Step(PeerDraft{tandem.Draft{Epoch: 1, Step: tandem.Step(i), Prefix: p, Token: x, Dist: dist}})
			prefix = prefix.Then(x)
		}
		// What further contexts cost is not known before the first pass over one token.
		if d = decode(Decoded{ID: d.ID, Dist: one(4), Took: time.Millisecond}); len(d.Drafts) > 0 {
			t.Fatalf("%s: decode %+v", c.what, d)
		}
		if d = decode(Decoded{ID: d.ID, Dist: one(5), Took: time.Millisecond}); !slices.Equal(d.Append, []tandem.Token{5}) || !slices.Equal(d.Drafts, c.want) {
			t.Fatalf("%s: decode %+v, want %v behind 5", c.what, d, c.want)
		}
		// Both are right: their steps are settled without a pass.
		m.Step(Decoded{ID: d.ID, Dist: one(6), Took: time.Millisecond, Guessed: []tandem.Further{{Token: 6, Dist: one(7)}, {Token: 7, After: 1, Dist: one(3)}}})
		if s := m.Stats(); s.Passes != 3 || s.Ahead != 2 || s.Together < 4 || s.Accepted[tandem.Device] < 4 {
			t.Errorf("%s: %+v", c.what, s)
		}
	}
}
