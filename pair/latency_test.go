package pair

import (
	"math/rand/v2"
	"testing"
	"time"

	"tandem"
	"tandem/aggregator"
)

// sharingModel gives distributions of 4 to 16 tokens of which the two sides share the given mass, at equal
// weights (the setting of DESIGN §3.4).
func sharingModel(seed uint64, share float64) model {
	return func(side tandem.Side, answer []tandem.Token) aggregator.Local {
		h := uint64(tandem.PrefixOf(answer))
		common, own := rand.New(rand.NewPCG(seed, h)), rand.New(rand.NewPCG(seed, h^uint64(1+side)<<40))
		n := 4 + common.IntN(13)
		p := make([]float64, 3*n)
		fill := func(rng *rand.Rand, dst []float64, mass float64) {
			sum := 0.0
			for i := range dst {
				dst[i] = rng.ExpFloat64()
				sum += dst[i]
			}
			for i := range dst {
				dst[i] *= mass / sum
			}
		}
		fill(common, p[:n-n/2], share)
		fill(own, p[n*(1+int(side)):][:n/2], 1-share)
		return aggregator.Local{Dist: aggregator.Nucleus(p, 1, n)}
	}
}

// seconds measures 100 tokens with decoding delays of device and cloud and a round trip, averaged.
func seconds(t *testing.T, cfg Config, device, cloud, rtt time.Duration) (s float64) {
	const runs = 6
	for seed := range uint64(runs) {
		cfg.Seed, cfg.MaxTokens = seed, 100
		w := newWorld(t, cfg, sharingModel(seed, 0.8), seed)
		w.ends[0].decode = func() time.Duration { return device }
		w.ends[1].decode = func() time.Duration { return cloud }
		w.links[0].delay, w.links[1].delay = rtt/2, rtt/2
		for _, e := range w.ends {
			w.tell(e, Measured{RTT: rtt})
		}
		w.tell(w.ends[0], Start{})
		w.tell(w.ends[1], Start{})
		w.tell(w.ends[0], PeerReady{})
		w.run(false)
		s += w.now.Seconds() / runs
	}
	return s
}

// What placements and couplings cost, in virtual time: the order that DESIGN §3.4 reports.
func TestLatencyOfPlacements(t *testing.T) {
	ms := time.Millisecond
	for _, d := range [][3]time.Duration{{30 * ms, 30 * ms, 300 * ms}, {60 * ms, 30 * ms, 300 * ms}, {30 * ms, 30 * ms, 50 * ms}} {
		measure := func(p tandem.Placement, c tandem.Coupling, gamma uint32, lookahead, horizon int) float64 {
			return seconds(t, Config{Settings: tandem.Settings{Placement: p, Coupling: c, Gamma: gamma, Lookahead: lookahead}, Horizon: horizon}, d[0], d[1], d[2])
		}
		const paper, shared = tandem.CouplingSpeculative, tandem.CouplingShared
		lockstep := measure(tandem.PlaceSync, shared, 0, 64, 0)
		paperDevice := measure(tandem.PlaceDevice, paper, tandem.HalfGamma, 64, 0)
		paperRemote := measure(tandem.PlaceDevice, paper, 0, 64, 0)
		paperGreedy := measure(tandem.PlaceGreedy, paper, tandem.HalfGamma, 64, 0)
		paperChosen := measure(tandem.PlaceGreedy, paper, tandem.AutoGamma, 64, DefaultHorizon)
		device := measure(tandem.PlaceDevice, shared, 0, 64, 0)
		cloud := measure(tandem.PlaceCloud, shared, 0, 64, 0)
		greedy := measure(tandem.PlaceGreedy, shared, 0, 64, 0)
		pays := measure(tandem.PlaceGreedy, shared, 0, 64, DefaultHorizon)
		mirror := measure(tandem.PlaceMirror, shared, 0, 64, 0)
		usual := measure(tandem.PlaceMirror, shared, 0, 0, 0)
		t.Logf("100 tokens, decode %v/%v, rtt %v: sync %.1f s; paper's coupling: device %.1f, with γ=0 %.1f, greedy %.1f, with γ chosen %.1f; shared: device %.1f, cloud %.1f, greedy %.1f, with horizon %.1f, mirror %.1f, with default lookahead %.1f; mirror takes %.2f of the paper's greedy with γ = ½, %.2f of it with γ chosen",
			d[0], d[1], d[2], lockstep, paperDevice, paperRemote, paperGreedy, paperChosen, device, cloud, greedy, pays, mirror, usual, mirror/paperGreedy, mirror/paperChosen)
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
