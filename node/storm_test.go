package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/pair"
	"tandem/transport"
)

// wideToy is a toy that also decodes what a pass asks for beyond the next token.
type wideToy struct {
	toy
	rng *rand.Rand // guesses
}

func newWideToy(side tandem.Side, takes time.Duration) *wideToy {
	return &wideToy{toy: toy{side: side, takes: takes}, rng: rand.New(rand.NewPCG(uint64(side), 9))}
}

func (w *wideToy) NextAhead(ctx context.Context, p tandem.Pass) (out decoder.Output, branches, chain []tandem.Continuation, err error) {
	if out, err = w.Next(ctx, p.Keep, p.Append); err != nil {
		return out, nil, nil, err
	}
	out.Fed = len(p.Append)
	follow := func(before []tandem.Token, t tandem.Token, after int) (tandem.Continuation, []tandem.Token) {
		all := append(before[:len(before):len(before)], t)
		dist, h := toyOutput(w.side, all)
		return tandem.Continuation{Token: t, After: after, Dist: dist, H: h}, all
	}
	texts := make([][]tandem.Token, len(p.Branches))
	for i, b := range p.Branches {
		before := w.tokens[:len(w.tokens)-b.Back]
		if b.After > 0 {
			before = texts[b.After-1]
		}
		var e tandem.Continuation
		e, texts[i] = follow(before, b.Token, b.After)
		branches = append(branches, e)
	}
	before := w.tokens
	for i := range len(p.Drafts) + p.Guess {
		d, _ := toyOutput(w.side, before)
		t := d.IDs[w.rng.IntN(len(d.IDs))]
		if i < len(p.Drafts) {
			t = p.Drafts[i]
		}
		var e tandem.Continuation
		e, before = follow(before, t, i)
		chain = append(chain, e)
	}
	return out, branches, chain, nil
}

// stormy returns how a pair works that is to go through a storm.
func stormy(seed uint64, rng *rand.Rand) pair.Config {
	coupling := []tandem.Coupling{tandem.CouplingShared, tandem.CouplingLeader, tandem.CouplingSpeculative}[rng.IntN(3)]
	cfg := toyConfig(placements[rng.IntN(len(placements))], coupling, seed, rng.IntN(3) == 0)
	if rng.IntN(2) == 0 {
		cfg.Stop = nil // 60 tokens in any case
	}
	cfg.PassPlaces = []int{1, 1, 2, 4, 8}[rng.IntN(5)]
	cfg.Lookahead = []int{1, 3, 12, 30}[rng.IntN(4)]
	if rng.IntN(5) == 0 {
		cfg.MakePrivate()
	}
	return cfg
}

// upset lets anything happen to a replica, and says what.
func (c *cable) upset(rng *rand.Rand) string {
	switch k := rng.IntN(int(faults) + 3); k {
	case int(faults): // it gives the place away, or refuses the question for good
		again := rng.IntN(2) == 0
		c.mu.Lock()
		other, cut := c.other, c.cut
		c.mu.Unlock()
		if other != nil {
			other.Send(transport.Fail{Text: "no", Again: again})
			time.AfterFunc(c.RTT(), func() { cut(errCut) })
		}
		return fmt.Sprintf("refuses, again %v", again)
	case int(faults) + 1:
		c.mu.Lock()
		c.leaves = true
		c.mu.Unlock()
		time.AfterFunc(4*time.Second, func() { c.mu.Lock(); c.leaves = false; c.mu.Unlock() })
		return "leaves"
	case int(faults) + 2:
		c.mu.Lock()
		c.full = time.Now().Add(5 * time.Second)
		c.mu.Unlock()
		return "full"
	default:
		return fmt.Sprintf("%v for %v", fault(k), c.befall(fault(k), rng))
	}
}

// storm is an answer to which much happens at once.
type storm struct {
	cfg       pair.Config
	answer    *deviceAnswer
	clouds    []*cable
	story     []string
	cancelled bool
}

// rage upsets replicas, and may cancel the answer, until done is closed.
func (s *storm) rage(rng *rand.Rand, cancel func(), done <-chan struct{}) {
	for range 1 + rng.IntN(5) {
		select {
		case <-time.After(time.Duration(1+rng.IntN(2000)) * time.Millisecond):
		case <-done:
			return
		}
		if s.cancelled = rng.IntN(20) == 0; s.cancelled {
			cancel()
			return
		}
		i := rng.IntN(len(s.clouds))
		s.story = append(s.story, fmt.Sprint(i, ": ", s.clouds[i].upset(rng)))
	}
}

// weather answers in the storm of a seed and returns the outcome.
func weather(t *testing.T, seed uint64) (s *storm, answer Answer, err error) {
	rng := rand.New(rand.NewPCG(seed, 0x73746f726d))
	ms := func(n int) time.Duration { return time.Duration(1+rng.IntN(n)) * time.Millisecond }
	s = &storm{cfg: stormy(seed, rng)}
	for range 1 + rng.IntN(3) {
		// A device whose last word is lost says nothing more.
		c := &cable{delay: ms(150), takes: ms(60), orders: true, wide: s.cfg.PassPlaces > 1, accepts: errIdle}
		if rng.IntN(4) == 0 {
			c.full = time.Now().Add(ms(6000))
		}
		s.clouds = append(s.clouds, c)
	}
	w := newTown(t, s.cfg, s.clouds...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.cfg.Self = tandem.Device
	a := newDeviceAnswer(ctx, s.cfg, silence{}, func(Token) {})
	a.log, a.require, a.wantsCloud, s.answer = slog.New(slog.DiscardHandler), rng.IntN(5) == 0, true, a
	if n := rng.IntN(400); n < 100 { // the program is stopped for a while
		a.record = &recorder{start: a.start, to: func(Line) {
			if n--; n == 0 {
				time.Sleep(20 * time.Second)
			}
		}}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	raging := rand.New(rand.NewPCG(seed, 77))
	go func() { defer close(ended); s.rage(raging, cancel, done) }()
	a.reach(DefaultPatience, w)
	time.Sleep(ms(3000)) // the device reads
	own := producer(&toy{side: tandem.Device, takes: ms(200)})
	if s.cfg.PassPlaces > 1 {
		own = newWideToy(tandem.Device, ms(200))
	}
	err = a.run(own)
	answer = a.finish()
	close(done)
	<-ended
	time.Sleep(20 * time.Second) // a dial may be under way
	for _, c := range s.clouds {
		c.hangUp()
	}
	return s, answer, err
}

// Whatever happens to the replicas of a cloud, to the device's program and to the answer, at any moment: each token is what its
// predecessors demand, tokens decided alone are owned up to, the sides never contradict each other, and nobody is left behind.
func TestStorms(t *testing.T) {
	alone, together, cancelled := 0, 0, 0
	for seed := range uint64(journeys / 3) {
		synctest.Test(t, func(t *testing.T) {
			s, answer, err := weather(t, seed)
			what := fmt.Sprintf("seed %d, %v, %v, %d places, required %v, %q", seed, s.cfg.Placement, s.cfg.Coupling, s.cfg.PassPlaces, s.answer.require, s.story)
			whole := s.cfg
			whole.MaxTokens = len(answer.Tokens)
			if err := check(whole, answer.Tokens); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			failed := s.answer.require && errors.Is(err, ErrNoCloud) || s.cancelled && errors.Is(err, context.Canceled)
			if err != nil && !failed || err == nil && s.cfg.Stop == nil && len(answer.Tokens) < s.cfg.MaxTokens {
				t.Errorf("%s: %d tokens, %v", what, len(answer.Tokens), err)
			}
			said := strings.Contains(strings.Join(answer.Remarks, "; "), "alone")
			if answer.Pair.Alone > 0 && (s.answer.require || !answer.Degraded || !said) {
				t.Errorf("%s: %d tokens alone, degraded %v, remarks %q", what, answer.Pair.Alone, answer.Degraded, answer.Remarks)
			}
			if answer.Pair.Divergences+answer.Pair.Dropped > 0 {
				t.Errorf("%s: %+v", what, answer.Pair)
			}
			alone, together = alone+min(1, answer.Pair.Alone), together+min(1, answer.Pair.Together)
			if errors.Is(err, context.Canceled) {
				cancelled++
			}
		})
	}
	t.Logf("%d answers partly alone, %d partly together, %d cancelled", alone, together, cancelled)
	if n := journeys / 3; alone < n/10 || together < n/2 || cancelled == 0 {
		t.Errorf("%d answers partly alone, %d partly together, %d cancelled: the storms are too weak", alone, together, cancelled)
	}
}
