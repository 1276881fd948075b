package queue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem"
)

// One side drafts, and its drafts are accepted and rejected, over a link that reorders and copies. Whatever the order, the
// receiver's front is the sender's latest draft for that step.
func TestDraftsReordered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		const window = 8
		here := NewDrafts(window)
		// What the peer knows and has drafted: its front runs ahead of ours by up to half a window.
		peer := NewDrafts(window)
		final := map[tandem.Step]tandem.Draft{} // the draft that counts
		verdict := map[tandem.Step]bool{}       // accepted?
		var flying []tandem.Draft
		for here.base < 60 {
			switch n := rng.IntN(5); {
			case n == 0 && peer.Len() < window/2: // draft
				d := tandem.Draft{Step: peer.base + tandem.Step(peer.Len()), Version: peer.Version(), Prefix: tandem.Prefix(rng.Uint64())}
				if peer.Push(d) != Queued {
					t.Fatalf("own draft %+v not queued", d)
				}
				final[d.Step] = d
				flying = append(flying, d)
			case n == 1 && peer.Len() > 0 && peer.base < here.base+window/2: // the peer learns a target
				verdict[peer.base] = rng.IntN(3) > 0
				if verdict[peer.base] {
					peer.Accept()
				} else if dropped := peer.Reject(); dropped < 1 || peer.Len() != 0 {
					t.Fatalf("rejection dropped %d, left %d", dropped, peer.Len())
				}
			case n == 2 && len(flying) > 0: // a draft arrives
				i := rng.IntN(len(flying))
				d := flying[i]
				if v := here.Push(d); v == Far {
					t.Fatalf("%+v is far from step %d, version %d", d, here.base, here.version)
				}
				if rng.IntN(3) > 0 {
					flying = slices.Delete(flying, i, i+1)
				}
			case n >= 3: // we learn the target too, if we have the draft for it
				accepted, known := verdict[here.base]
				d, ok := here.Front()
				if !ok || !known {
					break
				}
				if d.Version != here.Version() || d.Prefix != final[d.Step].Prefix {
					t.Fatalf("front is %+v in version %d, want %+v", d, here.Version(), final[d.Step])
				}
				if accepted {
					here.Accept()
				} else {
					here.Reject()
				}
			}
			if here.Len() > window {
				t.Fatalf("%d drafts in a window of %d", here.Len(), window)
			}
		}
	})
}

func TestDraftsBounds(t *testing.T) {
	q := NewDrafts(4)
	q.Reset(math.MaxUint32 - 2)
	for _, c := range []struct {
		step    tandem.Step
		version uint32
		want    Verdict
	}{
		{math.MaxUint32 - 3, 0, Stale},
		{math.MaxUint32 - 2, 0, Queued},
		{math.MaxUint32 - 2, 0, Duplicate},
		{math.MaxUint32 - 2, 2, Queued},
		{math.MaxUint32 - 2, 1, Stale},
		{math.MaxUint32, 4, Queued},
		{math.MaxUint32, 5, Far},
		{0, 0, Stale},
	} {
		if got := q.Push(tandem.Draft{Step: c.step, Version: c.version}); got != c.want {
			t.Errorf("step %d, version %d: %v, want %v", c.step, c.version, got, c.want)
		}
	}
	q.Reset(10)
	if q.Len() != 0 || q.Push(tandem.Draft{Step: 14}) != Far || q.Push(tandem.Draft{Step: 13}) != Queued {
		t.Error("the window does not follow Reset")
	}
}

func TestDraftsResume(t *testing.T) {
	fill := func() (*Drafts, []tandem.Prefix) {
		q, p := NewDrafts(8), tandem.PrefixOf([]tandem.Token{1, 2, 3})
		q.Reset(3)
		q.Push(tandem.Draft{Step: 3, Token: 9})
		q.Reject()
		p = p.Then(100)
		prefixes := []tandem.Prefix{p}
		for i := range 4 {
			x := tandem.Token(10 + i)
			q.Push(tandem.Draft{Epoch: 1, Step: tandem.Step(4 + i), Version: 1, Prefix: p, Token: x})
			p = p.Then(x)
			prefixes = append(prefixes, p)
		}
		return q, prefixes
	}
	q, p := fill()
	if dropped := q.Resume(5, 6, p[2]); dropped != 2 || q.Len() != 2 || q.Version() != 0 {
		t.Errorf("dropped %d, kept %d in version %d", dropped, q.Len(), q.Version())
	}
	if d, ok := q.Front(); !ok || d.Step != 6 || d.Token != 12 || d.Epoch != 5 || d.Version != 0 {
		t.Errorf("front is %+v", d)
	}
	if d, ok := q.Last(); !ok || d.Step != 7 {
		t.Errorf("last is %+v", d)
	}
	for _, c := range []struct {
		base tandem.Step
		p    tandem.Prefix
	}{{6, p[1]}, {3, p[0]}, {20, p[4]}, {0, tandem.NoPrefix}} {
		q, _ = fill()
		if dropped := q.Resume(2, c.base, c.p); dropped != 4 || q.Len() != 0 || q.base != c.base {
			t.Errorf("base %d: dropped %d, kept %d", c.base, dropped, q.Len())
		}
	}
}

func TestTargets(t *testing.T) {
	q := NewTargets(4)
	order := []tandem.Step{2, 0, 3, 1}
	for _, s := range order {
		if v := q.Push(tandem.Target{Step: s, Token: tandem.Token(s)}); v != Queued {
			t.Errorf("step %d: %v", s, v)
		}
	}
	if q.Push(tandem.Target{Step: 3, Token: 99}) != Duplicate || q.Push(tandem.Target{Step: 4}) != Far {
		t.Error("a copy or a far target was taken")
	}
	for s := range tandem.Step(4) {
		if x, ok := q.Front(); !ok || x.Token != tandem.Token(s) {
			t.Errorf("front %d is %+v", s, x)
		}
		q.Pop()
	}
	if _, ok := q.Front(); ok || q.Len() != 0 || q.Push(tandem.Target{Step: 3}) != Stale {
		t.Error("not empty")
	}
}

func TestEarly(t *testing.T) {
	e := NewEarly(2)
	for _, c := range []struct {
		epoch uint32
		want  Verdict
	}{{3, Queued}, {2, Stale}, {5, Queued}, {5, Queued}, {5, Full}, {3, Stale}} {
		if got := e.Put(tandem.Draft{Epoch: c.epoch}); got != c.want {
			t.Errorf("epoch %d: %v, want %v", c.epoch, got, c.want)
		}
	}
	if got := e.Take(4); len(got) != 0 {
		t.Errorf("epoch 4 has %v", got)
	}
	if got := e.Take(5); len(got) != 2 || got[0].Epoch != 5 || got[1].Epoch != 5 {
		t.Errorf("epoch 5 has %v", got)
	}
	if got := e.Take(5); len(got) != 0 {
		t.Errorf("epoch 5 has %v again", got)
	}
	e.Put(tandem.Draft{Epoch: 7})
	if got := e.Take(9); len(got) != 0 || e.Put(tandem.Draft{Epoch: 8}) != Stale || e.Put(tandem.Draft{Epoch: 9}) != Queued {
		t.Error("an epoch that has passed is kept")
	}
}

// Hedges that find no room are Full, not Stale, until the front passes some of those that are kept.
func TestHedgesAreBounded(t *testing.T) {
	h := NewHedges(1)
	for _, c := range []struct {
		prefix tandem.Prefix
		want   Verdict
	}{{1, Queued}, {1, Duplicate}, {2, Full}} {
		if got := h.Put(tandem.Draft{Step: 3, Prefix: c.prefix}); got != c.want {
			t.Errorf("prefix %d: %v, want %v", c.prefix, got, c.want)
		}
	}
	if h.Advance(4); h.Put(tandem.Draft{Step: 4, Prefix: 2}) != Queued {
		t.Error("no room although the kept draft has passed")
	}
}
