package npu

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Path gives the slots of a mask in order, in runs that are as long as they can be.
func TestRowMaskPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, MaxTree-1).Draw(t, "depth")
		b := RowMask{Base: int32(rapid.IntRange(0, 100).Draw(t, "base")), Ancestors: rapid.Uint64().Draw(t, "ancestors")}
		if rapid.Bool().Draw(t, "chain") {
			b.Ancestors = ^uint64(0)
		}
		b.Slot, b.Ancestors = b.Base+int32(d), b.Ancestors&(1<<d-1)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		var want []int
		for i := range int(b.Base) {
			want = append(want, i)
		}
		for j := range d {
			if b.Ancestors>>j&1 == 1 {
				want = append(want, int(b.Base)+j)
			}
		}
		want = append(want, int(b.Slot))
		var got []int
		end := -1
		b.Path(func(slot, n int) {
			if slot == end {
				t.Fatalf("%+v: two runs meet at %d", b, slot)
			}
			for i := range n {
				got = append(got, slot+i)
			}
			end = slot + n
		})
		if !slices.Equal(got, want) || b.Attends() != len(want) {
			t.Fatalf("%+v attends to %d, want %d", b, got, want)
		}
	})
}

func TestRowMaskCheck(t *testing.T) {
	for _, b := range []RowMask{{Slot: 3, Base: 4}, {Slot: -1, Base: -1}, {Slot: 64}, {Slot: 2, Ancestors: 4}, {Slot: 2, Ancestors: 1 << 63}} {
		if b.Check() == nil {
			t.Errorf("%+v is accepted", b)
		}
	}
	if err := (RowMask{Slot: 63, Ancestors: 1<<63 - 1}).Check(); err != nil {
		t.Error(err)
	}
}

// A row that attends both ways sees half of a window on either side of its own slot, and no slot outside its block's reach.
func TestLiveRowsHaveWindowsOnBothSides(t *testing.T) {
	for slot := range int32(12) {
		for window := range 9 {
			m := RowMask{Slot: slot, Base: slot, Until: 12}
			var seen []int
			m.Within(window, func(slot, n int) {
				for i := range n {
					seen = append(seen, slot+i)
				}
			})
			var want []int
			for s := range 12 {
				if d := s - int(slot); window == 0 || max(d, -d) <= window/2 {
					want = append(want, s)
				}
			}
			if !slices.Equal(seen, want) || m.Count(window) != len(want) {
				t.Errorf("slot %d, window %d: sees %d of them, %v, want %v", slot, window, m.Count(window), seen, want)
			}
		}
	}
}
