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
		c.cfg.Contexts, c.cfg.MaxTokens = 2+int(seed%(MaxContexts-1)), 1+c.cfg.MaxTokens/3
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
			sum.Ahead, sum.Hedged, sum.Guessed, sum.Hedges = sum.Ahead+s.Ahead, sum.Hedged+s.Hedged, sum.Guessed+s.Guessed, sum.Hedges+s.Hedges
			if len(e.ahead.known) > mostKnown || e.hedges.Len() > 2*e.cfg.Lookahead*MaxContexts {
				t.Fatalf("%s: %d distributions, %d hedges kept", name, len(e.ahead.known), e.hedges.Len())
			}
		}
	}
	if sum.Ahead < 1000 || sum.Hedged < 1000 || sum.Guessed < 1000 || sum.Hedges < 100 {
		t.Errorf("hedges and guesses hardly took part: %+v", sum)
	}
}

// A link that breaks and comes back changes nothing either, and hedges of an old epoch are void.
func TestHedgesOverLinkCuts(t *testing.T) {
	for seed := range uint64(400) {
		c := newTrial(seed)
		c.cfg.Contexts, c.cfg.Placement = 2+int(seed%(MaxContexts-1)), placements[seed%uint64(len(placements))]
		w := c.world(t, c.cfg.Placement)
		w.open(false, 0)
		c.cuts(w, c.cfg, 3)
		w.run(false)
		if e := w.ends[tandem.Device]; e.reason == nil {
			t.Fatalf("seed %d: the answer stalls after %d tokens", seed, len(e.emits))
		}
		checkHonest(t, fmt.Sprint("seed ", seed), w)
	}
}

// What hedges and guesses save in virtual time where a pass takes as long whatever its contexts (30 ms on both
// sides, mirror), beside plain mirror.
func TestHedgesAndGuessesSaveTime(t *testing.T) {
	const ms = time.Millisecond
	for _, rtt := range []time.Duration{0, 100 * ms, 300 * ms} {
		of := func(contexts int) float64 {
			return seconds(t, Config{Placement: tandem.PlaceMirror, Lookahead: 64, Contexts: contexts}, 30*ms, 30*ms, rtt)
		}
		plain, two, three, four, eight := of(1), of(2), of(3), of(4), of(8)
		t.Logf("100 tokens, RTT %v: plain %.2f s; 2 contexts %.2f, 3: %.2f, 4: %.2f, 8: %.2f", rtt, plain, two, three, four, eight)
		if two > plain*1.02 || eight > 0.95*plain {
			t.Errorf("RTT %v: plain %.2f s, with 2 contexts %.2f, with 8 %.2f", rtt, plain, two, eight)
		}
	}
}
