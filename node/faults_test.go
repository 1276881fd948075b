package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/pair"
)

// fault is something that happens to a phone on its way.
type fault uint8

const (
	stalls   fault = iota // nothing passes for up to 12 s, nothing is lost
	moves                 // another address: a short gap, then another distance
	cuts                  // the link breaks, and cannot be made again at once
	restarts              // the cloud is killed, and comes back without a memory; nobody tells the device before that
	faults
)

func (f fault) String() string { return [...]string{"stall", "move", "cut", "restart"}[f] }

// befall lets f happen to the cable and returns how long it lasts.
func (c *cable) befall(f fault, rng *rand.Rand) (lasts time.Duration) {
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(rng.Int64N(int64(to-from))) }
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f {
	case stalls:
		lasts = between(50*time.Millisecond, 12*time.Second)
		c.until = latest(c.until, time.Now().Add(lasts))
	case moves:
		lasts = between(20*time.Millisecond, time.Second)
		c.until, c.delay = latest(c.until, time.Now().Add(lasts)), between(0, 150*time.Millisecond)
	case cuts, restarts:
		lasts = between(time.Millisecond, 4*time.Second)
		c.dead, c.lost = true, true
		cut := c.cut
		if f == cuts && cut != nil {
			cut(errCut)
		}
		time.AfterFunc(lasts, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.dead, c.lost = false, false
			if cut != nil {
				cut(errCut) // the first packet to the new cloud is answered by a reset
			}
		})
	}
	return lasts
}

// check fails unless each token is what its predecessors demand: the pair's target, or the device's own draft
// where it was alone. A token lost, repeated or exchanged changes everything after it.
func check(cfg pair.Config, tokens []Token) error {
	rule := cfg.Rule()
	var answer []tandem.Token
	for i, tok := range tokens {
		var local [2]aggregator.Local
		for side := range local {
			local[side].Dist, local[side].H = toyOutput(tandem.Side(side), answer)
		}
		want := rule.Target(tandem.Step(i), local[tandem.Device], local[tandem.Cloud])
		if tok.Alone {
			want = rule.Draft(tandem.Device, tandem.Step(i), local[tandem.Device].Dist)
		}
		if tok.ID != want {
			return fmt.Errorf("token %d (alone: %v) is %d, want %d", i, tok.Alone, tok.ID, want)
		}
		rule.Lead = rule.LeadAfter(tok.By)
		answer = append(answer, tok.ID)
	}
	if len(answer) != cfg.MaxTokens {
		return fmt.Errorf("%d tokens, want %d", len(answer), cfg.MaxTokens)
	}
	return nil
}

// In 1,000 journeys with stalls, changes of address, cuts and restarts of the cloud not one token is lost or
// repeated, whatever the placement and the coupling: up to the first token that the device decided alone the
// answer is that of a pair without a network, and it is what the pair must say again once the cloud is back.
func TestJourneys(t *testing.T) {
	placements := []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceGreedy, tandem.PlaceSync}
	var met [faults]int
	apart, again := 0, 0
	for seed := range uint64(journeys) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0x6a6f75726e6579))
			coupling := []tandem.Coupling{tandem.CouplingShared, tandem.CouplingLeader, tandem.CouplingLeader, tandem.CouplingSpeculative}[rng.IntN(4)]
			cfg := toyConfig(placements[seed%5], coupling, seed, rng.IntN(3) == 0)
			cfg.Stop = nil // 60 tokens in any case
			ms := func(n int) time.Duration { return time.Duration(1+rng.IntN(n)) * time.Millisecond }
			c := &cable{delay: ms(150), takes: ms(60), orders: true}
			own := ms(200) // before the faults, which draw from rng on their goroutine
			done, ended := make(chan struct{}), make(chan struct{})
			var story []string
			go func() {
				defer close(ended)
				wait := ms(1500)
				for range 1 + rng.IntN(4) {
					select {
					case <-time.After(wait):
					case <-done:
						return
					}
					f := fault(rng.IntN(int(faults)))
					met[f]++
					lasts := c.befall(f, rng)
					story = append(story, fmt.Sprintf("%v for %v", f, lasts))
					wait = ms(3000)
					if rng.IntN(3) > 0 { // else the next comes before this one is over
						wait += lasts
					}
				}
			}()
			_, answer := converse(t, cfg, c, own, nil)
			close(done)
			<-ended
			time.Sleep(10 * time.Second) // a dial may be under way
			c.hangUp()
			if err := check(cfg, answer.Tokens); err != nil {
				t.Errorf("seed %d, %v %v, %v: %v", seed, cfg.Placement, coupling, story, err)
			}
			alone := func(tok Token) bool { return tok.Alone }
			first := slices.IndexFunc(answer.Tokens, alone)
			want := plain(cfg)
			for i := range answer.Tokens[:max(first, 0)] {
				if answer.Tokens[i].ID != want[i] {
					t.Fatalf("seed %d: token %d is %d before anything was lost, want %d", seed, i, answer.Tokens[i].ID, want[i])
				}
			}
			if first < 0 {
				return
			}
			apart++
			if slices.ContainsFunc(answer.Tokens[first:], func(tok Token) bool { return !tok.Alone }) {
				again++
			}
			if said := strings.Join(answer.Remarks, "; "); !strings.Contains(said, "alone") {
				t.Errorf("seed %d: the device went on alone from token %d and said %q", seed, first, said)
			}
		})
	}
	t.Logf("%v, each so often: %v; %d answers were partly alone, %d of them together again", []fault{stalls, moves, cuts, restarts}, met, apart, again)
	for f, n := range met {
		if n < journeys/5 {
			t.Errorf("only %d times: %v", n, fault(f))
		}
	}
	if apart < journeys*3/10 || again < journeys/10 {
		t.Errorf("%d answers were partly alone, %d of them together again: the journeys are too easy", apart, again)
	}
}
