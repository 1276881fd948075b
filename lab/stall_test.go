package lab

import (
	"math/rand/v2"
	"testing"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/internal/testfile"
	"tandem/lab/sim"
	"tandem/node"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/scheduler"
)

// Over a recorded network that stalls for seconds, in every placement and from any moment before the stall, no token is lost
// or repeated. Each is the pair's target after the tokens before it or, where the device was alone, the device's draft.
func TestStallTrace(t *testing.T) {
	file := testfile.Shared(t, "data", "traces", "ping-cloud-ORAN.txt")
	placements := []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceGreedy, tandem.PlaceSync}
	windows, err := Traces{Files: []string{file}}.windows(beforeWorst) // the worst of it
	if err != nil || len(windows) != 1 {
		t.Fatalf("%d windows: %v", len(windows), err)
	}
	alone, again := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		cfg := pair.Config{Settings: tandem.Settings{Placement: placements[seed%5], Coupling: tandem.Coupling(rng.IntN(3)), Gamma: tandem.HalfGamma, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 250, Lookahead: 16}, Switch: scheduler.Policy{Horizon: scheduler.DefaultHorizon}}
		source := pairtest.Sharing(seed, 0.5+rng.Float64()/2)
		set := sim.Setting{Pair: cfg, Source: source, Link: windows[0].path.Link, Patience: node.DefaultPatience}
		for side := range set.Decode {
			set.Decode[side] = sim.Every(time.Duration(20+rng.IntN(80)) * time.Millisecond)
			trace := *set.Link[side].Trace
			set.Link[side].Trace, set.Link[side].Seed = tracePart(&trace, time.Duration(rng.IntN(4000))*time.Millisecond, windowLength), seed
		}
		o, err := sim.Run(t.Context(), set)
		if err != nil || len(o.Tokens) != cfg.MaxTokens {
			t.Fatalf("seed %d, %v: %d tokens, %v", seed, cfg.Placement, len(o.Tokens), err)
		}
		rule := aggregator.Rule{Coupling: cfg.Coupling, Seed: cfg.Seed, Gamma: cfg.Gamma, Lead: tandem.FirstLead}
		ids, apart := o.IDs(), false
		for i, tok := range o.Tokens {
			var local [2]aggregator.Local
			for side := range local {
				if local[side], err = source.After(tandem.Side(side), ids[:i]); err != nil {
					t.Fatal(err)
				}
			}
			want := rule.Target(tandem.Step(i), local[tandem.Device], local[tandem.Cloud])
			if tok.Alone {
				want = rule.Draft(tandem.Device, tandem.Step(i), local[tandem.Device].Dist)
			}
			if tok.ID != want {
				t.Fatalf("seed %d, %v %v: token %d (alone: %v) is %d, want %d", seed, cfg.Placement, cfg.Coupling, i, tok.Alone, tok.ID, want)
			}
			rule.Lead = rule.LeadAfter(tok.By)
			if apart && !tok.Alone && o.Tokens[i-1].Alone {
				again++
			}
			apart = apart || tok.Alone
		}
		if apart {
			alone++
		}
	}
	t.Logf("400 answers: %d partly alone, joined again %d times", alone, again)
	if alone < 200 || again < 200 {
		t.Errorf("%d answers were partly alone, %d joined again: too few answers met the stall", alone, again)
	}
}
