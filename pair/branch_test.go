package pair

import (
	"slices"
	"testing"
	"time"

	"tandem"
)

// Branches begin behind any draft that has no target yet, the likeliest first, go on where their distribution is known,
// and fit the rows of a pass together with the answer's tokens from the first of them on.
func TestBranches(t *testing.T) {
	m := New(Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, PassPlaces: 8}, PassRows: 32, Self: tandem.Device, Vocab: 64})
	for n := 1; n <= tandem.MaxRows; n++ {
		m.ahead.ObservePass(n, time.Millisecond)
	}
	decode := func(e Event) (d Decode) {
		for _, a := range m.Step(e) {
			if a, ok := a.(Decode); ok {
				d = a
			}
		}
		return d
	}
	two := func(x tandem.Token) tandem.Dist { // x, and x+30 as the runner-up
		return tandem.Dist{IDs: []tandem.Token{x, x + 30}, Weights: []uint32{40000, tandem.Mass - 40000}}
	}
	m.Step(PeerReady{})
	d := decode(Start{})
	for x := tandem.Token(1); x <= 3; x++ {
		if d = decode(Decoded{ID: d.ID, Dist: two(x), Took: time.Millisecond}); len(d.Append) == 0 || d.Append[len(d.Append)-1] != x {
			t.Fatalf("draft %d: %+v", x, d)
		}
	}
	// Three drafts have no target. The first one's runner-up is the likeliest to be needed, and the last one's takes the least.
	want := []tandem.Branch{{Token: 31, Back: 3}, {Token: 33, Back: 1}, {Token: 32, Back: 2}}
	if d.Keep != 0 || len(d.Append) != 3 || len(d.Branches) < 3 {
		t.Fatalf("%+v", d)
	}
	for i, b := range want {
		if d.Branches[i] != b {
			t.Errorf("branch %d: %+v, want %+v", i, d.Branches[i], b)
		}
	}
	// The pass gives what follows the first branch: the next pass goes on behind it.
	d = decode(Decoded{ID: d.ID, Dist: two(4), Took: time.Millisecond, Branches: []tandem.Continuation{{Token: 31, Dist: two(9)}}})
	if len(d.Append) != 4 || len(d.Branches) < 2 || d.Branches[0] != (tandem.Branch{Token: 31, Back: 4}) || !slices.Contains(d.Branches, tandem.Branch{Token: 9, After: 1}) {
		t.Errorf("%+v", d)
	}
	for _, rows := range []int{1, 2, 4, 5, 8, 32} {
		out, offers := m.branches(rows)
		used := 0
		for _, o := range offers {
			used += o.Rows
		}
		if used >= rows || len(out) > 0 && furthestBack(out)+len(out) > rows {
			t.Errorf("%d rows: %d branches from %d tokens back, %d rows offered", rows, len(out), furthestBack(out), used)
		}
	}
}
