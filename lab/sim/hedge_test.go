package sim

import (
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// hedged plays an answer of 60 tokens between a device and a cloud of 30 ms a pass, whose passes decode several contexts.
func hedged(t *testing.T, seed uint64, device, rtt time.Duration, contexts int, guess float64) Outcome {
	t.Helper()
	link := netem.Config{Delay: rtt / 2}
	o, err := Run(t.Context(), Setting{
		Pair:   pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 60, Lookahead: 32, PassPlaces: contexts}},
		Source: pairtest.Sharing(seed, 0.8), Decode: [2]Delay{Every(device), Every(30 * time.Millisecond)},
		Link: [2]netem.Config{link, link}, Warm: true, Guess: guess,
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Further contexts in a pass save time: the text is the same, it comes sooner, and at most three times the bytes cross.
func TestContextsSaveTime(t *testing.T) {
	const runs, equal, slow = 4, 30 * time.Millisecond, 150 * time.Millisecond
	for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
		for _, c := range []struct {
			device   time.Duration
			contexts int
			guess    float64
			most     float64 // of plain's time
		}{{equal, 2, 0, 1}, {equal, 4, 0, 1}, {equal, 4, 0.7, 0.8}, {equal, 8, 0.7, 0.75}, {slow, 4, 0, 0.75}, {slow, 8, 0.7, 0.6}} {
			var took, before time.Duration
			var stats pair.Stats
			bytes, bytesBefore := 0, 0
			for i := range runs {
				plain, o := hedged(t, uint64(i), c.device, rtt, 1, 0), hedged(t, uint64(i), c.device, rtt, c.contexts, c.guess)
				if !slices.Equal(o.IDs(), plain.IDs()) {
					t.Fatalf("seed %d, RTT %v, %d contexts: another text", i, rtt, c.contexts)
				}
				took, before = took+o.Took/runs, before+plain.Took/runs
				for s := range o.Pair {
					bytes, bytesBefore = bytes+o.Wire[s].Bytes, bytesBefore+plain.Wire[s].Bytes
					stats.OfHedges, stats.OfChecks, stats.OfGuesses = stats.OfHedges+o.Pair[s].OfHedges, stats.OfChecks+o.Pair[s].OfChecks, stats.OfGuesses+o.Pair[s].OfGuesses
				}
			}
			t.Logf("device %v, RTT %v, %d contexts, guesses right in %.0f %%: %v, plain %v; %d bytes, plain %d; steps of hedges %d, of checks %d, of guesses %d",
				c.device, rtt, c.contexts, 100*c.guess, took, before, bytes, bytesBefore, stats.OfHedges, stats.OfChecks, stats.OfGuesses)
			if took.Seconds() > c.most*before.Seconds() {
				t.Errorf("RTT %v, %d contexts, guesses right in %.0f %%: %v, plain %v", rtt, c.contexts, 100*c.guess, took, before)
			}
			if bytes > 3*bytesBefore {
				t.Errorf("RTT %v, %d contexts: %d bytes, plain %d", rtt, c.contexts, bytes, bytesBefore)
			}
			// Equal sides check drafts only where guesses let them come in groups.
			if (c.device == slow || c.guess > 0) != (stats.OfChecks > 0) || (c.guess > 0) != (stats.OfGuesses > 0) {
				t.Errorf("RTT %v, %d contexts: %+v", rtt, c.contexts, stats)
			}
		}
	}
}
