package pair

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
)

var placements = []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceSync, tandem.PlaceGreedy}

// trial is a random answer over random links.
type trial struct {
	cfg   Config
	model model
	rng   *rand.Rand
}

func newTrial(seed uint64) trial {
	rng := rand.New(rand.NewPCG(seed, 1))
	// Drawn in this order.
	coupling, seed, greedy, tokens := tandem.Coupling(rng.IntN(2)), rng.Uint64(), rng.IntN(4) == 0, 1+rng.IntN(40)
	return trial{
		cfg: Config{
			Settings: tandem.Settings{
				Coupling:  coupling,
				Seed:      seed,
				MaxTokens: tokens,
				Lookahead: 1 + rng.IntN(10),
				Gamma:     []uint32{0, tandem.HalfGamma, tandem.Mass}[rng.IntN(3)],
			},
			Greedy:  greedy,
			Stop:    []tandem.Token{0},
			Vocab:   24,
			Horizon: []int{0, 8}[rng.IntN(2)],
		},
		model: randomModel(rng.Uint64(), rng.Float64()),
		rng:   rng,
	}
}

// world makes one with random decode times and links.
func (c trial) world(t testing.TB, p tandem.Placement) *world {
	cfg := c.cfg
	cfg.Placement = p
	w := newWorld(t, cfg, c.model, c.rng.Uint64())
	for s := range w.ends {
		w.ends[s].decode = c.clock(w)
		w.links[s] = link{
			delay:  time.Duration(c.rng.IntN(80)) * time.Millisecond,
			jitter: time.Duration(c.rng.IntN(60)) * time.Millisecond,
			loss:   []float64{0, 0.05, 0.4}[c.rng.IntN(3)],
			twice:  []float64{0, 0.3}[c.rng.IntN(2)],
		}
	}
	return w
}

func (c trial) clock(w *world) func() time.Duration {
	base := time.Duration(1+c.rng.IntN(40)) * time.Millisecond
	return func() time.Duration { return base/2 + time.Duration(w.rng.Int64N(int64(base))) }
}

// checkHonest fails if a machine suspected an honest peer.
func checkHonest(t *testing.T, name string, w *world) {
	t.Helper()
	for _, e := range w.ends {
		if s := e.Stats(); s.Divergences+s.Dropped > 0 {
			t.Fatalf("%s: %v counts %d divergences, %d dropped", name, e.side, s.Divergences, s.Dropped)
		}
	}
}

func checkReason(t *testing.T, name string, e *end, cfg Config) {
	t.Helper()
	want := ReasonStop
	if len(e.emits) == cfg.MaxTokens {
		want = ReasonLength
	}
	if e.reason == nil || *e.reason != want {
		t.Fatalf("%s: %v finished with %v after %d of %d tokens, want %v", name, e.side, e.reason, len(e.emits), cfg.MaxTokens, want)
	}
}

// One seed, one text: in every placement, whatever the delays, jitter, loss, copies and reordering, and as
// without any network. Both sides see the same tokens with the same origins.
func TestSameTextEverywhere(t *testing.T) {
	var accepted, together, handovers int
	for seed := range uint64(500) {
		c := newTrial(seed)
		want := reference(c.cfg, c.model)
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v, %v", seed, c.cfg.Coupling, p)
			w := c.world(t, p)
			w.open(false, time.Duration(c.rng.IntN(100))*time.Millisecond)
			w.run(true)
			checkHonest(t, name, w)
			for _, e := range w.ends {
				if !slices.Equal(tokens(e.emits), tokens(want)) {
					t.Fatalf("%s: %v says %v, want %v", name, e.side, tokens(e.emits), tokens(want))
				}
				checkReason(t, name, e, c.cfg)
				for i, x := range e.emits {
					want[i].Epoch = 1
					if x != want[i] {
						t.Fatalf("%s: %v emits %+v, want %+v", name, e.side, x, want[i])
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

// With γ chosen by the scheduler both sides still say the same, and every token is what one of the choices
// draws from the two distributions.
func TestAutoGamma(t *testing.T) {
	chosen := map[uint32]int{}
	for seed := range uint64(100) {
		c := newTrial(seed + 2e6)
		c.cfg.Coupling, c.cfg.Gamma, c.cfg.Greedy, c.cfg.MaxTokens = tandem.CouplingSpeculative, tandem.AutoGamma, false, 40
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v", seed, p)
			w := c.world(t, p)
			w.after(0, func() { w.measure(500) })
			w.open(false, time.Duration(c.rng.IntN(100))*time.Millisecond)
			w.run(true)
			checkHonest(t, name, w)
			device := w.ends[tandem.Device]
			if !slices.Equal(tokens(device.emits), tokens(w.ends[tandem.Cloud].emits)) {
				t.Fatalf("%s: device says %v, cloud %v", name, tokens(device.emits), tokens(w.ends[tandem.Cloud].emits))
			}
			for i, e := range device.emits {
				answer := tokens(device.emits[:i])
				l, r := c.model(tandem.Device, answer), c.model(tandem.Cloud, answer)
				var could [3]bool
				for j, gamma := range []uint32{0, tandem.HalfGamma, tandem.Mass} {
					rule := device.rule
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
func (c trial) cuts(w *world, cfg Config, n int) {
	at := time.Duration(0)
	for range n {
		at += time.Duration(c.rng.IntN(800)) * time.Millisecond
		restart := c.rng.IntN(2) == 0
		outage := 400*time.Millisecond + time.Duration(c.rng.IntN(600))*time.Millisecond
		device, cloud := time.Duration(c.rng.IntN(200))*time.Millisecond, time.Duration(c.rng.IntN(200))*time.Millisecond
		w.after(at, func() {
			w.down = true
			w.cut++
			w.links[0].stream, w.links[1].stream = 0, 0
			w.after(device, func() { w.tell(w.ends[tandem.Device], PeerLost{}) })
			if restart {
				w.ends[tandem.Cloud].dead = true
			} else {
				w.after(cloud, func() { w.tell(w.ends[tandem.Cloud], PeerLost{}) })
			}
		})
		w.after(at+outage, func() {
			w.down = false
			if restart {
				w.ends[tandem.Cloud] = newEnd(cfg, tandem.Cloud, c.clock(w))
				w.tell(w.ends[tandem.Cloud], Start{})
			}
			w.tell(w.ends[tandem.Device], PeerReady{})
		})
		at += outage
	}
}

// checkTokens fails unless each token of the device is the pair's target or, marked as such, its own draft. It returns
// how many it said alone, and how many together with the cloud after that.
func (c trial) checkTokens(t *testing.T, name string, device *end) (alone, after int) {
	t.Helper()
	for i, e := range device.emits {
		answer := tokens(device.emits[:i])
		if e.Step != tandem.Step(i) || e.Prefix != tandem.PrefixOf(answer) {
			t.Fatalf("%s: emit %d is %+v", name, i, e)
		}
		l, r := c.model(tandem.Device, answer), c.model(tandem.Cloud, answer)
		want := device.rule.Target(e.Step, l, r)
		if e.Alone {
			want = device.rule.Draft(tandem.Device, e.Step, l.Dist)
			alone++
		} else if alone > 0 {
			after++
		}
		if e.Token != want {
			t.Fatalf("%s: token %d is %d (alone %v), want %d", name, i, e.Token, e.Alone, want)
		}
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
			w := c.world(t, p)
			w.open(c.rng.IntN(3) == 0, time.Duration(c.rng.IntN(300))*time.Millisecond)
			c.cuts(w, cfg, 1+c.rng.IntN(4))
			w.run(false)
			device := w.ends[tandem.Device]
			checkReason(t, name, device, c.cfg)
			checkHonest(t, name, w)
			alone, after := c.checkTokens(t, name, device)
			aloneTokens, togetherAfter = aloneTokens+alone, togetherAfter+after
			s := device.Stats()
			rejoined += int(s.Epoch) - 1
			if s.Steps != len(device.emits) || s.Alone+s.Together < s.Steps {
				t.Fatalf("%s: %d tokens, counted %+v", name, len(device.emits), s)
			}
		}
	}
	if aloneTokens < 10000 || togetherAfter < 10000 || rejoined < 1000 {
		t.Errorf("the trials exercise too little: %d tokens alone, %d together after that, %d times joined again", aloneTokens, togetherAfter, rejoined)
	}
}

// A device that never hears of a cloud says what it would say by itself.
func TestAlone(t *testing.T) {
	for seed := range uint64(200) {
		c := newTrial(seed)
		for _, p := range placements {
			cfg := c.cfg
			cfg.Placement = p
			w := newWorld(t, cfg, c.model, seed)
			w.after(0, func() { w.tell(w.ends[0], Start{Alone: seed%2 == 0}) })
			w.after(time.Second, func() { w.tell(w.ends[0], PeerLost{}) })
			w.run(false)
			var answer []tandem.Token
			for i, e := range w.ends[0].emits {
				want := w.ends[0].rule.Draft(tandem.Device, tandem.Step(i), c.model(tandem.Device, answer).Dist)
				if !e.Alone || e.By != tandem.ByDevice || e.Token != want {
					t.Fatalf("seed %d, %v: emit %d is %+v, want token %d", seed, p, i, e, want)
				}
				answer = append(answer, e.Token)
			}
			checkReason(t, "alone", w.ends[0], cfg)
		}
	}
}

// The same machines, told the same things, do the same things.
func TestDeterministic(t *testing.T) {
	transcript := func() string {
		c := newTrial(5)
		w := c.world(t, tandem.PlaceMirror)
		w.open(false, 0)
		c.cuts(w, c.cfg, 2)
		w.run(false)
		return fmt.Sprint(w.now, w.seq, w.ends[0].emits, w.ends[1].emits, w.ends[0].Stats(), w.ends[1].Stats())
	}
	if a, b := transcript(), transcript(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}
