package pair_test

import (
	"testing"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/scheduler"
)

// seconds measures 100 tokens with decoding delays of device and cloud and a round trip, averaged.
func seconds(t *testing.T, cfg pair.Config, device, cloud, rtt time.Duration) (s float64) {
	const runs = 20
	for seed := range uint64(runs) {
		cfg.Seed, cfg.MaxTokens = seed, 100
		w := pairtest.NewLinks(cfg, pairtest.Sharing(seed, 0.8), seed)
		w.Ends[0].Delay = pairtest.Every(device)
		w.Ends[1].Delay = pairtest.Every(cloud)
		w.Links[0].Delay, w.Links[1].Delay = rtt/2, rtt/2
		for _, e := range w.Ends {
			w.Step(e, pair.Measured{RTT: rtt})
		}
		w.Step(w.Ends[0], pair.Start{})
		w.Step(w.Ends[1], pair.Start{})
		w.Step(w.Ends[0], pair.PeerReady{})
		run(t, w, false)
		s += w.Now.Seconds() / runs
	}
	return s
}

// What placements and couplings cost in virtual time, from the fastest to the slowest.
func TestLatencyOfPlacements(t *testing.T) {
	ms := time.Millisecond
	for _, d := range [][3]time.Duration{{30 * ms, 30 * ms, 300 * ms}, {60 * ms, 30 * ms, 300 * ms}, {30 * ms, 30 * ms, 50 * ms}} {
		ahead := 0
		measure := func(p tandem.Placement, c tandem.Coupling, gamma uint32, lookahead, horizon int) float64 {
			return seconds(t, pair.Config{Settings: tandem.Settings{Placement: p, Coupling: c, Sampling: tandem.Sampling{Temperature: 1}, Gamma: gamma, Lookahead: lookahead, PassPlaces: ahead}, Switch: scheduler.Policy{Horizon: horizon}}, d[0], d[1], d[2])
		}
		const paper, shared = tandem.CouplingSpeculative, tandem.CouplingShared
		lockstep := measure(tandem.PlaceSync, shared, 0, 64, 0)
		paperDevice := measure(tandem.PlaceDevice, paper, tandem.HalfGamma, 64, 0)
		paperRemote := measure(tandem.PlaceDevice, paper, 0, 64, 0)
		paperGreedy := measure(tandem.PlaceGreedy, paper, tandem.HalfGamma, 64, 0)
		paperChosen := measure(tandem.PlaceGreedy, paper, tandem.AutoGamma, 64, scheduler.DefaultHorizon)
		device := measure(tandem.PlaceDevice, shared, 0, 64, 0)
		cloud := measure(tandem.PlaceCloud, shared, 0, 64, 0)
		greedy := measure(tandem.PlaceGreedy, shared, 0, 64, 0)
		pays := measure(tandem.PlaceGreedy, shared, 0, 64, scheduler.DefaultHorizon)
		mirror := measure(tandem.PlaceMirror, shared, 0, 64, 0)
		usual := measure(tandem.PlaceMirror, shared, 0, 0, 0)
		leader := measure(tandem.PlaceMirror, tandem.CouplingLeader, 0, 64, 0)
		ahead = 4 // hedges, checks and guesses, which the paper does not have
		mirrorFour, leaderFour := measure(tandem.PlaceMirror, shared, 0, 64, 0), measure(tandem.PlaceMirror, tandem.CouplingLeader, 0, 64, 0)
		chosenFour := measure(tandem.PlaceGreedy, paper, tandem.AutoGamma, 64, scheduler.DefaultHorizon)
		t.Logf("100 tokens, decode %v/%v, rtt %v: sync %.1f s; paper's coupling: device %.1f, with γ=0 %.1f, greedy %.1f, with γ chosen %.1f; shared: device %.1f, cloud %.1f, greedy %.1f, with horizon %.1f, mirror %.1f, with default lookahead %.1f; mirror takes %.2f of the paper's greedy with γ = ½, %.2f of it with γ chosen",
			d[0], d[1], d[2], lockstep, paperDevice, paperRemote, paperGreedy, paperChosen, device, cloud, greedy, pays, mirror, usual, mirror/paperGreedy, mirror/paperChosen)
		t.Logf("mirror with the leader coupling %.1f s; in passes of 4 contexts: shared %.1f, leader %.1f, paper's greedy with γ chosen %.1f", leader, mirrorFour, leaderFour, chosenFour)
		if leader > 0.95*mirror || leader > 1.1*paperChosen || leaderFour > 0.9*mirrorFour || leaderFour > 0.8*paperChosen {
			t.Errorf("the leader coupling gives %.1f s, and %.1f in passes of 4 contexts: want less than shared's %.1f and %.1f, and less than the paper's %.1f",
				leader, leaderFour, mirror, mirrorFour, paperChosen)
		}
		if !(mirror < device && mirror < cloud && mirror < greedy && device < paperDevice && paperRemote < paperDevice && paperDevice < lockstep) {
			t.Error("not in the order mirror, device, paper's coupling, sync")
		}
		if paperChosen > 0.8*paperGreedy || paperChosen > 1.05*paperRemote {
			t.Errorf("choosing γ gives %.1f s: want well below %.1f with ½, and no more than %.1f with the better fixed one", paperChosen, paperGreedy, paperRemote)
		}
		if worse := max(device, cloud); pays > 1.1*worse || greedy > 1.1*worse {
			t.Errorf("greedy %.1f s, with horizon %.1f, is worse than the worse side's %.1f", greedy, pays, worse)
		}
	}
}
