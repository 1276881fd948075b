package sim

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/aggregator"
)

// Hedging is an answer on whose way the sides decode several contexts in one pass: beside the likeliest next
// draft others that may turn out to be wanted (hedges: what follows the runner-up of their own race), and
// further ones behind tokens that a drafter guesses (several steps in one pass). All of it is sent as soon as it
// is there. Both sides aggregate (placement mirror, shared coupling), so what is decoded decides when a token is
// known, never which.
//
// A pass takes the contexts with the best chance to be wanted: 1 for what is agreed, and down the tree of
// possible answers the chance that the token is the target: 1 where both distributions are known, the measured
// share of targets that were a side's draft, its runner-up and so on where only its own is.
//
// It is a design study beside the live machine (package pair), which drafts one context at a time.
type Hedging struct {
	Source    Source
	Seed      uint64
	Tokens    int
	Decode    [2]time.Duration // of a pass, whatever its rows
	RTT       time.Duration
	Rows      int     // contexts in a pass; 1 is plain mirror
	Guess     float64 // how often a drafter's guess of the side's own draft is right; 0 for no drafter
	Lookahead int     // steps beyond what is agreed [32]
}

// Hedged is what came of it. Arrays are indexed by tandem.Side.
type Hedged struct {
	Took    time.Duration // until the device knows the last token
	Answer  []tandem.Token
	Passes  [2]int
	Decoded [2]int // contexts
	Wanted  [2]int // of them, those of the answer
}

// Play plays the answer.
func (h Hedging) Play(ctx context.Context) (Hedged, error) {
	w := &hedgeWorld{Hedging: h, rule: aggregator.Rule{Coupling: tandem.CouplingShared, Seed: h.Seed}}
	if w.Lookahead == 0 {
		w.Lookahead = 32
	}
	for s := range w.ends {
		w.ends[s] = &hedgeEnd{side: tandem.Side(s), known: [2]map[tandem.Prefix]aggregator.Local{{}, {}}, ranks: [ranks + 1]float64{6, 1, 1, 2}}
	}
	for _, e := range w.ends {
		w.pass(e)
	}
	for n := 0; len(w.queue) > 0 && w.err == nil; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return Hedged{}, context.Cause(ctx)
		}
		e := heap.Pop(&w.queue).(event)
		if w.now = e.at; len(w.ends[0].answer) >= h.Tokens {
			break
		}
		e.do()
	}
	if w.err == nil && len(w.ends[0].answer) < h.Tokens {
		w.err = fmt.Errorf("sim: the hedged answer stalls after %d tokens", len(w.ends[0].answer))
	}
	out := Hedged{Took: w.done, Answer: w.ends[0].answer}
	for s, e := range w.ends {
		out.Passes[s], out.Decoded[s], out.Wanted[s] = e.passes, e.decoded, e.wanted
	}
	return out, w.err
}

// ranks is how many winners of a race are considered.
const ranks = 3

type hedgeWorld struct {
	Hedging
	rule  aggregator.Rule
	now   time.Duration
	done  time.Duration
	queue events
	seq   int
	ends  [2]*hedgeEnd
	err   error
}

type hedgeEnd struct {
	side   tandem.Side
	answer []tandem.Token
	known  [2]map[tandem.Prefix]aggregator.Local // distributions that this side has, of either side
	ranks  [ranks + 1]float64                    // how often the target was the side's draft, runner-up, third, none of these

	running int // number of the pass under way, 0 for none
	rows    []spot
	started int

	passes, decoded, wanted int
}

// spot is a possible beginning of the answer.
type spot struct {
	tokens []tandem.Token
	prefix tandem.Prefix
	chance float64
}

func (s spot) then(t tandem.Token, chance float64) spot {
	return spot{append(slices.Clip(s.tokens), t), s.prefix.Then(t), s.chance * chance}
}

func (w *hedgeWorld) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + d, w.seq, do})
}

// pass begins the next pass of an idle side.
func (w *hedgeWorld) pass(e *hedgeEnd) {
	if e.running != 0 || len(e.answer) >= w.Tokens {
		return
	}
	if e.rows = w.choose(e); len(e.rows) == 0 {
		return
	}
	e.started++
	id := e.started
	e.running = id
	w.after(w.Decode[e.side], func() {
		if e.running != id {
			return // preempted
		}
		e.running = 0
		e.passes++
		e.decoded += len(e.rows)
		rows := e.rows
		for _, s := range rows {
			l, err := w.Source.After(e.side, s.tokens)
			if err != nil {
				w.err = err
				return
			}
			e.known[e.side][s.prefix] = l
		}
		peer := w.ends[e.side.Other()]
		w.after(w.RTT/2, func() {
			for _, s := range rows {
				peer.known[e.side][s.prefix] = e.known[e.side][s.prefix]
			}
			w.settle(peer)
		})
		w.settle(e)
	})
}

// choose returns the contexts of the next pass: the one that plain mirror decodes, then the best chances.
func (w *hedgeWorld) choose(e *hedgeEnd) (rows []spot) {
	s := spot{e.answer, tandem.PrefixOf(e.answer), 1}
	for len(s.tokens) < min(w.Tokens, len(e.answer)+w.Lookahead) {
		own, have := e.known[e.side][s.prefix]
		if !have {
			rows = append(rows, s)
			break
		}
		s = w.follow(e, s, own)[0]
	}
	front := []spot{{e.answer, tandem.PrefixOf(e.answer), 1}}
	for tries := 0; len(front) > 0 && len(rows) < w.Rows && tries < 4096; tries++ {
		best := 0
		for i := range front {
			if front[i].chance > front[best].chance {
				best = i
			}
		}
		s := front[best]
		front = slices.Delete(front, best, best+1)
		if len(s.tokens) >= min(w.Tokens, len(e.answer)+w.Lookahead) {
			continue
		}
		own, have := e.known[e.side][s.prefix]
		switch {
		case !have:
			if len(rows) == 0 || s.prefix != rows[0].prefix {
				rows = append(rows, s)
			}
			front = append(front, w.guess(e, s)...)
		default:
			front = append(front, w.follow(e, s, own)...)
		}
	}
	return rows
}

// follow returns what may come behind a spot whose distribution this side knows.
func (w *hedgeWorld) follow(e *hedgeEnd, s spot, own aggregator.Local) (next []spot) {
	step := tandem.Step(len(s.tokens))
	if other, ok := e.known[e.side.Other()][s.prefix]; ok {
		return []spot{s.then(w.target(e, step, own, other), 1)}
	}
	all := 0.0
	for _, n := range e.ranks {
		all += n
	}
	for rank, t := range w.race(e.side, step, own.Dist, ranks) {
		next = append(next, s.then(t, e.ranks[rank]/all))
	}
	return next
}

// guess returns what a drafter thinks that this side will draft behind a spot which is in the pass itself.
func (w *hedgeWorld) guess(e *hedgeEnd, s spot) []spot {
	if w.Guess == 0 {
		return nil
	}
	l, err := w.Source.After(e.side, s.tokens)
	if err != nil {
		w.err = err
		return nil
	}
	t := w.race(e.side, tandem.Step(len(s.tokens)), l.Dist, 1)[0]
	// Right or wrong by a hash: the same guess whenever it is asked for.
	x := (uint64(s.prefix) ^ w.Seed ^ uint64(e.side)<<32) * 0x9e3779b97f4a7c15
	if float64(x>>11)/(1<<53) >= w.Guess {
		t = 1 << 20 // a token that nobody says
	}
	return []spot{s.then(t, w.Guess*e.ranks[0]/(e.ranks[0]+e.ranks[1]+e.ranks[2]+e.ranks[3]))}
}

// race returns the first n of a side's race.
func (w *hedgeWorld) race(side tandem.Side, step tandem.Step, d tandem.Dist, n int) (out []tandem.Token) {
	d = tandem.Dist{IDs: slices.Clone(d.IDs), Weights: slices.Clone(d.Weights)}
	for range min(n, len(d.IDs)) {
		t := w.rule.Draft(side, step, d)
		out = append(out, t)
		i, _ := slices.BinarySearchFunc(d.IDs, t, cmp.Compare)
		d.IDs, d.Weights = slices.Delete(d.IDs, i, i+1), slices.Delete(d.Weights, i, i+1)
	}
	return out
}

func (w *hedgeWorld) target(e *hedgeEnd, step tandem.Step, own, other aggregator.Local) tandem.Token {
	if e.side == tandem.Device {
		return w.rule.Target(step, own, other)
	}
	return w.rule.Target(step, other, own)
}

// settle turns what this side knows into targets, and preempts a pass none of whose rows can be wanted.
func (w *hedgeWorld) settle(e *hedgeEnd) {
	for len(e.answer) < w.Tokens {
		prefix := tandem.PrefixOf(e.answer)
		own, ok := e.known[e.side][prefix]
		other, ok2 := e.known[e.side.Other()][prefix]
		if !ok || !ok2 {
			break
		}
		step := tandem.Step(len(e.answer))
		t := w.target(e, step, own, other)
		rank := slices.Index(w.race(e.side, step, own.Dist, ranks), t)
		if rank < 0 {
			rank = ranks
		}
		for i := range e.ranks {
			e.ranks[i] *= 0.98
		}
		e.ranks[rank]++
		e.wanted++
		e.answer = append(e.answer, t)
		if e.side == tandem.Device {
			w.done = w.now
		}
	}
	if e.running != 0 && !slices.ContainsFunc(e.rows, func(s spot) bool {
		return len(s.tokens) >= len(e.answer) && slices.Equal(s.tokens[:len(e.answer)], e.answer)
	}) {
		e.running = 0
	}
	w.pass(e)
}
