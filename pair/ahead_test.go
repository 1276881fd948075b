package pair

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tandem"
)

// One seed, one text, also where passes decode hedges and guesses: in every placement and coupling, over links that
// lose, copy and reorder. 10,000 random answers.
func TestSameTextWithHedgesAndGuesses(t *testing.T) {
	var sum Stats
	for seed := range uint64(10_000) {
		c := newTrial(seed)
		c.cfg.Contexts, c.cfg.MaxTokens = 2+int(seed%(tandem.MaxContexts-1)), 1+c.cfg.MaxTokens/3
		want := reference(c.cfg, c.model)
		p := placements[seed%uint64(len(placements))]
		name := fmt.Sprintf("seed %d, %v, %v, %d contexts", seed, c.cfg.Coupling, p, c.cfg.Contexts)
		w := c.world(t, p)
		for _, e := range w.ends {
			w.tell(e, Measured{RTT: 2 * w.links[0].delay})
		}
		w.open(false, time.Duration(c.rng.IntN(100))*time.Millisecond)
		w.run(true)
		checkHonest(t, name, w)
		for _, e := range w.ends {
			if !slices.Equal(tokens(e.emits), tokens(want)) {
				t.Fatalf("%s: %v says %v, want %v", name, e.side, tokens(e.emits), tokens(want))
			}
			checkReason(t, name, e, c.cfg)
			s := e.Stats()
			sum.Ahead, sum.Hedged, sum.Hedges = sum.Ahead+s.Ahead, sum.Hedged+s.Hedged, sum.Hedges+s.Hedges
			sum.Checked, sum.OfChecks, sum.Guessed = sum.Checked+s.Checked, sum.OfChecks+s.OfChecks, sum.Guessed+s.Guessed
			checkCounts(t, name, s)
			if len(e.ahead.known) > mostKnown || e.hedges.Len() > 2*e.cfg.Lookahead*tandem.MaxContexts {
				t.Fatalf("%s: %d distributions, %d hedges kept", name, len(e.ahead.known), e.hedges.Len())
			}
		}
	}
	if sum.Ahead < 1000 || sum.Hedged < 1000 || sum.Guessed < 1000 || sum.Hedges < 100 || sum.Checked < 1000 || sum.OfChecks < 500 {
		t.Errorf("hedges, checks and guesses hardly took part: %+v", sum)
	}
}

// checkCounts fails unless every context and every draft of a machine is counted once.
func checkCounts(t *testing.T, name string, s Stats) {
	t.Helper()
	valid, wasted, underutilised := s.Rows()
	if s.Contexts != s.Passes+s.Hedged+s.Checked+s.Guessed || s.Together+s.Alone < s.OfHedges+s.OfChecks+s.OfGuesses ||
		valid+wasted+underutilised != s.Room || valid < 0 || wasted < 0 || underutilised < 0 {
		t.Fatalf("%s: %d contexts are valid, %d wasted, %d were left empty: %+v", name, valid, wasted, underutilised, s)
	}
}

// A link that breaks and comes back, once or several times, changes nothing either, and hedges of an old epoch are void.
func TestHedgesOverLinkCuts(t *testing.T) {
	checks, rejoined := 0, 0
	for seed := range uint64(1000) {
		c := newTrial(seed)
		c.cfg.Contexts, c.cfg.Placement = 2+int(seed%(tandem.MaxContexts-1)), placements[seed%uint64(len(placements))]
		c.cfg.MaxTokens, c.cfg.Stop = 20+c.rng.IntN(60), nil
		name := fmt.Sprintf("seed %d, %v, %d contexts", seed, c.cfg.Placement, c.cfg.Contexts)
		w := c.world(t, c.cfg.Placement)
		w.open(false, time.Duration(c.rng.IntN(300))*time.Millisecond)
		c.cuts(w, c.cfg, 1+c.rng.IntN(5))
		w.run(false)
		device := w.ends[tandem.Device]
		checkReason(t, name, device, c.cfg)
		checkHonest(t, name, w)
		c.checkTokens(t, name, device)
		s := device.Stats()
		checks, rejoined = checks+s.OfChecks, rejoined+int(s.Epoch)-1
	}
	if checks < 300 || rejoined < 500 {
		t.Errorf("the trials exercise too little: %d drafts of checks, %d times joined again", checks, rejoined)
	}
}

// A run of the other side's drafts is checked in one pass: a slow device follows a quick cloud with as many tokens a
// pass as there are contexts, and says the same.
func TestOnePassChecksManyDrafts(t *testing.T) {
	play := func(contexts int) (Stats, []tandem.Token) {
		w := newWorld(t, Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, MaxTokens: 100, Lookahead: 32, Contexts: contexts}}, sharingModel(1, 1), 1)
		w.guesses = false
		w.ends[0].decode = func() time.Duration { return 300 * time.Millisecond }
		w.ends[1].decode = func() time.Duration { return 30 * time.Millisecond }
		w.open(false, 0)
		w.run(false)
		return w.ends[0].Stats(), tokens(w.ends[0].emits)
	}
	plain, want := play(1)
	if plain.Passes != 100 || plain.Checked != 0 {
		t.Fatalf("without further contexts: %+v", plain)
	}
	for _, contexts := range []int{2, 4, 8} {
		s, got := play(contexts)
		t.Logf("%d contexts: %d passes for 100 tokens, %d drafts of checks", contexts, s.Passes, s.OfChecks)
		// The first passes find too few drafts.
		if s.Passes > 100/contexts+4 || s.OfChecks != 100-s.Passes || s.Hedged > 0 {
			t.Errorf("%d contexts: %+v", contexts, s)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d contexts: another text", contexts)
		}
	}
}

// What is checked is what the other side has drafted behind the tokens agreed, up to the end of the answer; drafts
// behind other tokens, or of none of the vocabulary, are not.
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
		m := New(Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Contexts: 8}, Self: tandem.Device, Stop: []tandem.Token{9}, Vocab: 24, Greedy: true})
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
		m.Step(Decoded{ID: d.ID, Dist: one(6), Took: time.Millisecond, Guessed: []tandem.Further{{Token: 6, Dist: one(7)}, {Token: 7, Dist: one(3)}}})
		if s := m.Stats(); s.Passes != 3 || s.Ahead != 2 || s.Together < 4 || s.Accepted[tandem.Device] < 4 {
			t.Errorf("%s: %+v", c.what, s)
		}
	}
}

// What hedges and guesses save in virtual time where a pass takes as long whatever its contexts (30 ms on both
// sides, mirror), beside plain mirror.
func TestHedgesAndGuessesSaveTime(t *testing.T) {
	const ms = time.Millisecond
	for _, rtt := range []time.Duration{0, 100 * ms, 300 * ms} {
		of := func(contexts int) float64 {
			return seconds(t, Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Lookahead: 64, Contexts: contexts}}, 30*ms, 30*ms, rtt)
		}
		plain, two, three, four, eight := of(1), of(2), of(3), of(4), of(8)
		t.Logf("100 tokens, RTT %v: plain %.2f s; 2 contexts %.2f, 3: %.2f, 4: %.2f, 8: %.2f", rtt, plain, two, three, four, eight)
		if two > plain*1.02 || eight > 0.95*plain {
			t.Errorf("RTT %v: plain %.2f s, with 2 contexts %.2f, with 8 %.2f", rtt, plain, two, eight)
		}
	}
}
