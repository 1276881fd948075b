package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/node/presence"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/scheduler"
)

const ms = time.Millisecond

func run(t testing.TB, s Setting) Outcome {
	t.Helper()
	o, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// symmetric is a path of that round trip without disturbances.
func symmetric(rtt time.Duration) [2]netem.Config {
	return [2]netem.Config{{Delay: rtt / 2}, {Delay: rtt / 2}}
}

var placements = []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceSync, tandem.PlaceGreedy}

// One seed gives one text, whatever the placement, the delays, the losses and how they are repaired. That is the text that
// the pair gives without a network.
func TestSameText(t *testing.T) {
	for seed := range uint64(8) {
		for _, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative} {
			cfg := pair.Config{Settings: tandem.Settings{Coupling: coupling, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 40, Gamma: tandem.HalfGamma}}
			targets, err := pairtest.Answer(cfg, pairtest.Sharing(seed, 0.7))
			if err != nil {
				t.Fatal(err)
			}
			want := pairtest.Tokens(targets)
			for _, p := range placements {
				for _, rtt := range []time.Duration{0, 50 * ms, 300 * ms} {
					for _, loss := range []float64{0, 0.1, 0.4} {
						cfg.Placement = p
						s := Setting{
							Pair: cfg, Source: pairtest.Sharing(seed, 0.7), Wire: Wire(seed % 2),
							Decode: [2]Delay{Every(time.Duration(10+20*seed) * ms), Every(30 * ms)},
							Begin:  [2]time.Duration{time.Duration(seed) * 20 * ms, 60 * ms},
						}
						for i := range s.Link {
							s.Link[i] = netem.Config{Delay: rtt / 2, Jitter: rtt / 10, Unordered: seed%3 == 0, Loss: loss, Duplicate: loss / 2, Seed: seed + uint64(i)}
						}
						o := run(t, s)
						name := fmt.Sprintf("seed %d, %v, %v, rtt %v, loss %v, %v", seed, coupling, p, rtt, loss, s.Wire)
						if !slices.Equal(o.IDs(), want) {
							t.Fatalf("%s: %v, want %v", name, o.IDs(), want)
						}
						for side, st := range o.Pair {
							if st.Divergences+st.Dropped > 0 {
								t.Fatalf("%s: %v counts %+v", name, tandem.Side(side), st)
							}
						}
						if again := run(t, s); again.Took != o.Took || !slices.Equal(again.Tokens, o.Tokens) {
							t.Fatalf("%s: a second run differs", name)
						}
					}
				}
			}
		}
	}
}

// A device alone answers with its own drafts, at its own pace.
func TestAlone(t *testing.T) {
	cfg := pair.Config{Settings: tandem.Settings{Seed: 3, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 20}}
	o := run(t, Setting{Pair: cfg, Source: pairtest.Sharing(3, 0.5), Decode: [2]Delay{Every(30 * ms), Every(0)}, Alone: true})
	if o.Took != 600*ms || o.Pair[tandem.Device].Alone != 20 {
		t.Errorf("took %v, %+v", o.Took, o.Pair[0])
	}
}

// Exactly the drafts of an acceptance record are accepted.
func TestRecord(t *testing.T) {
	for seed := range uint64(20) {
		r := PaperRecord(seed, 80)
		for _, p := range placements {
			o := run(t, Setting{
				Pair:   pair.Config{Settings: tandem.Settings{Placement: p, MaxTokens: 80}},
				Source: r, Decode: [2]Delay{Every(20 * ms), Every(30 * ms)}, Link: symmetric(100 * ms),
			})
			for i, tok := range o.Tokens {
				if tok.By != r[i] {
					t.Fatalf("seed %d, %v: step %d by %v, want %v", seed, p, i, tok.By, r[i])
				}
			}
			if got := o.Pair[tandem.Device].Acceptance(tandem.Cloud); math.Abs(got-r.Rate(tandem.Cloud)) > 1e-9 {
				t.Errorf("seed %d: acceptance %v, recorded %v", seed, got, r.Rate(tandem.Cloud))
			}
		}
	}
}

// DRAGON Table 1: with each acceptance case repeated, the time between two targets on side l.
func TestDRAGON_Table1(t *testing.T) {
	for _, c := range []struct {
		by    tandem.By // the device is l
		waits func(cl, cr, rtt float64) float64
	}{
		{tandem.ByCloud, func(cl, cr, rtt float64) float64 { return max(cl, cr) }},
		{tandem.ByDevice, func(cl, cr, rtt float64) float64 { return max(cl, cr+rtt) }},
		{tandem.ByBoth, func(cl, cr, rtt float64) float64 { return max(cl, cr) }},
		{tandem.ByNeither, func(cl, cr, rtt float64) float64 { return max(cl, cr+rtt) }},
	} {
		for _, d := range [][3]float64{{1, 1.5, 3}, {2, 2, 2.5}, {5, 1, 2}, {1, 4, 5}, {9, 3, 4}, {1, 2, 0.2}} {
			for _, p := range []tandem.Placement{tandem.PlaceDevice, tandem.PlaceCloud} {
				by, side := c.by, tandem.Device
				if p == tandem.PlaceCloud {
					by, side = (by&1)<<1|by>>1, tandem.Cloud
				}
				var decode [2]Delay
				decode[side] = Every(time.Duration(d[0] * 1e6))
				decode[side.Other()] = Every(time.Duration(d[1] * 1e6))
				o := run(t, Setting{
					Pair:   pair.Config{Settings: tandem.Settings{Placement: p, MaxTokens: 60, Lookahead: 16}},
					Source: pairtest.Record{by}, Decode: decode, Link: symmetric(time.Duration(d[2] * 1e6)),
				})
				got := (o.Tokens[59].At - o.Tokens[29].At) / 30
				want := time.Duration(c.waits(d[0], d[1], d[2]) * 1e6)
				if d := got - want; max(d, -d) > time.Microsecond {
					t.Errorf("%v, target by %v, delays %v: %v between targets, want %v", p, by, d, got, want)
				}
			}
		}
	}
}

// DRAGON Theorem 6.2: the speedup over drafting in lock step. The theorem adds up the cases of Table 1 as if each were
// repeated forever. In a random order, drafts that wait in a queue let the device work off part of a round trip, so the
// simulated speedup may exceed the curve where the device is the slower side.
func TestDRAGON_Theorem6_2(t *testing.T) {
	const steps = 600
	for _, d := range [][3]time.Duration{
		{10 * ms, 30 * ms, 300 * ms}, {30 * ms, 30 * ms, 300 * ms}, {30 * ms, 60 * ms, 60 * ms}, // c^l ≤ c^r
		{60 * ms, 30 * ms, 300 * ms}, {150 * ms, 30 * ms, 300 * ms}, // c^r < c^l ≤ c^r + rtt
		{150 * ms, 30 * ms, 100 * ms}, // c^r + rtt < c^l
	} {
		for _, alpha := range []float64{0, 0.3, 0.7, 1} {
			record := RandomRecord(uint64(alpha*10), steps, 0.6, alpha)
			period := func(p tandem.Placement) float64 {
				o := run(t, Setting{
					Pair:   pair.Config{Settings: tandem.Settings{Placement: p, MaxTokens: steps, Lookahead: tandem.MaxLookahead}},
					Source: record, Decode: [2]Delay{Every(d[0]), Every(d[1])}, Link: symmetric(d[2]), Warm: true,
				})
				return (o.Tokens[steps-1].At - o.Tokens[0].At).Seconds() / (steps - 1)
			}
			played := period(tandem.PlaceSync) / period(tandem.PlaceDevice)
			e := scheduler.Estimate{Decode: [2]time.Duration{d[0], d[1]}, RTT: d[2], Accept: [2]float64{0.6, record.Rate(tandem.Cloud)}}
			theory := scheduler.Speedup(tandem.Device, e)
			if played < 0.98*theory || played > 1.35*theory || d[0] <= d[1] && played > 1.02*theory {
				t.Errorf("delays %v, α^r %.2f: simulated speedup %.3f, the theorem's %.3f", d, alpha, played, theory)
			}
		}
	}
}

// The figures are those that package pair measures over links without packets (TestLatencyOfPlacements there).
func TestAgreesWithPair(t *testing.T) {
	for _, c := range []struct {
		placement tandem.Placement
		coupling  tandem.Coupling
		seconds   float64
	}{
		{tandem.PlaceSync, tandem.CouplingShared, 33.0},
		{tandem.PlaceDevice, tandem.CouplingSpeculative, 16.2},
		{tandem.PlaceDevice, tandem.CouplingShared, 9.3},
		{tandem.PlaceCloud, tandem.CouplingShared, 8.4},
		{tandem.PlaceMirror, tandem.CouplingShared, 5.9},
	} {
		const runs = 6
		got := 0.0
		for seed := range uint64(runs) {
			o := run(t, Setting{
				Pair:   pair.Config{Settings: tandem.Settings{Placement: c.placement, Coupling: c.coupling, Gamma: tandem.HalfGamma, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 100, Lookahead: 64}},
				Source: pairtest.Sharing(seed, 0.8), Decode: [2]Delay{Every(30 * ms), Every(30 * ms)}, Link: symmetric(300 * ms), Warm: true,
			})
			got += o.Took.Seconds() / runs
		}
		if math.Abs(got-c.seconds) > 0.15 {
			t.Errorf("%v, %v: %.2f s for 100 tokens, package pair has %.1f", c.coupling, c.placement, got, c.seconds)
		}
	}
}

// Repeated datagrams repair a loss with the next message, a stream only after it notices the loss.
func TestLossRepair(t *testing.T) {
	slowest := func(wire Wire, loss float64) time.Duration {
		var gaps []time.Duration
		for seed := range uint64(10) {
			s := Setting{
				Pair:   pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 100, Lookahead: 32}},
				Source: pairtest.Sharing(seed, 1), Decode: [2]Delay{Every(30 * ms), Every(30 * ms)}, Wire: wire, Warm: true,
			}
			for i := range s.Link {
				s.Link[i] = netem.Config{Delay: 25 * ms, Loss: loss, Seed: seed*2 + uint64(i)}
			}
			o := run(t, s)
			gaps = append(gaps, o.Gaps(0)[1:]...)
			if loss > 0 && o.Wire[0].Lost+o.Wire[1].Lost == 0 {
				t.Error("nothing was lost")
			}
		}
		slices.Sort(gaps)
		return gaps[len(gaps)*99/100]
	}
	lossless := slowest(Repeat, 0)
	repeat, stream := slowest(Repeat, 0.05), slowest(Stream, 0.05)
	t.Logf("p99 between tokens: lossless %v; 5 %% loss: repeated %v, stream %v", lossless, repeat, stream)
	if lossless != slowest(Stream, 0) || repeat >= stream || repeat > lossless+40*ms {
		t.Error("want lossless ≤ repeated < stream")
	}
}

// Drafts of one datagram reach a side together, as in the live node: the pass that follows checks all of them, not the
// first alone.
func TestDraftsArriveTogether(t *testing.T) {
	checked := 0
	for seed := range uint64(10) {
		o := run(t, Setting{
			Pair:   pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 100, Lookahead: 32, PassPlaces: 4}},
			Source: pairtest.Sharing(seed, 0.8), Decode: [2]Delay{Every(30 * ms), Every(30 * ms)}, Link: symmetric(0), Warm: true, Guess: 1,
		})
		checked += o.Pair[tandem.Device].OfChecks
	}
	if checked < 120 { // 61 if the first of them starts a pass
		t.Errorf("%d of 1000 drafts came of checks, want 120", checked)
	}
}

// During a stall of the path a device with patience continues alone, as a live one does, and the pair joins again
// afterwards: no token is lost, and tokens agreed before do not change. A device without patience waits.
func TestStall(t *testing.T) {
	for seed := range uint64(20) {
		for _, p := range placements {
			s := Setting{
				Pair:   pair.Config{Settings: tandem.Settings{Placement: p, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 200, Lookahead: 24}},
				Source: pairtest.Sharing(seed, 0.8), Decode: [2]Delay{Every(60 * ms), Every(30 * ms)}, Link: symmetric(60 * ms),
			}
			calm := run(t, s)
			for i := range s.Link {
				s.Link[i].Outages = []netem.Outage{{From: 500 * ms, For: 10 * time.Second, Hold: true}}
			}
			waits := run(t, s)
			s.Patience = presence.DefaultPatience
			o := run(t, s)
			first, last := -1, -1
			for i, tok := range o.Tokens {
				if tok.Alone {
					last = i
					if first < 0 {
						first = i
					}
				}
			}
			if len(o.Tokens) != 200 || first < 0 || last > 199 || o.Tokens[199].Alone || !slices.Equal(o.IDs()[:first], calm.IDs()[:first]) {
				t.Errorf("seed %d, %v: %d tokens, alone from %d to %d", seed, p, len(o.Tokens), first, last)
			}
			if !slices.Equal(waits.IDs(), calm.IDs()) || waits.Took < calm.Took+8*time.Second || o.Took > waits.Took-4*time.Second {
				t.Errorf("seed %d, %v: calm %v, waiting %v, alone %v", seed, p, calm.Took, waits.Took, o.Took)
			}
		}
	}
}

// Run refuses settings that cannot work.
func TestErrors(t *testing.T) {
	s := Setting{Pair: pair.Config{Settings: tandem.Settings{Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: 5}}, Source: pairtest.Sharing(1, 1), Decode: [2]Delay{Every(ms), Every(ms)}}
	s.Link[1].Loss = 2
	if _, err := Run(t.Context(), s); err == nil {
		t.Error("a loss of 2 is accepted")
	}
	s.Link[1].Loss = 1
	if _, err := Run(t.Context(), s); err == nil {
		t.Error("an answer without packets succeeds")
	}
}
