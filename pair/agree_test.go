package pair_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/scheduler"
)

var placements = []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceSync, tandem.PlaceGreedy}

// trial is a random answer over random links.
type trial struct {
	cfg   pair.Config
	model pairtest.SourceFunc
	rng   *rand.Rand
}

func newTrial(seed uint64) trial {
	rng := rand.New(rand.NewPCG(seed, 1))
	// Drawn in this order.
	coupling, seed, greedy, tokens := tandem.Coupling(rng.IntN(3)), rng.Uint64(), rng.IntN(4) == 0, 1+rng.IntN(40)
	sampling := tandem.Sampling{Temperature: 1}
	if greedy {
		sampling = tandem.Sampling{}
	}
	return trial{
		cfg: pair.Config{
			Settings: tandem.Settings{
				Coupling:  coupling,
				Sampling:  sampling,
				Seed:      seed,
				MaxTokens: tokens,
				Lookahead: 1 + rng.IntN(10),
				Gamma:     []uint32{0, tandem.HalfGamma, tandem.Mass}[rng.IntN(3)],
			},
			Stop:   []tandem.Token{0},
			Vocab:  24,
			Switch: scheduler.Policy{Horizon: []int{0, 8}[rng.IntN(2)]},
		},
		model: pairtest.Random(rng.Uint64(), rng.Float64()),
		rng:   rng,
	}
}

// world makes one with random decode times and links.
func (c trial) world(p tandem.Placement) *pairtest.Links {
	cfg := c.cfg
	cfg.Placement = p
	w := pairtest.NewLinks(cfg, c.model, c.rng.Uint64())
	for s := range w.Ends {
		w.Ends[s].Delay = c.delay(w)
		w.Links[s] = pairtest.Link{
			Delay:  time.Duration(c.rng.IntN(80)) * time.Millisecond,
			Jitter: time.Duration(c.rng.IntN(60)) * time.Millisecond,
			Loss:   []float64{0, 0.05, 0.4}[c.rng.IntN(3)],
			Twice:  []float64{0, 0.3}[c.rng.IntN(2)],
		}
	}
	return w
}

func (c trial) delay(w *pairtest.Links) func(tandem.Step) time.Duration {
	base := time.Duration(1+c.rng.IntN(40)) * time.Millisecond
	return func(tandem.Step) time.Duration { return base/2 + time.Duration(w.Rand.Int64N(int64(base))) }
}

// run plays events until the device has finished (and the cloud too, if both), or nothing is left.
func run(t testing.TB, w *pairtest.Links, both bool) {
	t.Helper()
	for n := 0; w.Ends[0].Reason == nil || both && w.Ends[1].Reason == nil; n++ {
		if n > 200000 {
			t.Fatalf("no end after %v and %d tokens", w.Now, len(w.Ends[0].Emits))
		}
		if !w.Next() {
			break
		}
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
}

// reference is what a pair must say: the protocol without a network.
func reference(t testing.TB, cfg pair.Config, source pairtest.Source) []tandem.Target {
	t.Helper()
	targets, err := pairtest.Answer(cfg, source)
	if err != nil {
		t.Fatal(err)
	}
	return targets
}

// checkHonest fails if a machine suspected an honest peer.
func checkHonest(t *testing.T, name string, w *pairtest.Links) {
	t.Helper()
	for _, e := range w.Ends {
		if s := e.Stats(); s.Divergences+s.Dropped > 0 {
			t.Fatalf("%s: %v counts %d divergences, %d dropped", name, e.Side, s.Divergences, s.Dropped)
		}
	}
}

func checkReason(t *testing.T, name string, e *pairtest.End, cfg pair.Config) {
	t.Helper()
	want := pair.ReasonStop
	if len(e.Emits) == cfg.MaxTokens {
		want = pair.ReasonLength
	}
	if e.Reason == nil || *e.Reason != want {
		t.Fatalf("%s: %v finished with %v after %d of %d tokens, want %v", name, e.Side, e.Reason, len(e.Emits), cfg.MaxTokens, want)
	}
}

// One seed gives one text: in every placement, whatever the delays, jitter, loss, copies and reordering. It is the text
// of no network at all. Both sides see the same tokens with the same origins.
func TestSameTextEverywhere(t *testing.T) {
	var accepted, together, handovers int
	for seed := range uint64(500) {
		c := newTrial(seed)
		want := reference(t, c.cfg, c.model)
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v, %v", seed, c.cfg.Coupling, p)
			w := c.world(p)
			w.Open(false, time.Duration(c.rng.IntN(100))*time.Millisecond)
			run(t, w, true)
			checkHonest(t, name, w)
			for _, e := range w.Ends {
				if !slices.Equal(e.Tokens(), pairtest.Tokens(want)) {
					t.Fatalf("%s: %v says %v, want %v", name, e.Side, e.Tokens(), pairtest.Tokens(want))
				}
				checkReason(t, name, e, c.cfg)
				for i, x := range e.Emits {
					want[i].Epoch = 1
					if x.Target != want[i] || x.Alone {
						t.Fatalf("%s: %v emits %+v, want %+v", name, e.Side, x, want[i])
					}
				}
				s := e.Stats()
				handovers += s.Handovers
				accepted, together = accepted+s.Accepted[0]+s.Accepted[1], together+2*s.Together
			}
		}
	}
	if rate := float64(accepted) / float64(together); rate < 0.2 || rate > 0.9 {
		t.Errorf("acceptance %.2f: the trials are too easy or too hard to mean anything", rate)
	}
	if handovers < 300 {
		t.Errorf("only %d hand-overs", handovers)
	}
}

// lastAccept is a switch that stays, and keeps the acceptance that it was told.
type lastAccept struct{ accept [2]float64 }

func (l *lastAccept) Aggregator(now tandem.Side, e scheduler.Estimate, _ scheduler.Moment) tandem.Side {
	l.accept = e.Accept
	return now
}

// DRAGON §5.1: a side's acceptance matters while the other one aggregates. So with γ chosen it is that of the γ which the other
// would choose: all weight on this side's drafts, where a round trip is long.
func TestDRAGON_AcceptanceWithTheOthersGamma(t *testing.T) {
	device := aggregator.Local{Dist: tandem.Dist{IDs: []tandem.Token{1, 2}, Weights: []uint32{tandem.Mass / 4, 3 * tandem.Mass / 4}}}
	cloud := aggregator.Local{Dist: tandem.Dist{IDs: []tandem.Token{1, 2}, Weights: []uint32{tandem.Mass / 2, tandem.Mass / 2}}, H: tandem.FixedOf(1)}
	var told lastAccept
	cfg := pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceGreedy, Coupling: tandem.CouplingSpeculative, Gamma: tandem.AutoGamma,
		Sampling: tandem.Sampling{Temperature: 1}, Lookahead: 16, MaxTokens: 150}, Switch: &told}
	w := pairtest.NewLinks(cfg, pairtest.SourceFunc(func(side tandem.Side, _ []tandem.Token) aggregator.Local {
		return [2]aggregator.Local{device, cloud}[side]
	}), 1)
	for s := range w.Ends {
		w.Ends[s].Delay = pairtest.Every(30 * time.Millisecond)
		w.Links[s].Delay = 150 * time.Millisecond
		w.Step(w.Ends[s], pair.Measured{RTT: 300 * time.Millisecond})
	}
	w.Open(false, 0)
	run(t, w, false)
	rule := cfg.Rule()
	for side, gamma := range [2]uint32{tandem.Device: tandem.Mass, tandem.Cloud: 0} {
		rule.Gamma = gamma
		if want := rule.Acceptance(device, cloud)[side]; math.Abs(told.accept[side]-want) > .01 {
			t.Errorf("the acceptance of the %v's drafts is %.3f, want %.3f", tandem.Side(side), told.accept[side], want)
		}
	}
}

// With γ chosen by the scheduler both sides still agree, and every token is what one of the choices draws from the two
// distributions.
func TestAutoGamma(t *testing.T) {
	chosen := map[uint32]int{}
	for seed := range uint64(100) {
		c := newTrial(seed + 2e6)
		c.cfg.Coupling, c.cfg.Gamma, c.cfg.Sampling.Temperature, c.cfg.MaxTokens = tandem.CouplingSpeculative, tandem.AutoGamma, 1, 40
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v", seed, p)
			w := c.world(p)
			w.After(0, func() { w.Measure(500) })
			w.Open(false, time.Duration(c.rng.IntN(100))*time.Millisecond)
			run(t, w, true)
			checkHonest(t, name, w)
			device := w.Ends[tandem.Device]
			if !slices.Equal(device.Tokens(), w.Ends[tandem.Cloud].Tokens()) {
				t.Fatalf("%s: device says %v, cloud %v", name, device.Tokens(), w.Ends[tandem.Cloud].Tokens())
			}
			for i, e := range device.Emits {
				answer := device.Tokens()[:i]
				l, r := c.model(tandem.Device, answer), c.model(tandem.Cloud, answer)
				var could [3]bool
				for j, gamma := range []uint32{0, tandem.HalfGamma, tandem.Mass} {
					rule := device.Config.Rule()
					rule.Gamma = gamma
					could[j] = rule.Target(e.Step, l, r) == e.Token
				}
				switch could {
				case [3]bool{}:
					t.Fatalf("%s: no γ gives token %d at step %d", name, e.Token, i)
				case [3]bool{true, false, false}, [3]bool{true, true, false}:
					chosen[0]++
				case [3]bool{false, false, true}, [3]bool{false, true, true}:
					chosen[tandem.Mass]++
				}
				if p == tandem.PlaceMirror && !could[0] {
					t.Fatalf("%s: token %d at step %d is not that of γ = 0", name, e.Token, i)
				}
			}
		}
	}
	if chosen[0] < 1000 || chosen[tandem.Mass] < 1000 {
		t.Errorf("choices %v: γ hardly moved", chosen)
	}
}

// cuts makes the link fail and come back at random times. The cloud may come back with or without its
// memory. Each side notices in its own time.
func (c trial) cuts(w *pairtest.Links, cfg pair.Config, n int) {
	at := time.Duration(0)
	for range n {
		at += time.Duration(c.rng.IntN(800)) * time.Millisecond
		restart := c.rng.IntN(2) == 0
		outage := 400*time.Millisecond + time.Duration(c.rng.IntN(600))*time.Millisecond
		device, cloud := time.Duration(c.rng.IntN(200))*time.Millisecond, time.Duration(c.rng.IntN(200))*time.Millisecond
		w.After(at, func() {
			w.Cut()
			w.After(device, func() { w.Step(w.Ends[tandem.Device], pair.PeerLost{}) })
			if restart {
				w.Ends[tandem.Cloud].Dead = true
			} else {
				w.After(cloud, func() { w.Step(w.Ends[tandem.Cloud], pair.PeerLost{}) })
			}
		})
		w.After(at+outage, func() {
			w.Mend()
			if restart {
				w.Ends[tandem.Cloud] = pairtest.NewEnd(cfg, tandem.Cloud, c.delay(w))
				w.Step(w.Ends[tandem.Cloud], pair.Start{})
			}
			w.Step(w.Ends[tandem.Device], pair.PeerReady{})
		})
		at += outage
	}
}

// checkTokens fails unless each token of the device is the pair's target or, marked as such, its own draft. It returns how
// many it decided alone, and how many it agreed on with the cloud after that.
func (c trial) checkTokens(t *testing.T, name string, device *pairtest.End) (alone, after int) {
	t.Helper()
	rule := device.Config.Rule()
	for i, e := range device.Emits {
		answer := device.Tokens()[:i]
		if e.Step != tandem.Step(i) || e.Prefix != tandem.PrefixOf(answer) {
			t.Fatalf("%s: emit %d is %+v", name, i, e)
		}
		l, r := c.model(tandem.Device, answer), c.model(tandem.Cloud, answer)
		want := rule.Target(e.Step, l, r)
		if e.Alone {
			want = rule.Draft(tandem.Device, e.Step, l.Dist)
			alone++
		} else if alone > 0 {
			after++
		}
		if e.Token != want {
			t.Fatalf("%s: token %d is %d (alone %v), want %d", name, i, e.Token, e.Alone, want)
		}
		rule.Lead = rule.LeadAfter(e.By)
	}
	return alone, after
}

// With a link that comes and goes, no token is lost or repeated: each is the pair's target or, marked as
// such, the device's own draft. The text is the pair's until the first loss.
func TestLinkCuts(t *testing.T) {
	var aloneTokens, togetherAfter, rejoined int
	for seed := range uint64(700) {
		c := newTrial(seed + 1e6)
		c.cfg.MaxTokens = 20 + c.rng.IntN(60)
		if c.rng.IntN(3) > 0 {
			c.cfg.Stop = nil
		}
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v, %v", seed, c.cfg.Coupling, p)
			cfg := c.cfg
			cfg.Placement = p
			w := c.world(p)
			w.Open(c.rng.IntN(3) == 0, time.Duration(c.rng.IntN(300))*time.Millisecond)
			c.cuts(w, cfg, 1+c.rng.IntN(4))
			run(t, w, false)
			device := w.Ends[tandem.Device]
			checkReason(t, name, device, c.cfg)
			checkHonest(t, name, w)
			alone, after := c.checkTokens(t, name, device)
			aloneTokens, togetherAfter = aloneTokens+alone, togetherAfter+after
			s := device.Stats()
			rejoined += int(s.Epoch) - 1
			if s.Steps != len(device.Emits) || s.Alone+s.Together < s.Steps {
				t.Fatalf("%s: %d tokens, counted %+v", name, len(device.Emits), s)
			}
		}
	}
	if aloneTokens < 10000 || togetherAfter < 10000 || rejoined < 1000 {
		t.Errorf("the trials exercise too little: %d tokens alone, %d together after that, %d times joined again", aloneTokens, togetherAfter, rejoined)
	}
}

// A device that never hears from a cloud gives the answer of its own drafts.
func TestAlone(t *testing.T) {
	for seed := range uint64(200) {
		c := newTrial(seed)
		for _, p := range placements {
			cfg := c.cfg
			cfg.Placement = p
			w := pairtest.NewLinks(cfg, c.model, seed)
			w.After(0, func() { w.Step(w.Ends[0], pair.Start{Alone: seed%2 == 0}) })
			w.After(time.Second, func() { w.Step(w.Ends[0], pair.PeerLost{}) })
			run(t, w, false)
			var answer []tandem.Token
			for i, e := range w.Ends[0].Emits {
				want := w.Ends[0].Config.Rule().Draft(tandem.Device, tandem.Step(i), c.model(tandem.Device, answer).Dist)
				if !e.Alone || e.By != tandem.ByDevice || e.Token != want {
					t.Fatalf("seed %d, %v: emit %d is %+v, want token %d", seed, p, i, e, want)
				}
				answer = append(answer, e.Token)
			}
			checkReason(t, "alone", w.Ends[0], cfg)
		}
	}
}

// The same events lead to the same actions.
func TestDeterministic(t *testing.T) {
	transcript := func() string {
		c := newTrial(5)
		w := c.world(tandem.PlaceMirror)
		w.Open(false, 0)
		c.cuts(w, c.cfg, 2)
		run(t, w, false)
		return fmt.Sprint(w.Now, w.Planned(), w.Ends[0].Emits, w.Ends[1].Emits, w.Ends[0].Stats(), w.Ends[1].Stats())
	}
	if a, b := transcript(), transcript(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}
