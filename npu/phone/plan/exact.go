package plan

import (
	"math/bits"
	"slices"
	"time"
)

// Exact finds the fastest plan by branch and bound. At each open step it decides whether the block that has just
// computed switches now. nodes bounds the search; 0 is no bound. ok reports whether the search was finished; if not,
// the plan is the best one found. Exact does not search problems of more than 64 blocks.
func (p Problem) Exact(nodes int) (pl Plan, ok bool) {
	n, c := len(p.Blocks), len(p.Runs)
	first := p.progressive().Switch
	if n > 64 {
		return p.earliest(Optimal, first), false
	}
	e := exact{p: p, n: n, steps: n * c, left: nodes, bounded: nodes > 0,
		best: first, least: p.total(first), at: all(n, c), loaded: make([]time.Duration, n), seen: map[key][]state{}}
	e.rest = make([]time.Duration, e.steps+1)
	for s := e.steps - 1; s >= 0; s-- {
		e.rest[s] = e.rest[s+1] + p.least(s%n, s/n)
	}
	e.begin(0, 0, 0, p.Loads())
	return p.earliest(Optimal, e.best), !e.bounded || e.left > 0
}

type exact struct {
	p        Problem
	n, steps int
	left     int
	bounded  bool
	best     []int
	least    time.Duration
	rest     []time.Duration // least time of the steps from each on, on the faster graph
	at       []int
	loaded   []time.Duration
	seen     map[key][]state
}

type key struct {
	step     int
	switched uint64
}

// state says when the computations and the loads of a partial schedule end.
type state struct{ compute, load time.Duration }

// begin decides which blocks switch before the first chunk, then searches the rest.
func (e *exact) begin(j int, switched uint64, load, unloaded time.Duration) {
	if j == e.n {
		e.search(0, switched, 0, load, unloaded)
		return
	}
	e.begin(j+1, switched, load, unloaded)
	if load+unloaded >= e.least {
		return
	}
	e.at[j], e.loaded[j] = 0, load+e.p.Blocks[j].Load
	e.begin(j+1, switched|1<<j, e.loaded[j], unloaded-e.p.Blocks[j].Load)
	e.at[j] = len(e.p.Runs)
}

// search continues a schedule whose computations before step end at compute and whose loads end at load. unloaded is
// the time of the loads to come.
func (e *exact) search(step int, switched uint64, compute, load, unloaded time.Duration) {
	if e.bounded {
		if e.left--; e.left <= 0 {
			return
		}
	}
	if max(compute+e.rest[step], load+unloaded) >= e.least {
		return
	}
	if step == e.steps { // everything is loaded: the last chunk leaves no choice
		e.best, e.least = slices.Clone(e.at), max(compute, load)
		return
	}
	if e.dominated(step, switched, compute, load) {
		return
	}
	j, c := step%e.n, step/e.n
	if switched&(1<<j) != 0 {
		e.search(step+1, switched, max(compute, e.loaded[j])+e.p.Small(j, c), load, unloaded)
		return
	}
	compute += e.p.Blocks[j].Large
	after := max(load, compute) + e.p.Blocks[j].Load
	if c+1 < len(e.p.Runs) {
		e.search(step+1, switched, compute, load, unloaded)
	}
	e.at[j], e.loaded[j] = c+1, after
	e.search(step+1, switched|1<<j, compute, after, unloaded-e.p.Blocks[j].Load)
	e.at[j] = len(e.p.Runs)
}

// dominated reports whether an earlier schedule came as far in no more time, and remembers this one. It compares only
// schedules without a load in flight, which two numbers describe.
func (e *exact) dominated(step int, switched uint64, compute, load time.Duration) bool {
	pending := 0
	for m := switched; m != 0; m &= m - 1 {
		if e.loaded[bits.TrailingZeros64(m)] > compute {
			pending++
		}
	}
	if pending > 0 {
		return false
	}
	k := key{step, switched}
	list := e.seen[k]
	for _, s := range list {
		if s.compute <= compute && s.load <= load {
			return true
		}
	}
	list = slices.DeleteFunc(list, func(s state) bool { return compute <= s.compute && load <= s.load })
	e.seen[k] = append(list, state{compute, load})
	return false
}
