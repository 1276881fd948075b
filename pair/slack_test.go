package pair_test

import (
	"testing"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// A cloud that begins each pass as late as Slack allows delays nothing, and drafts less in vain.
func TestSlackDelaysNothing(t *testing.T) {
	const ms, runs = time.Millisecond, 20
	play := func(device, rtt time.Duration, waits bool) (took time.Duration, wasted int) {
		for seed := range uint64(runs) {
			cfg := pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 100, Lookahead: 12}}
			w := pairtest.NewLinks(cfg, pairtest.Sharing(seed, 0.8), seed)
			w.Ends[0].Delay = pairtest.Every(device)
			w.Ends[1].Delay = func(tandem.Step) time.Duration {
				if waits {
					return 10*ms + max(0, w.Ends[1].Machine.Slack()-10*ms)
				}
				return 10 * ms
			}
			w.Links[0].Delay, w.Links[1].Delay = rtt/2, rtt/2
			for _, e := range w.Ends {
				w.Step(e, pair.Measured{RTT: rtt})
			}
			w.Step(w.Ends[0], pair.Start{})
			w.Step(w.Ends[1], pair.Start{})
			w.Step(w.Ends[0], pair.PeerReady{})
			run(t, w, false)
			took, wasted = took+w.Now/runs, wasted+w.Ends[1].Machine.Stats().Wasted
		}
		return took, wasted
	}
	for _, c := range []struct{ device, rtt time.Duration }{{60 * ms, 50 * ms}, {60 * ms, 200 * ms}, {30 * ms, 10 * ms}} {
		soon, inVain := play(c.device, c.rtt, false)
		late, lessInVain := play(c.device, c.rtt, true)
		t.Logf("device %v, round trip %v: %v and %d drafts in vain; as late as may be %v and %d", c.device, c.rtt, soon, inVain, late, lessInVain)
		if float64(late) > 1.02*float64(soon) {
			t.Errorf("device %v, round trip %v: %v instead of %v", c.device, c.rtt, late, soon)
		}
		if lessInVain > inVain*9/10 {
			t.Errorf("device %v, round trip %v: %d drafts in vain instead of %d", c.device, c.rtt, lessInVain, inVain)
		}
	}
}
