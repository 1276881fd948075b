package pair_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/profiler"
)

// junk is a message that an honest peer could not send now, or could only send twice.
func junk(rng *rand.Rand, e pair.Event, epoch uint32) pair.Event {
	switch e := e.(type) {
	case pair.PeerDraft:
		switch d := e.Draft; rng.IntN(6) {
		case 0:
			d.Epoch--
			return pair.PeerDraft{d}
		case 1:
			d.Step += 1000
			return pair.PeerDraft{d}
		case 2:
			d.Dist.Weights = slices.Clone(d.Dist.Weights)
			d.Dist.Weights[0]++
			return pair.PeerDraft{d}
		case 3:
			d.Dist.IDs = nil
			return pair.PeerDraft{d}
		case 4:
			d.Version += math.MaxUint32 / 2
			return pair.PeerDraft{d}
		}
	case pair.PeerTarget:
		switch x := e.Target; rng.IntN(3) {
		case 0:
			x.Epoch--
			return pair.PeerTarget{x}
		case 1:
			x.Step += 1000
			return pair.PeerTarget{x}
		case 2:
			x.Token = -1
			return pair.PeerTarget{x}
		}
	case pair.PeerHandover:
		switch h := e.Handover; rng.IntN(3) {
		case 0:
			h.Epoch--
			return pair.PeerHandover{h}
		case 1:
			h.Step += 1000
			return pair.PeerHandover{h}
		case 2:
			h.Accept[0] = math.NaN()
			return pair.PeerHandover{h}
		}
	case pair.PeerSync:
		return pair.PeerSync{Epoch: epoch, Tokens: []tandem.Token{-5}}
	}
	return e
}

// Junk between the messages does not change the text.
func TestJunkIsIgnored(t *testing.T) {
	dropped := 0
	for seed := range uint64(300) {
		c := newTrial(seed + 2e6)
		want := pairtest.Tokens(reference(t, c.cfg, c.model))
		for _, p := range placements {
			w := c.world(p)
			w.Tamper = func(from tandem.Side, e pair.Event) pair.Event {
				for range w.Rand.IntN(3) {
					x := junk(w.Rand, e, w.Ends[from].Stats().Epoch)
					w.After(time.Duration(w.Rand.IntN(100))*time.Millisecond, func() {
						if to := w.Ends[from.Other()]; to.Stats().Epoch == w.Ends[from].Stats().Epoch { // before, what is far cannot be told
							w.Step(to, x)
						}
					})
				}
				return e
			}
			w.Open(false, 0)
			run(t, w, true)
			for _, e := range w.Ends {
				if got := e.Tokens(); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %v: %v says %v, want %v", seed, p, e.Side, got, want)
				}
				dropped += e.Stats().Dropped
				if e.Stats().Divergences > 0 {
					t.Fatalf("seed %d, %v: junk counted as divergence", seed, p)
				}
			}
		}
	}
	if dropped < 1000 {
		t.Errorf("only %d messages dropped", dropped)
	}
}

// Contradictory messages make the pair begin a new epoch each time, and the text does not change.
func TestDivergence(t *testing.T) {
	diverged := 0
	for seed := range uint64(300) {
		c := newTrial(seed + 3e6)
		want := pairtest.Tokens(reference(t, c.cfg, c.model))
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v", seed, p)
			w := c.world(p)
			w.Links[0].Twice, w.Links[1].Twice = 0, 0
			w.Tamper = func(from tandem.Side, e pair.Event) pair.Event {
				if w.Rand.IntN(12) > 0 {
					return e
				}
				switch x := e.(type) {
				case pair.PeerDraft:
					if w.Rand.IntN(2) == 0 {
						x.Prefix ^= 1
					} else {
						x.Token++
					}
					return x
				case pair.PeerTarget:
					if w.Rand.IntN(2) == 0 {
						x.Prefix ^= 1
					} else {
						x.By ^= 1 << from.Other()
					}
					return x
				case pair.PeerHandover:
					if w.Rand.IntN(2) == 0 {
						x.Prefix ^= 1
					} else {
						x.Versions[w.Rand.IntN(2)]++
					}
					return x
				}
				return e
			}
			w.Open(false, 0)
			run(t, w, false)
			device := w.Ends[tandem.Device]
			checkReason(t, name, device, c.cfg)
			for _, e := range w.Ends {
				diverged += e.Stats().Divergences
			}
			if device.Notes[pair.NoteDistrust] > 0 {
				continue // too often at one step: not the pair's text any more
			}
			if got := device.Tokens(); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	}
	if diverged < 1000 {
		t.Errorf("only %d divergences", diverged)
	}
}

// A cloud that always lies costs the device a few epochs.
func TestDistrust(t *testing.T) {
	c := newTrial(11)
	c.cfg.Stop, c.cfg.MaxTokens = nil, 30
	for _, p := range placements {
		w := c.world(p)
		w.Tamper = func(from tandem.Side, e pair.Event) pair.Event {
			switch x := e.(type) {
			case pair.PeerDraft:
				if from == tandem.Cloud {
					x.Token++
				}
				return x
			case pair.PeerTarget:
				if from == tandem.Cloud {
					x.Prefix++
				}
				return x
			case pair.PeerHandover:
				if from == tandem.Cloud {
					x.Prefix++
				}
				return x
			}
			return e
		}
		w.Open(false, 0)
		run(t, w, false)
		s := w.Ends[tandem.Device].Stats()
		if s.Steps != 30 || s.Alone != 30 || s.Divergences != pair.MaxStrikes+1 || s.Epoch != pair.MaxStrikes+1 {
			t.Errorf("%v: %+v", p, s)
		}
	}
}

// A cloud that floods the device with bad hedges (steps far ahead, wrong versions, prefixes that never come, malformed
// distributions, false ones for the right prefix) costs it no memory beyond the bounds and changes no token. The device
// counts what no honest side sends.
func TestHedgeFlood(t *testing.T) {
	dropped, diverged := 0, 0
	for seed := range uint64(100) {
		c := newTrial(seed + 4e6)
		c.cfg.PassPlaces = 2 + int(seed%(tandem.MaxPassPlaces-1))
		want := pairtest.Tokens(reference(t, c.cfg, c.model))
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v", seed, p)
			w := c.world(p)
			w.Tamper = func(from tandem.Side, e pair.Event) pair.Event {
				d, ok := e.(pair.PeerDraft)
				if !ok || from != tandem.Cloud {
					return e
				}
				device := w.Ends[tandem.Device]
				for range 40 {
					w.Step(device, falseHedge(w.Rand, d, device))
					if err := device.CheckBounds(); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
				}
				return e
			}
			w.Open(false, 0)
			run(t, w, false)
			device := w.Ends[tandem.Device]
			checkReason(t, name, device, c.cfg)
			s := device.Stats()
			dropped, diverged = dropped+s.Dropped, diverged+s.Divergences
			if device.Notes[pair.NoteDistrust] > 0 {
				continue // caught in lies too often: it goes on alone
			}
			if got := device.Tokens(); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	}
	if dropped < 1000 || diverged < 10 {
		t.Errorf("only %d messages dropped, %d divergences: the flood is too mild", dropped, diverged)
	}
}

// falseHedge makes a hedge that no honest side sends from a draft.
func falseHedge(rng *rand.Rand, e pair.PeerDraft, to *pairtest.End) pair.Event {
	d := e.Draft
	d.Version = tandem.AnyVersion
	front := tandem.Step(to.Stats().Steps)
	switch rng.IntN(6) {
	case 0:
		d.Step = front + 1000
	case 1:
		d.Step = math.MaxUint32
	case 2: // a version that none of a few rejections makes
		d.Version = math.MaxUint32 - 1 - uint32(rng.IntN(1000))
	case 3: // for what never comes
		d.Step, d.Prefix = front+tandem.Step(rng.IntN(2*to.Config.Lookahead)), tandem.Prefix(rng.Uint32())
	case 4:
		d.Dist = tandem.Dist{IDs: []tandem.Token{3, 3}, Weights: []uint32{1, 1}}
	case 5: // a token that its distribution does not draw, for what is agreed
		d.Step, d.Prefix, d.Token = front, tandem.PrefixOf(to.Tokens()), (d.Token+1)%24
	}
	return pair.PeerDraft{d}
}

// A side without room for further contexts refuses hedges.
func TestHedgesUnasked(t *testing.T) {
	c := newTrial(12)
	c.cfg.PassPlaces, c.cfg.Stop = 1, nil
	for _, p := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice} {
		w := c.world(p)
		w.Tamper = func(from tandem.Side, e pair.Event) pair.Event {
			if d, ok := e.(pair.PeerDraft); ok && from == tandem.Cloud {
				d.Version = tandem.AnyVersion
				w.Step(w.Ends[tandem.Device], d)
			}
			return e
		}
		w.Open(false, 0)
		run(t, w, false)
		device := w.Ends[tandem.Device]
		if s := device.Stats(); s.Dropped == 0 || s.Hedges > 0 || s.Divergences > 0 || !slices.Equal(device.Tokens(), pairtest.Tokens(reference(t, c.cfg, c.model))) {
			t.Errorf("%v: %+v", p, s)
		}
	}
}

// Hedging adds at most two drafts for each pass to what crosses, and none where there is no room for further contexts.
func TestHedgesSentAreBounded(t *testing.T) {
	for _, contexts := range []int{1, 2, 3, tandem.MaxPassPlaces} {
		w := pairtest.NewLinks(pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 200, PassPlaces: contexts}}, pairtest.Sharing(3, 0.8), 3)
		w.Guess = nil
		for s := range w.Ends {
			w.Ends[s].Delay = pairtest.Every(30 * time.Millisecond)
			w.Links[s].Delay = 150 * time.Millisecond
		}
		sent, passes := 0, 0
		w.Tamper = func(from tandem.Side, e pair.Event) pair.Event {
			if d, ok := e.(pair.PeerDraft); ok && d.Version == tandem.AnyVersion {
				sent++
			}
			return e
		}
		w.Open(false, 0)
		run(t, w, false)
		used := 0
		for _, e := range w.Ends {
			passes, used = passes+e.Stats().Passes, used+e.Stats().Hedges
		}
		most := passes * min(contexts-1, profiler.Ranks-1)
		t.Logf("%d contexts: %d passes, %d hedges sent, %d used", contexts, passes, sent, used)
		if sent > most || contexts > 1 && sent == 0 {
			t.Errorf("%d contexts: %d hedges in %d passes, at most %d", contexts, sent, passes, most)
		}
	}
}
