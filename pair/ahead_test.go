package pair_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// One seed gives one text also where passes decode hedges, checks and guesses: in every placement and coupling, over links
// that lose, copy and reorder, in 10,000 random answers.
func TestSameTextWithHedgesAndGuesses(t *testing.T) {
	var sum pair.Stats
	for seed := range uint64(10_000) {
		c := newTrial(seed)
		c.cfg.PassPlaces, c.cfg.MaxTokens = 2+int(seed%(tandem.MaxPassPlaces-1)), 1+c.cfg.MaxTokens/3
		c.cfg.PassRows = int(seed%3) * 16
		want := reference(t, c.cfg, c.model)
		p := placements[seed%uint64(len(placements))]
		name := fmt.Sprintf("seed %d, %v, %v, %d contexts", seed, c.cfg.Coupling, p, c.cfg.PassPlaces)
		w := c.world(p)
		for _, e := range w.Ends {
			w.Step(e, pair.Measured{RTT: 2 * w.Links[0].Delay})
		}
		w.Open(false, time.Duration(c.rng.IntN(100))*time.Millisecond)
		run(t, w, true)
		checkHonest(t, name, w)
		for _, e := range w.Ends {
			if !slices.Equal(e.Tokens(), pairtest.Tokens(want)) {
				t.Fatalf("%s: %v says %v, want %v", name, e.Side, e.Tokens(), pairtest.Tokens(want))
			}
			checkReason(t, name, e, c.cfg)
			s := e.Stats()
			sum.Ahead, sum.Hedged, sum.Hedges = sum.Ahead+s.Ahead, sum.Hedged+s.Hedged, sum.Hedges+s.Hedges
			sum.Checked, sum.OfChecks, sum.Guessed = sum.Checked+s.Checked, sum.OfChecks+s.OfChecks, sum.Guessed+s.Guessed
			checkCounts(t, name, s)
			if err := e.CheckBounds(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	if sum.Ahead < 1000 || sum.Hedged < 1000 || sum.Guessed < 1000 || sum.Hedges < 100 || sum.Checked < 1000 || sum.OfChecks < 500 {
		t.Errorf("hedges, checks and guesses hardly took part: %+v", sum)
	}
}

// checkCounts fails unless every context and every draft of a machine is counted once.
func checkCounts(t *testing.T, name string, s pair.Stats) {
	t.Helper()
	valid, wasted, underutilised := s.Rows()
	if s.Places != s.Passes+s.Hedged+s.Checked+s.Guessed || s.Together+s.Alone < s.OfHedges+s.OfChecks+s.OfGuesses ||
		valid+wasted+underutilised != s.Room || valid < 0 || wasted < 0 || underutilised < 0 {
		t.Fatalf("%s: %d contexts are valid, %d wasted, %d were left empty: %+v", name, valid, wasted, underutilised, s)
	}
}

// A link that breaks and comes back, once or several times, changes nothing either, and hedges of an old epoch are void.
func TestHedgesOverLinkCuts(t *testing.T) {
	checks, rejoined := 0, 0
	for seed := range uint64(1000) {
		c := newTrial(seed)
		c.cfg.PassPlaces, c.cfg.Placement = 2+int(seed%(tandem.MaxPassPlaces-1)), placements[seed%uint64(len(placements))]
		c.cfg.MaxTokens, c.cfg.Stop = 20+c.rng.IntN(60), nil
		name := fmt.Sprintf("seed %d, %v, %d contexts", seed, c.cfg.Placement, c.cfg.PassPlaces)
		w := c.world(c.cfg.Placement)
		w.Open(false, time.Duration(c.rng.IntN(300))*time.Millisecond)
		c.cuts(w, c.cfg, 1+c.rng.IntN(5))
		run(t, w, false)
		device := w.Ends[tandem.Device]
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

// One pass checks several drafts of the other side: a slow device follows a quick cloud with as many tokens a pass as there
// are contexts, and the text is the same.
func TestOnePassChecksManyDrafts(t *testing.T) {
	play := func(contexts int) (pair.Stats, []tandem.Token) {
		w := pairtest.NewLinks(pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 100, Lookahead: 32, PassPlaces: contexts}}, pairtest.Sharing(1, 1), 1)
		w.Guess = nil
		w.Ends[0].Delay = pairtest.Every(300 * time.Millisecond)
		w.Ends[1].Delay = pairtest.Every(30 * time.Millisecond)
		w.Open(false, 0)
		run(t, w, false)
		return w.Ends[0].Stats(), w.Ends[0].Tokens()
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

// What hedges and guesses save in virtual time, compared with plain mirror, where a pass takes 30 ms on both sides whatever
// its contexts.
func TestHedgesAndGuessesSaveTime(t *testing.T) {
	const ms = time.Millisecond
	for _, rtt := range []time.Duration{0, 100 * ms, 300 * ms} {
		of := func(contexts int) float64 {
			return seconds(t, pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Sampling: tandem.Sampling{Temperature: 1}, Lookahead: 64, PassPlaces: contexts}}, 30*ms, 30*ms, rtt)
		}
		plain, two, three, four, eight := of(1), of(2), of(3), of(4), of(8)
		t.Logf("100 tokens, RTT %v: plain %.2f s; 2 contexts %.2f, 3: %.2f, 4: %.2f, 8: %.2f", rtt, plain, two, three, four, eight)
		if two > plain*1.02 || eight > 0.95*plain {
			t.Errorf("RTT %v: plain %.2f s, with 2 contexts %.2f, with 8 %.2f", rtt, plain, two, eight)
		}
	}
}
