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
		m := New(Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, PassPlaces: 8}, Self: tandem.Device, Stop: []tandem.Token{9}, Vocab: 24})
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
		m.Step(Decoded{ID: d.ID, Dist: one(6), Took: time.Millisecond, Guessed: []tandem.Continuation{{Token: 6, Dist: one(7)}, {Token: 7, After: 1, Dist: one(3)}}})
		if s := m.Stats(); s.Passes != 3 || s.Ahead != 2 || s.Together < 4 || s.Accepted[tandem.Device] < 4 {
			t.Errorf("%s: %+v", c.what, s)
		}
	}
}

// A pass that begins when several drafts of the other side arrive together checks all of them; one by one, they come too late for
// the pass that the first one starts.
func TestDraftsThatArriveTogether(t *testing.T) {
	one := func(x tandem.Token) tandem.Dist {
		return tandem.Dist{IDs: []tandem.Token{x}, Weights: []uint32{tandem.Mass}}
	}
	for _, together := range []bool{false, true} {
		m := New(Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, PassPlaces: 8}, Self: tandem.Device, Vocab: 24})
		var d Decode
		step := func(events ...Event) {
			for _, a := range m.Step(events...) {
				if a, ok := a.(Decode); ok {
					d = a
				}
			}
		}
		step(PeerReady{})
		step(Start{})
		step(Decoded{ID: d.ID, Dist: one(3), H: -tandem.FixedOf(9), Took: time.Millisecond})
		step(Decoded{ID: d.ID, Dist: one(3), Took: time.Millisecond})
		var drafts []Event
		prefix := tandem.NoPrefix
		for i, x := range []tandem.Token{4, 5, 6, 7} { // the first of them is the target
			drafts = append(drafts, PeerDraft{tandem.Draft{Epoch: 1, Step: tandem.Step(i), Prefix: prefix, Token: x, Dist: one(x)}})
			prefix = prefix.Then(x)
		}
		if together {
			step(drafts...)
		} else {
			for _, e := range drafts {
				step(e)
			}
		}
		if want := map[bool][]tandem.Token{true: {5, 6, 7}}[together]; !slices.Equal(d.Append, []tandem.Token{4}) || !slices.Equal(d.Drafts, want) {
			t.Errorf("together %v: decode %+v, want %v behind 4", together, d, want)
		}
	}
}
