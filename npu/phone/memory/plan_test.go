package memory

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Values whose lives overlap share no memory.
func TestPackKeepsLivesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lives []Life
		for range rapid.IntRange(1, 30).Draw(t, "lives") {
			first := rapid.IntRange(0, 20).Draw(t, "first")
			lives = append(lives, Life{Bytes: int64(rapid.IntRange(1, 5000).Draw(t, "bytes")), First: first, Last: first + rapid.IntRange(0, 10).Draw(t, "length")})
		}
		offsets, total := Pack(lives)
		var alone, busiest int64
		for i, a := range lives {
			alone += aligned(a.Bytes)
			if offsets[i]%alignment != 0 || offsets[i] < 0 || offsets[i]+a.Bytes > total {
				t.Fatalf("%v at %d of %d", a, offsets[i], total)
			}
			for j, b := range lives[:i] {
				if a.overlaps(b) && offsets[i] < offsets[j]+b.Bytes && offsets[j] < offsets[i]+a.Bytes {
					t.Fatalf("%v at %d and %v at %d share bytes", a, offsets[i], b, offsets[j])
				}
			}
		}
		for step := range 31 {
			var n int64
			for _, l := range lives {
				if l.First <= step && step <= l.Last {
					n += l.Bytes
				}
			}
			busiest = max(busiest, n)
		}
		if total > alone || total < busiest {
			t.Fatalf("%d bytes, want between %d and %d", total, busiest, alone)
		}
	})
}

// drawModel draws a random model: sizes in kB, uses in order, and costs.
func drawModel(t *rapid.T) (sizes []int64, uses []Use, costs Costs) {
	n := rapid.IntRange(1, 40).Draw(t, "objects")
	kinds := []int64{rapid.Int64Range(1, 50).Draw(t, "kB") * 1000, rapid.Int64Range(1, 50).Draw(t, "kB") * 1000, rapid.Int64Range(1, 50).Draw(t, "kB") * 1000}
	for i := range n {
		sizes = append(sizes, rapid.SampledFrom(kinds).Draw(t, "size"))
		uses = append(uses, Use{Object: i, Compute: time.Duration(rapid.IntRange(0, 200).Draw(t, "µs")) * time.Microsecond, Group: 1 + i/3})
	}
	return sizes, uses, Costs{PerByte: rapid.Float64Range(0.1, 20).Draw(t, "ns/byte"), PerMapping: 30 * time.Microsecond}
}

// Place and Reorder stay within the budget, and use resident memory without gaps.
func TestPlacementKeepsTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, uses, costs := drawModel(t)
		var total int64
		for _, s := range sizes {
			total += aligned(s)
		}
		budget := rapid.Int64Range(1, total+1000).Draw(t, "budget")
		p, err := Place(sizes, uses, costs, budget)
		if err != nil {
			var tight *BudgetError
			if least := 2 * aligned(slices.Max(sizes)); !errors.As(err, &tight) || tight.Least != least || budget >= least {
				t.Fatalf("budget %d: %v", budget, err)
			}
			return
		}
		uses, p = Reorder(sizes, uses, p, costs)
		if fixed := p.Fixed(sizes, 0); fixed.Mapped > budget || fixed.Mappings > 2 {
			t.Fatalf("%d bytes in %d mappings, budget %d", fixed.Mapped, fixed.Mappings, budget)
		}
		if len(p.Resident)+len(p.Temporary) != len(sizes) {
			t.Fatalf("%d resident and %d temporary of %d", len(p.Resident), len(p.Temporary), len(sizes))
		}
		var at int64
		for _, o := range p.Resident {
			if p.Offset[o] != at {
				t.Fatalf("object %d at %d, not %d", o, p.Offset[o], at)
			}
			at += aligned(sizes[o])
		}
		for _, o := range p.Temporary {
			if sizes[o] > p.Slot || p.Offset[o] != -1 {
				t.Fatalf("object %d of %d bytes in slots of %d", o, sizes[o], p.Slot)
			}
		}
		// The function stall agrees with the pager.
		temporary := make([]bool, len(sizes))
		for _, o := range p.Temporary {
			temporary[o] = true
		}
		before := Replay(NewStaging(p), sizes, uses, costs, 20, p.Fixed(sizes, 0)) // steps repeat after 20, not always after five
		after := Replay(NewStaging(p), sizes, uses, costs, 21, p.Fixed(sizes, 0))
		if got, want := after.Sub(before).Stall, stall(sizes, uses, temporary, costs); got != want {
			t.Fatalf("the pager stalls for %v per step, stall returns %v", got, want)
		}
		if after.Sub(before).Mappings != 0 || after.Peak != p.Fixed(sizes, 0).Mapped {
			t.Fatalf("steps map memory: %+v", after)
		}
	})
}

// Temporary objects are spread evenly. Up to each use, their bytes are the same share of those that may be temporary, to within one
// and a half slots: half of one is due to the sizes of objects, the rest to the room that is left and taken by the first that fit.
// Computation hides all transfers here, so that nothing is exchanged afterwards.
func TestPlacementSpreadsTemporaryObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, uses, costs := drawModel(t)
		var total int64
		for _, s := range sizes {
			total += aligned(s)
		}
		for i := range uses {
			uses[i].Compute = costs.transfer(slices.Max(sizes))
		}
		least := 2 * aligned(slices.Max(sizes))
		budget := rapid.Int64Range(least, max(least, total)).Draw(t, "budget")
		p, err := Place(sizes, uses, costs, budget)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Temporary) == 0 {
			return
		}
		room, rest := budget-stagingSlots*p.Slot, int64(0)
		for _, s := range sizes {
			if n := aligned(s); n > p.Slot {
				room -= n
			} else {
				rest += n
			}
		}
		share := 1 - float64(room)/float64(rest)
		var before, temporary int64 // bytes that may be temporary, and that are
		for o, s := range sizes {
			if n := aligned(s); n <= p.Slot {
				before += n
				if p.Offset[o] < 0 {
					temporary += n
				}
			}
			if want := share * float64(before); math.Abs(float64(temporary)-want) > 1.5*float64(p.Slot)+1 {
				t.Fatalf("up to object %d, %d of %d bytes are temporary: want %.0f, to within one and a half slots of %d", o, temporary, before, want, p.Slot)
			}
		}
	})
}

// Objects are requested in random order, and loads fail at random. The device reads an object only
// while it is loaded, no slot is filled while it is read, and no wait lasts forever.
func TestPagersUnderAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, uses, costs := drawModel(t)
		var total int64
		for _, s := range sizes {
			total += aligned(s)
		}
		budget := rapid.Int64Range(2*aligned(slices.Max(sizes)), max(total, 2*aligned(slices.Max(sizes)))).Draw(t, "budget")
		var pager Pager
		slots := slices.Repeat([]int{-1}, stagingSlots) // the object in each slot; −1 while it is being filled
		where := map[int]int{}
		if rapid.Bool().Draw(t, "staging") {
			p, err := Place(sizes, uses, costs, budget)
			if err != nil {
				t.Fatal(err)
			}
			pager = NewStaging(p)
		} else {
			pager = NewLRU(func(o int) int64 { return sizes[o] }, budget)
		}
		var pending []Action // a load in progress
		var used int64
		own := map[int]bool{}
		wanted, granted := -1, false
		step := func(e Event) {
			for _, a := range pager.Step(e, nil) {
				switch a.Kind {
				case Load:
					if len(pending) > 0 {
						t.Fatal("two transfers at once")
					}
					if a.Slot >= 0 {
						if granted && where[wanted] == a.Slot && slots[a.Slot] == wanted {
							t.Fatalf("slot %d is filled while it is read", a.Slot)
						}
						delete(where, slots[a.Slot])
						slots[a.Slot], where[a.Object] = -1, a.Slot
					} else if a.Slot == OwnMapping {
						own[a.Object], used = false, used+aligned(sizes[a.Object])
						if used > budget {
							t.Fatalf("%d bytes mapped, budget %d", used, budget)
						}
					}
					pending = append(pending, a)
				case Unmap:
					used -= aligned(sizes[a.Object])
					delete(own, a.Object)
				case Go:
					if a.Object != wanted || granted {
						t.Fatalf("go for %d, wanted %d", a.Object, wanted)
					}
					s, slotted := where[a.Object]
					if there, ok := own[a.Object]; ok && !there || slotted && s >= 0 && slots[s] != a.Object {
						t.Fatalf("object %d is not loaded", a.Object)
					}
					granted = true
				case Fail:
					if a.Object != wanted {
						t.Fatalf("fail for %d, wanted %d", a.Object, wanted)
					}
					wanted = -1
				}
			}
		}
		finish := func() {
			a := pending[0]
			pending = nil
			if rapid.IntRange(0, 9).Draw(t, "fate") == 0 {
				if a.Slot >= 0 {
					delete(where, a.Object)
				}
				step(Event{Failed, a.Object})
				return
			}
			if a.Slot >= 0 {
				slots[a.Slot] = a.Object
			} else if a.Slot == OwnMapping {
				own[a.Object] = true
			}
			step(Event{Loaded, a.Object})
		}
		at := 0
		for range rapid.IntRange(1, 60).Draw(t, "uses") {
			if rapid.IntRange(0, 9).Draw(t, "jump") == 0 {
				at = rapid.IntRange(0, len(uses)-1).Draw(t, "to")
			}
			wanted, granted = uses[at].Object, false
			step(Event{Want, wanted})
			for !granted && wanted >= 0 {
				if len(pending) == 0 {
					t.Fatalf("the wait for object %d never ends", wanted)
				}
				finish()
			}
			for len(pending) > 0 && rapid.Bool().Draw(t, "arrives meanwhile") {
				finish()
			}
			if granted {
				o := wanted
				wanted, granted = -1, false
				step(Event{Done, o})
			}
			at = (at + 1) % len(uses)
		}
	})
}

// For a model of twice the budget with enough computation, Staging stalls less than a third as long
// as plain paging, and maps nothing while it runs.
func TestLLaDA_Table7(t *testing.T) {
	var sizes []int64
	for range 24 {
		sizes = append(sizes, 500_000, 80_000, 80_000, 500_000, 2_400_000, 2_400_000, 2_400_000)
	}
	var total int64
	for _, s := range sizes {
		total += aligned(s)
	}
	objects := make([]int, len(sizes))
	for i := range objects {
		objects[i] = i
	}
	uses := evenly(sizes, objects, 40*time.Millisecond)
	costs := Costs{PerByte: 0.25, PerMapping: 50 * time.Microsecond, PerTransfer: 10 * time.Microsecond}
	for _, percent := range []int64{10, 25, 50, 75, 100} {
		budget := total * percent / 100
		p, err := Place(sizes, uses, costs, budget)
		if err != nil {
			t.Fatal(err)
		}
		perStep := func(pager func() Pager, fixed Counters) Counters {
			return Replay(pager(), sizes, uses, costs, 6, fixed).Sub(Replay(pager(), sizes, uses, costs, 5, fixed))
		}
		ours := perStep(func() Pager { return NewStaging(p) }, p.Fixed(sizes, 0))
		paging := perStep(func() Pager { return NewLRU(func(o int) int64 { return sizes[o] }, budget) }, Counters{})
		t.Logf("%d %%: stall %v with %d mappings a step, %d MB mapped; paging %v, %d, %d MB", percent, ours.Stall, ours.Mappings, ours.Peak>>20, paging.Stall, paging.Mappings, paging.Peak>>20)
		if ours.Mappings != 0 || ours.Peak > budget || ours.Stall > paging.Stall {
			t.Errorf("%d %%: %+v, paging %+v", percent, ours, paging)
		}
		if percent == 50 && 3*ours.Stall > paging.Stall {
			t.Errorf("stall %v, paging %v", ours.Stall, paging.Stall)
		}
	}
}

// evenly distributes a step's computation over the uses in proportion to their bytes.
func evenly(sizes []int64, objects []int, step time.Duration) []Use {
	var total int64
	for _, o := range objects {
		total += sizes[o]
	}
	uses := make([]Use, len(objects))
	for i, o := range objects {
		uses[i] = Use{Object: o, Compute: time.Duration(float64(step) * float64(sizes[o]) / float64(max(total, 1)))}
	}
	return uses
}
