package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/node/replicas"
	"tandem/pair"
	"tandem/scheduler"
	"tandem/transport"
)

const (
	toyVocab = 40
	toyStop  = tandem.Token(0)
)

// toy stands in for a decoder: its distribution is a function of the side and the answer so far, and it
// takes time, in which it can be preempted.
type toy struct {
	side   tandem.Side
	takes  time.Duration
	tokens []tandem.Token
}

func (t *toy) Next(ctx context.Context, keep int, app []tandem.Token) (decoder.Output, error) {
	if keep > len(t.tokens) {
		return decoder.Output{}, fmt.Errorf("keep %d of %d tokens", keep, len(t.tokens))
	}
	t.tokens = append(t.tokens[:keep:keep], app...)
	select {
	case <-time.After(t.takes):
	case <-ctx.Done():
		return decoder.Output{}, ctx.Err()
	}
	dist, h := toyOutput(t.side, t.tokens)
	return decoder.Output{Dist: dist, H: h, Took: t.takes}, nil
}

// toyOutput mixes a distribution that both sides share with one of the side's own.
func toyOutput(side tandem.Side, answer []tandem.Token) (tandem.Dist, tandem.Fixed) {
	p := make([]float64, toyVocab)
	add := func(seed uint64, share float64) {
		r := rand.New(rand.NewPCG(seed, uint64(tandem.PrefixOf(answer))))
		sum, w := 0.0, make([]float64, toyVocab)
		for i := range w {
			w[i] = r.ExpFloat64() * r.ExpFloat64() * r.ExpFloat64()
			sum += w[i]
		}
		for i := range w {
			p[i] += share * w[i] / sum
		}
	}
	add(7, 0.7)
	add(uint64(side), 0.3)
	if len(answer) < 20 {
		p[toyStop] = 0
	}
	r := rand.New(rand.NewPCG(99+uint64(side), uint64(len(answer))))
	return aggregator.Nucleus(p, 0.8, 16), tandem.FixedOf(r.NormFloat64())
}

// cable is a network link with delay between a device and toy clouds. Cutting it ends the exchanges that use it.
type cable struct {
	t          *testing.T
	cfg        pair.Config // of the cloud
	delay      time.Duration
	jitter     time.Duration       // what is added to a message's delay, up to this
	loss       float64             // share of messages that come a round trip later: lost, and sent again
	record     func(Line)          // of the device
	prepare    func(*deviceAnswer) // changes the device's answer before it begins
	ending     func(*deviceAnswer) // does the same before it ends
	takes      time.Duration       // the cloud's decode time
	spans      [2]producer         // what the sides answer with; nil for toys
	past       [2]*Past            // of their earlier answers; nil for none
	dead       bool                // the cloud does not answer dials
	mu         sync.Mutex
	last       time.Time // when something last reached the device
	cut        context.CancelCauseFunc
	held       time.Duration           // what a stall adds to the delay
	until      time.Time               // what is sent before waits until then
	lost       bool                    // what is sent is lost for good
	orders     bool                    // messages arrive in the order in which they were sent, as QUIC has it
	heard      func(transport.Message) // what the device sends
	unmeasured bool                    // RTT returns what QUIC assumes before it has measured it
	leaves     bool                    // the cloud is about to end
	full       time.Time               // it has no place before
	wide       bool                    // the cloud decodes what a pass asks for beyond the next token
	accepts    error                   // with which the cloud may give up
	other      *end                    // the cloud's end of the exchange that was opened last
	opened     int
	rng        *rand.Rand
	wg         sync.WaitGroup
}

func (c *cable) LastHeard() time.Time   { c.mu.Lock(); defer c.mu.Unlock(); return c.last }
func (c *cable) Stats() transport.Stats { return transport.Stats{} }

func (c *cable) RTT() time.Duration {
	if c.unmeasured {
		return 100 * time.Millisecond
	}
	return c.trip()
}

// trip is how long a message and its reply take.
func (c *cable) trip() time.Duration { c.mu.Lock(); defer c.mu.Unlock(); return 2 * c.delay }

// Migrate finds no other path: a cable has two ends.
func (c *cable) Migrate(ctx context.Context, _ net.PacketConn) error { <-ctx.Done(); return ctx.Err() }

// end is one side's view of an exchange over a cable.
type end struct {
	cable *cable
	ctx   context.Context
	out   chan<- []transport.Message
	in    <-chan []transport.Message
	rest  []transport.Message // that arrived with the last one received
	own   bool                // the device's end
	after time.Time           // when the message before arrives
}

func (e *end) Send(messages ...transport.Message) error {
	if e.cable.orders { // as of one datagram
		e.send(messages...)
		return nil
	}
	for _, m := range messages {
		e.send(m)
	}
	return nil
}

func (e *end) send(messages ...transport.Message) {
	e.cable.mu.Lock()
	delay, lost := e.cable.passage(), e.cable.lost
	for _, m := range messages {
		if e.own && e.cable.heard != nil {
			e.cable.heard(m)
		}
	}
	if now := time.Now(); e.cable.orders {
		e.after = latest(now.Add(delay), e.after.Add(time.Nanosecond))
		delay = e.after.Sub(now)
	}
	e.cable.mu.Unlock()
	if lost {
		return
	}
	time.AfterFunc(delay, func() {
		select {
		case e.out <- messages:
		case <-e.ctx.Done():
		}
	})
}

// passage is how long the next message takes. The caller holds c.mu.
func (c *cable) passage() time.Duration {
	d := c.delay + c.held
	if c.jitter > 0 {
		d += time.Duration(c.rng.Int64N(int64(c.jitter)))
	}
	if c.loss > 0 && c.rng.Float64() < c.loss {
		d += 2 * c.delay
	}
	return d + max(0, time.Until(c.until))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (e *end) Receive(ctx context.Context) (transport.Message, error) {
	if e.More() {
		m := e.rest[0]
		e.rest = e.rest[1:]
		return m, nil
	}
	select {
	case all := <-e.in:
		if e.own {
			e.cable.mu.Lock()
			e.cable.last = time.Now()
			e.cable.mu.Unlock()
		}
		e.rest = all[1:]
		return all[0], nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.ctx.Done():
		return nil, context.Cause(e.ctx)
	}
}

func (e *end) More() bool   { return len(e.rest) > 0 }
func (e *end) Close() error { return nil }
func (e *end) SendLeaving() { e.send(transport.Leaving{}) }

func (e *end) SendBusy(before int, about time.Duration) {
	e.send(transport.Busy{Before: before, About: about})
}

var errCut = errors.New("cable cut")

// open dials the toy cloud.
func (c *cable) open(ctx context.Context) (replica, error) {
	time.Sleep(c.trip())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return replica{}, errors.New("nobody there")
	}
	c.opened++
	live, cut := context.WithCancelCause(context.Background())
	c.cut = cut
	up, down := make(chan []transport.Message, 1024), make(chan []transport.Message, 1024)
	c.wg.Go(func() { c.serve(&end{cable: c, ctx: live, out: down, in: up}, cut) })
	c.last = time.Now()
	return replica{conn: c, exchange: &end{cable: c, ctx: live, out: up, in: down, own: true}}, nil
}

// lone is a cloud without replicas.
type lone func(context.Context) (replica, error)

func (l lone) open(ctx context.Context, _ ...string) (replica, error) { return l(ctx) }
func (lone) others(string, ...string) bool                            { return false }
func (lone) note(string, replicas.Event, time.Duration)               {}

func (c *cable) serve(exchange *end, cut context.CancelCauseFunc) {
	c.mu.Lock()
	c.other = exchange
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(exchange.ctx)
	defer cancel()
	defer cut(errors.New("cloud done"))
	a := &cloudAnswer{conn: c, exchange: exchange, log: slog.New(slog.DiscardHandler), inbox: make(chan any, inboxSize), ctx: ctx}
	go a.listen()
	cfg := c.cfg
	if c.past[tandem.Cloud] != nil {
		cfg.Past = c.past[tandem.Cloud].passPlanner()
	}
	a.machine = pair.New(cfg)
	defer c.past[tandem.Cloud].learn(a.machine)
	a.leaving = func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.leaves }
	until := func() time.Duration { c.mu.Lock(); defer c.mu.Unlock(); return time.Until(c.full) }
	for before := until(); before > 0; before = until() {
		exchange.Send(transport.Busy{Before: 1, About: before})
		select {
		case <-time.After(min(before, watchEvery)):
		case <-ctx.Done():
			return
		}
	}
	if a.leaving() {
		a.refuse(errDraining)
		time.Sleep(c.trip())
		return
	}
	exchange.Send(transport.Ready{Documents: 1})
	if err := a.run(c.producer(tandem.Cloud, c.takes)); err == nil {
		exchange.Send(transport.Sources{})
		time.Sleep(c.trip() + time.Millisecond) // the message arrives before the end does
	} else if !errors.Is(err, errCut) && !errors.Is(err, context.Canceled) && !errors.Is(err, c.accepts) {
		c.t.Errorf("cloud: %v", err)
	}
}

// producer returns what a side answers with.
func (c *cable) producer(side tandem.Side, takes time.Duration) producer {
	if c.spans[side] != nil {
		return c.spans[side]
	}
	if c.wide {
		return newWideToy(side, takes)
	}
	return &toy{side: side, takes: takes}
}

// hangUp ends the exchange and waits for the cloud.
func (c *cable) hangUp() {
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut != nil {
		cut(errCut)
	}
	c.wg.Wait()
}

// stall holds up everything that is sent from now on.
func (c *cable) stall(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = d
}

// fail cuts the cable and keeps it cut for a while.
func (c *cable) fail(d time.Duration) {
	c.mu.Lock()
	c.dead = true
	if c.cut != nil {
		c.cut(errCut)
	}
	c.mu.Unlock()
	time.AfterFunc(d, func() { c.mu.Lock(); c.dead = false; c.mu.Unlock() })
}

func toyConfig(p tandem.Placement, c tandem.Coupling, seed uint64, greedy bool) pair.Config {
	sampling := tandem.Sampling{Temperature: 1}
	if greedy {
		sampling = tandem.Sampling{}
	}
	return pair.Config{
		Settings: tandem.Settings{Placement: p, Coupling: c, Seed: seed, Sampling: sampling, MaxTokens: 60, Lookahead: 12, Gamma: tandem.HalfGamma},
		Stop:     []tandem.Token{toyStop},
		Vocab:    toyVocab,
	}
}

type silence struct{}

func (silence) Write(tandem.Token) string { return "" }
func (silence) Flush() string             { return "" }

// plain is what a pair must say: both sides in lock step, no network (DRAGON §2.2).
func plain(cfg pair.Config) []tandem.Token {
	rule := cfg.Rule()
	var answer []tandem.Token
	for len(answer) < cfg.MaxTokens {
		var local [2]aggregator.Local
		for side := range local {
			local[side].Dist, local[side].H = toyOutput(tandem.Side(side), answer)
		}
		step := tandem.Step(len(answer))
		t := rule.Target(step, local[0], local[1])
		if slices.Contains(cfg.Stop, t) {
			break
		}
		if rule.Draft(rule.Lead, step, local[rule.Lead].Dist) != t {
			rule.Lead = rule.Lead.Other()
		}
		answer = append(answer, t)
	}
	return answer
}

// converse answers in a bubble of virtual time and returns the tokens and the device's answer.
func converse(t *testing.T, cfg pair.Config, c *cable, deviceTakes time.Duration, emit func(n int)) (tokens []tandem.Token, answer Answer) {
	t.Helper()
	cfg.Self, c.t, c.cfg = tandem.Device, t, cfg
	c.cfg.Self = tandem.Cloud
	a := newDeviceAnswer(t.Context(), cfg, silence{}, func(tok Token) {
		tokens = append(tokens, tok.ID)
		if emit != nil {
			emit(len(tokens))
		}
	})
	a.log = slog.New(slog.DiscardHandler)
	if c.rng = rand.New(rand.NewPCG(cfg.Seed, 3)); c.record != nil {
		a.record = &recorder{to: c.record, start: a.start}
	}
	if c.prepare != nil {
		c.prepare(a)
	}
	defer a.stop()
	a.reach(DefaultPatience, lone(c.open))
	if err := a.run(c.producer(tandem.Device, deviceTakes)); err != nil {
		t.Errorf("device: %v", err)
	}
	c.past[tandem.Device].learn(a.machine)
	if c.ending != nil {
		c.ending(a)
	}
	answer = a.finish()
	c.hangUp()
	return tokens, answer
}

var placements = []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceSync, tandem.PlaceGreedy}

// The same seed gives the same text in every placement, at every distance and speed of the two sides.
func TestSameSeedSameText(t *testing.T) {
	handovers := 0
	for _, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative, tandem.CouplingLeader} {
		for seed := range uint64(6) {
			want := plain(toyConfig(tandem.PlaceMirror, coupling, seed, seed == 0))
			synctest.Test(t, func(t *testing.T) { // one bubble for all: see race_test.go
				for _, placement := range placements {
					for _, delay := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond} {
						cfg := toyConfig(placement, coupling, seed, seed == 0)
						takes := time.Duration(1+seed) * 10 * time.Millisecond
						got, answer := converse(t, cfg, &cable{delay: delay, takes: 30 * time.Millisecond}, takes, nil)
						if !slices.Equal(got, want) {
							t.Errorf("%v %v seed %d delay %v: %v, want %v", placement, coupling, seed, delay, got, want)
						}
						handovers += answer.Pair.Handovers
						if answer.Pair.Alone != 0 || len(answer.Remarks) != 0 {
							t.Errorf("%d tokens alone, remarks %q", answer.Pair.Alone, answer.Remarks)
						}
					}
				}
			})
		}
	}
	if handovers == 0 {
		t.Error("no hand-over in any answer")
	}
}

// handovers is what a recording says of hand-overs: how many by each side.
type handovers struct{ by [2]int }

func (h *handovers) record(l Line) {
	if l.Event == "note" && l.Note == pair.NoteHandover.String() {
		h.by[map[string]tandem.Side{"device": tandem.Cloud, "cloud": tandem.Device}[l.Side]]++
	}
}

// With the placement greedy aggregation moves to and fro during an answer, and crosses rejections, jitter
// that reorders messages and losses, without a change of the text.
func TestHandovers(t *testing.T) {
	var seen handovers
	rejected, several := 0, 0
	synctest.Test(t, func(t *testing.T) { // one bubble for all: see race_test.go
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 5))
			cfg := toyConfig(tandem.PlaceGreedy, tandem.Coupling(seed%3), seed, seed%5 == 0)
			if cfg.Switch = nil; seed%3 > 0 {
				cfg.Switch = scheduler.Policy{Horizon: scheduler.DefaultHorizon}
			}
			want := plain(cfg)
			here := handovers{}
			delay := time.Duration(20+r.IntN(130)) * time.Millisecond
			c := &cable{
				delay: delay, jitter: time.Duration(r.Int64N(int64(delay))), loss: []float64{0, 0.05, 0.3}[r.IntN(3)],
				takes: time.Duration(5+r.IntN(60)) * time.Millisecond, record: here.record,
			}
			got, answer := converse(t, cfg, c, time.Duration(5+r.IntN(60))*time.Millisecond, nil)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %v, want %v", seed, got, want)
			}
			if answer.Pair.Alone != 0 || answer.Pair.Divergences+answer.Pair.Dropped != 0 {
				t.Errorf("seed %d: %+v, remarks %q", seed, answer.Pair, answer.Remarks)
			}
			seen.by[0], seen.by[1] = seen.by[0]+here.by[0], seen.by[1]+here.by[1]
			rejected += answer.Pair.Rejected[0] + answer.Pair.Rejected[1]
			if here.by[0] > 0 && here.by[1] > 0 {
				several++
			}
		}
	})
	if seen.by[0] < 30 || seen.by[1] < 20 || several < 10 || rejected < 500 {
		t.Errorf("hand-overs by %v, to and fro in %d answers, %d rejections: the answers exercise too little", seen.by, several, rejected)
	}
}

// A link that dies just when aggregation moves, in either direction, costs no token and repeats none.
func TestLinkDiesAtHandover(t *testing.T) {
	died := [2]int{}
	synctest.Test(t, func(t *testing.T) { // one bubble for all: see race_test.go
		for seed := range uint64(40) {
			cfg := toyConfig(tandem.PlaceGreedy, tandem.CouplingShared, seed, false)
			cfg.Stop = nil
			c := &cable{delay: time.Duration(10+seed) * time.Millisecond, takes: time.Duration(10+7*(seed%5)) * time.Millisecond}
			to, after, cut := []string{"device", "cloud"}[seed%2], time.Duration(seed%4)*c.delay/2, 0
			c.record = func(l Line) {
				if l.Event == "note" && l.Note == "handover" && l.Side == to && cut == 0 {
					cut = int(l.Step)
					time.AfterFunc(after, func() { c.fail(600 * time.Millisecond) })
				}
			}
			got, answer := converse(t, cfg, c, 40*time.Millisecond, nil)
			if cut > 0 {
				died[seed%2]++
				if answer.Pair.Alone == 0 || c.opened < 2 {
					t.Errorf("seed %d: cut at %d, %d alone, %d links", seed, cut, answer.Pair.Alone, c.opened)
				}
			}
			if want := plain(cfg); len(got) != cfg.MaxTokens || !slices.Equal(got[:cut], want[:cut]) {
				t.Errorf("seed %d: cut at %d of %d tokens: %v, want to begin as %v", seed, cut, len(got), got, want)
			}
			if answer.Pair.Divergences+answer.Pair.Dropped != 0 {
				t.Errorf("seed %d: %+v", seed, answer.Pair)
			}
		}
	})
	if died[0] < 5 || died[1] < 5 {
		t.Errorf("died at %v hand-overs to the device and to the cloud", died)
	}
}

// A cloud that dies in mid-answer costs no token: the device goes on, says so, and takes the cloud back.
func TestCloudDiesAndReturns(t *testing.T) {
	for _, placement := range placements {
		for at := 1; at < 15; at += 3 {
			synctest.Test(t, func(t *testing.T) {
				cfg := toyConfig(placement, tandem.CouplingShared, 5, false)
				cfg.Stop = nil // 60 tokens in any case
				c := &cable{delay: 10 * time.Millisecond, takes: 30 * time.Millisecond}
				got, answer := converse(t, cfg, c, 50*time.Millisecond, func(n int) {
					if n == at {
						c.fail(700 * time.Millisecond)
					}
				})
				want := plain(cfg)
				if len(got) != cfg.MaxTokens || !slices.Equal(got[:at], want[:at]) {
					t.Errorf("%v at %d: %v, want to begin as %v", placement, at, got, want)
				}
				if answer.Pair.Alone == 0 || answer.Pair.Together < at+5 || c.opened < 2 {
					t.Errorf("%v at %d: %d alone, %d together, %d links", placement, at, answer.Pair.Alone, answer.Pair.Together, c.opened)
				}
				for i, tok := range answer.Tokens {
					if tok.Alone && tok.By != tandem.ByDevice {
						t.Errorf("token %d alone but by %v", i, tok.By)
					}
				}
				if said := strings.Join(answer.Remarks, "; "); !strings.Contains(said, "went away") || !strings.Contains(said, "joined in") {
					t.Errorf("remarks %q", said)
				}
			})
		}
	}
}

// Without a cloud at all the device answers alone.
func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		got, answer := converse(t, cfg, &cable{delay: 10 * time.Millisecond, dead: true}, time.Millisecond, nil)
		if len(got) == 0 || answer.Pair.Together != 0 || answer.Pair.Alone < len(got) {
			t.Errorf("%d tokens, %+v", len(got), answer.Pair)
		}
		if len(answer.Remarks) != 1 || !strings.Contains(answer.Remarks[0], "not available") {
			t.Errorf("remarks %q", answer.Remarks)
		}
	})
}

// A device that does not wait for the cloud at all begins alone.
func TestWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		cfg.Self = tandem.Device
		a := newDeviceAnswer(ctx, cfg, silence{}, func(Token) {})
		a.log = slog.New(slog.DiscardHandler)
		defer a.stop()
		patience := DefaultPatience
		patience.Join, patience.Busy = 0, 0
		a.reach(patience, lone((&cable{dead: true}).open))
		if err := a.run(&toy{side: tandem.Device, takes: time.Millisecond}); err != nil {
			t.Error(err)
		}
		if answer := a.finish(); len(answer.Tokens) == 0 || answer.Took > time.Second {
			t.Errorf("%d tokens after %v, remarks %q", len(answer.Tokens), answer.Took, answer.Remarks)
		}
	})
}

// A cloud that does not answer in time may be there all the same, so the answer does not say that it is not.
func TestCloudTooFarAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		c := &cable{delay: 3 * time.Second}
		got, answer := converse(t, cfg, c, time.Millisecond, nil)
		time.Sleep(10 * time.Second) // until the dial has ended
		c.hangUp()
		if said := strings.Join(answer.Remarks, "; "); len(got) == 0 || said != "the cloud did not answer within 2s (--wait): the device answers alone" {
			t.Errorf("%d tokens, remarks %q", len(got), said)
		}
	})
}

// A cloud that is lost after its last token has not said where its part is from, and the answer says so. Of one that is
// far away, whose distance is not measured yet, it does not say so too early.
func TestCloudLostAtTheEnd(t *testing.T) {
	for i := range 4 {
		lost, delay := i%2 == 1, []time.Duration{150 * time.Millisecond, 900 * time.Millisecond}[i/2]
		synctest.Test(t, func(t *testing.T) {
			cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
			c := &cable{delay: delay, takes: 30 * time.Millisecond, unmeasured: delay > time.Second/2}
			c.ending = func(*deviceAnswer) { c.mu.Lock(); c.lost = lost; c.mu.Unlock() }
			_, answer := converse(t, cfg, c, 50*time.Millisecond, nil)
			if said := strings.Contains(strings.Join(answer.Remarks, "; "), "lost at the end of the answer"); said != lost || answer.Pair.Alone > 0 {
				t.Errorf("delay %v, lost %v: remarks %q, %d alone", delay, lost, answer.Remarks, answer.Pair.Alone)
			}
		})
	}
}

// An answer in which the cloud had no part is over when its last token is: there is nothing that the cloud could still say of it.
func TestNoLastWordsOfACloudWithoutAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		c := &cable{delay: 10 * time.Millisecond, full: time.Now().Add(time.Hour), orders: true}
		var last, over time.Time
		c.prepare = func(a *deviceAnswer) { context.AfterFunc(a.ctx, func() { over = time.Now() }) }
		_, answer := converse(t, cfg, c, 20*time.Millisecond, func(int) { last = time.Now() })
		synctest.Wait()
		if waited := over.Sub(last); answer.Pair.Together > 0 || waited > 100*time.Millisecond {
			t.Errorf("%d tokens together, over %v after the last token", answer.Pair.Together, waited)
		}
	})
}

// A required cloud that is missing fails the answer instead.
func TestRequiredCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		cfg.Self = tandem.Device
		a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) { t.Error("a token without the cloud") })
		a.log, a.require = slog.New(slog.DiscardHandler), true
		defer a.stop()
		a.reach(DefaultPatience, lone((&cable{dead: true}).open))
		if err := a.run(&toy{takes: time.Millisecond}); !errors.Is(err, ErrNoCloud) {
			t.Errorf("error %v, want %v", err, ErrNoCloud)
		}
	})
}

// Why the cloud is not there is said: in the error of an answer that needs it, and once where the device answers alone.
func TestWhyTheCloudIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, why := range []error{errors.New("another key answers"), &transport.NotPairedError{Reason: "not paired"}} {
			for _, require := range []bool{true, false} {
				cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
				cfg.Self = tandem.Device
				a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
				a.log, a.require = slog.New(slog.DiscardHandler), require
				a.reach(DefaultPatience, lone(func(context.Context) (replica, error) { return replica{}, why }))
				err := a.run(&toy{takes: time.Millisecond})
				if require != errors.Is(err, why) || require != errors.Is(err, ErrNoCloud) {
					t.Errorf("%v, required %v: error %v", why, require, err)
				}
				if gone := a.contact == contactFailed; gone != (why.Error() == "another key answers") {
					t.Errorf("%v: the cloud counts as missing: %v", why, gone)
				}
				if said := strings.Join(a.answer.Remarks, "; "); !require && strings.Count(said, why.Error()) != 1 {
					t.Errorf("%v: remarks %q", why, said)
				}
				a.stop()
			}
		}
	})
}

// For a minute after the cloud was missing, answers wait less for it, unless they need it.
func TestMissingCloudIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Device{Patience: DefaultPatience, RetryWait: DefaultRetryWait}
		waits := func(want time.Duration) {
			t.Helper()
			if got := d.patience().Join; got != want {
				t.Errorf("waits %v, want %v", got, want)
			}
		}
		waits(DefaultPatience.Join)
		d.learn(measurements{}, contactFailed)
		first := d.Missed
		waits(DefaultRetryWait)
		d.learn(measurements{rtt: 200 * time.Millisecond}, contactUnknown)
		waits(800 * time.Millisecond) // a distant cloud
		d.Require = true
		waits(DefaultPatience.Join)
		d.Require = false
		time.Sleep(40 * time.Second)
		d.learn(measurements{}, contactFailed)
		if !d.Missed.Equal(first) {
			t.Error("a missing cloud that is looked for would be missing for ever")
		}
		time.Sleep(20 * time.Second)
		waits(DefaultPatience.Join)
		d.learn(measurements{}, contactFailed)
		waits(800 * time.Millisecond) // it is as distant as before
		d.learn(measurements{}, contactMade)
		waits(DefaultPatience.Join)
		if d.RetryWait = 0; !d.Missed.IsZero() {
			t.Errorf("missed %v", d.Missed)
		}
		d.learn(measurements{}, contactFailed)
		waits(DefaultPatience.Join)
	})
}

// A cloud that says nothing over the connection of an earlier answer counts as missing, so that later answers wait less
// for it. One that has just been connected to is there.
func TestSilentCloudIsMissing(t *testing.T) {
	for _, c := range []struct {
		stood bool
		held  time.Duration
		want  contact
	}{{true, time.Hour, contactFailed}, {true, 0, contactMade}, {false, time.Hour, contactMade}} {
		synctest.Test(t, func(t *testing.T) {
			cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
			cfg.Self = tandem.Device
			cable := &cable{t: t, cfg: cfg, delay: 10 * time.Millisecond, takes: 20 * time.Millisecond, held: c.held, rng: rand.New(rand.NewPCG(3, 3))}
			cable.cfg.Self = tandem.Cloud
			a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
			a.log = slog.New(slog.DiscardHandler)
			a.reach(DefaultPatience, lone(func(ctx context.Context) (replica, error) {
				up, err := cable.open(ctx)
				up.reused = c.stood
				return up, err
			}))
			if err := a.run(cable.producer(tandem.Device, 20*time.Millisecond)); err != nil {
				t.Error(err)
			}
			a.finish()
			cable.hangUp()
			if a.contact != c.want {
				t.Errorf("a connection that stood %v, with delay %v: found %d, want %d", c.stood, c.held, a.contact, c.want)
			}
		})
	}
}

// A stalled link (nothing lost, nothing heard) makes the device go on alone after a while.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		cfg.Stop = nil
		c := &cable{delay: 10 * time.Millisecond, takes: 20 * time.Millisecond}
		var began, ended time.Time
		got, answer := converse(t, cfg, c, 20*time.Millisecond, func(n int) {
			if ended = time.Now(); n == 10 {
				began = ended
				c.stall(time.Hour)
			}
		})
		if len(got) != cfg.MaxTokens || answer.Pair.Alone == 0 {
			t.Errorf("%d tokens, %d alone", len(got), answer.Pair.Alone)
		}
		if waited := ended.Sub(began); waited > 10*time.Second {
			t.Errorf("took %v of virtual time", waited)
		}
	})
}

// A question that is asked during a stall is answered alone from the time on that a device waits for any cloud to join.
func TestAskedDuringAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		c := &cable{delay: 10 * time.Millisecond, takes: 20 * time.Millisecond, held: time.Hour}
		asked, first := time.Now(), time.Duration(0)
		got, answer := converse(t, cfg, c, 20*time.Millisecond, func(n int) {
			if n == 1 {
				first = time.Since(asked)
			}
		})
		if len(got) == 0 || answer.Pair.Alone < len(got) {
			t.Errorf("%d tokens, %d alone", len(got), answer.Pair.Alone)
		}
		if least := 2 * time.Second; first < least || first > least+200*time.Millisecond {
			t.Errorf("the first token after %v, want about %v", first, least)
		}
	})
}
