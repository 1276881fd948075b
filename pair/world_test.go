package pair

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/aggregator"
)

// model gives a side's distribution after some tokens of the answer.
type model func(side tandem.Side, answer []tandem.Token) aggregator.Local

// randomModel returns distributions that are random functions of the answer so far. The two sides share
// part of their mass, so that drafts are sometimes accepted. Token 0 is rare: it makes a stop token.
func randomModel(seed uint64, share float64) model {
	const vocab = 24
	fill := func(p []float64, h uint64, mass float64) {
		rng := rand.New(rand.NewPCG(seed, h))
		n := 1 + rng.IntN(5)
		sum := 0.0
		w := make([]float64, n)
		for i := range w {
			w[i] = rng.ExpFloat64()
			sum += w[i]
		}
		for _, x := range w {
			id := rng.IntN(vocab)
			if id == 0 && rng.IntN(4) > 0 {
				id = 1
			}
			p[id] += x / sum * mass
		}
	}
	return func(side tandem.Side, answer []tandem.Token) aggregator.Local {
		h := uint64(tandem.PrefixOf(answer))
		p := make([]float64, vocab)
		fill(p, h, share)
		fill(p, h^uint64(side+1)<<60, 1-share)
		rng := rand.New(rand.NewPCG(seed+1, h+uint64(side)))
		return aggregator.Local{Dist: aggregator.Nucleus(p, 0.9, 8), H: tandem.FixedOf(rng.NormFloat64())}
	}
}

// reference is the whole protocol without a network: for each step both sides draft, and the target follows.
func reference(cfg Config, m model) []Emit {
	rule := cfg.Rule()
	var answer []tandem.Token
	var out []Emit
	for len(answer) < cfg.MaxTokens {
		step := tandem.Step(len(answer))
		l, r := m(tandem.Device, answer), m(tandem.Cloud, answer)
		x := rule.Target(step, l, r)
		if slices.Contains(cfg.Stop, x) {
			break
		}
		e := Emit{Target: tandem.Target{Step: step, Token: x, Prefix: tandem.PrefixOf(answer)}}
		if rule.Draft(tandem.Device, step, l.Dist) == x {
			e.By = e.By.With(tandem.Device)
		}
		if rule.Draft(tandem.Cloud, step, r.Dist) == x {
			e.By = e.By.With(tandem.Cloud)
		}
		out = append(out, e)
		answer = append(answer, x)
	}
	return out
}

func tokens(emits []Emit) []tandem.Token {
	out := make([]tandem.Token, len(emits))
	for i, e := range emits {
		out[i] = e.Token
	}
	return out
}

// world runs a device and a cloud in virtual time, joined by two links.
type world struct {
	t       testing.TB
	model   model
	rng     *rand.Rand
	now     time.Duration
	queue   events
	seq     int
	ends    [2]*end
	links   [2]link // indexed by the sender
	cut     int     // counts link cuts: what was sent before the latest is lost
	down    bool
	log     bool
	guesses bool // decoders guess what follows
	// tamper may change a message on its way; nil drops it.
	tamper func(from tandem.Side, e Event) Event
}

// link is one direction. Drafts and targets travel as datagrams: they may be lost, and then come late,
// with a later message; they may come twice or out of order. The rest keeps its order.
type link struct {
	delay, jitter time.Duration
	loss, twice   float64
	stream        time.Duration // arrival of the latest ordered message
}

// end is a machine and the simulated decoder behind it.
type end struct {
	*Machine
	side    tandem.Side
	decode  func() time.Duration
	kv      []tandem.Token
	running Decode
	emits   []Emit
	at      []time.Duration // when each was emitted
	reason  *Reason
	notes   map[NoteKind]int
	dead    bool
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	x := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return x
}

func newWorld(t testing.TB, cfg Config, m model, seed uint64) *world {
	w := &world{t: t, model: m, guesses: true, rng: rand.New(rand.NewPCG(seed, 99))}
	for s := range w.ends {
		w.ends[s] = newEnd(cfg, tandem.Side(s), func() time.Duration { return time.Millisecond })
	}
	return w
}

func newEnd(cfg Config, side tandem.Side, decode func() time.Duration) *end {
	cfg.Self = side
	return &end{Machine: New(cfg), side: side, decode: decode, notes: map[NoteKind]int{}}
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + d, w.seq, do})
}

// run plays events until the device has finished (and the cloud too, if both), or nothing is left.
func (w *world) run(both bool) {
	for n := 0; w.queue.Len() > 0; n++ {
		if n > 200000 {
			w.t.Fatalf("no end after %v and %d tokens", w.now, len(w.ends[0].emits))
		}
		if w.ends[0].reason != nil && (!both || w.ends[1].reason != nil) {
			return
		}
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
}

// tell steps a machine and carries out its actions.
func (w *world) tell(to *end, e Event) {
	if to.dead {
		return
	}
	if w.log {
		fmt.Printf("%v %v <- %T%+v\n", w.now, to.side, e, e)
	}
	for _, a := range to.Step(e) {
		if w.log {
			fmt.Printf("%v %v -> %T%+v\n", w.now, to.side, a, a)
		}
		switch a := a.(type) {
		case Decode:
			w.decode(to, a)
		case SendDraft:
			w.datagram(to, PeerDraft(a))
		case SendTarget:
			w.datagram(to, PeerTarget(a))
		case SendSync:
			w.stream(to, PeerSync(a))
		case SendNeedSync:
			w.stream(to, PeerNeedSync{})
		case SendHandover:
			w.stream(to, PeerHandover(a))
		case Emit:
			to.emits, to.at = append(to.emits, a), append(to.at, w.now)
		case Finish:
			to.reason = &a.Reason
		case Note:
			to.notes[a.Kind]++
		}
	}
}

// decode starts the decoder on a, preempting what runs. A preempted decode may have done nothing, its
// truncation, or all of its work, and its answer may still come.
func (w *world) decode(to *end, a Decode) {
	if old := to.running; old.ID != 0 {
		switch w.rng.IntN(4) {
		case 0:
			to.apply(w.t, old, false)
		case 1:
			to.apply(w.t, old, true)
			dist := w.model(to.side, to.kv)
			w.after(0, func() { w.tell(to, Decoded{ID: old.ID, Dist: dist.Dist, H: dist.H}) })
		}
	}
	to.running = a
	took := to.decode()
	w.after(took, func() {
		if to.running.ID != a.ID {
			return
		}
		to.running = Decode{}
		to.apply(w.t, a, true)
		x := w.model(to.side, to.kv)
		also, guessed := w.further(to, a)
		w.tell(to, Decoded{ID: a.ID, Dist: x.Dist, H: x.H, Took: took, Also: also, Guessed: guessed})
	})
}

// further decodes the contexts that a asks for beside the one it is about. Guesses are right in two of three cases.
func (w *world) further(to *end, a Decode) (also, guessed []tandem.Further) {
	for _, t := range a.Also {
		x := w.model(to.side, append(slices.Clone(to.kv[:len(to.kv)-1]), t))
		also = append(also, tandem.Further{Token: t, Dist: x.Dist, H: x.H})
	}
	rule, text := to.cfg.Rule(), slices.Clone(to.kv)
	if !w.guesses {
		a.Guess = 0
	}
	for i := range len(a.Drafts) + a.Guess {
		t := tandem.Token(1)
		if i < len(a.Drafts) {
			t = a.Drafts[i]
		} else if w.rng.IntN(3) > 0 {
			t = rule.Draft(to.side, tandem.Step(len(text)), w.model(to.side, text).Dist)
		}
		text = append(text, t)
		x := w.model(to.side, text)
		guessed = append(guessed, tandem.Further{Token: t, Dist: x.Dist, H: x.H})
	}
	return also, guessed
}

func (e *end) apply(t testing.TB, a Decode, all bool) {
	if a.Keep > len(e.kv) {
		t.Fatalf("%v: decode %d keeps %d of %d tokens", e.side, a.ID, a.Keep, len(e.kv))
	}
	if len(a.Append) == 0 && a.Keep > 0 {
		t.Fatalf("%v: decode %d appends nothing to %d tokens", e.side, a.ID, a.Keep)
	}
	e.kv = e.kv[:a.Keep]
	if all {
		e.kv = append(slices.Clone(e.kv), a.Append...)
	}
}

func (w *world) datagram(from *end, e Event) {
	l := &w.links[from.side]
	d := l.delay
	if l.jitter > 0 {
		d += time.Duration(w.rng.Int64N(int64(l.jitter)))
	}
	for w.rng.Float64() < l.loss {
		d += 5*time.Millisecond + l.delay/2
	}
	w.deliver(from, d, e)
	if w.rng.Float64() < l.twice {
		w.deliver(from, d+time.Duration(w.rng.Int64N(int64(20*time.Millisecond))), e)
	}
}

func (w *world) stream(from *end, e Event) {
	l := &w.links[from.side]
	at := w.now + l.delay
	if l.jitter > 0 {
		at += time.Duration(w.rng.Int64N(int64(l.jitter)))
	}
	for w.rng.Float64() < l.loss {
		at += 3*l.delay + 10*time.Millisecond
	}
	l.stream = max(at, l.stream)
	w.deliver(from, l.stream-w.now, e)
	if w.rng.Float64() < l.twice {
		w.deliver(from, l.stream-w.now+time.Duration(w.rng.Int64N(int64(50*time.Millisecond))), e)
	}
}

func (w *world) deliver(from *end, d time.Duration, e Event) {
	if w.tamper != nil {
		if e = w.tamper(from.side, e); e == nil {
			return
		}
	}
	cut := w.cut
	if w.down {
		return
	}
	w.after(d, func() {
		if cut == w.cut && !w.down {
			w.tell(w.ends[from.side.Other()], e)
		}
	})
}

// measure tells both sides the round-trip time now and then, with errors. The first time is at once.
func (w *world) measure(times int) {
	for _, e := range w.ends {
		rtt := w.links[0].delay + w.links[1].delay
		w.tell(e, Measured{RTT: rtt/2 + time.Duration(w.rng.Int64N(int64(rtt)+1))})
	}
	if times > 1 {
		w.after(20*time.Millisecond, func() { w.measure(times - 1) })
	}
}

// open starts both sides; the cloud is ready after a while.
func (w *world) open(alone bool, ready time.Duration) {
	if w.ends[0].cfg.Placement == tandem.PlaceGreedy {
		w.after(0, func() { w.measure(500) })
	}
	w.after(0, func() { w.tell(w.ends[tandem.Device], Start{Alone: alone}) })
	w.after(ready/2, func() { w.tell(w.ends[tandem.Cloud], Start{}) })
	w.after(ready, func() { w.tell(w.ends[tandem.Device], PeerReady{}) })
}
