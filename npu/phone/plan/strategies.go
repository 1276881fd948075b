package plan

import (
	"cmp"
	"slices"
	"time"
)

func sortSpans(spans []Span) {
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
}

// Plan plans by the strategy. Optimal is slow for more than about 8 blocks × 4 chunks: see Exact.
//
// Progressive works in three steps. It tries CoordGen's rule from every step on, since switching early makes the
// remaining chunks slower. It searches as Exact does, but keeps a bounded number of schedules, for blocks that differ
// (the last one has the head). Then it moves switches as long as that helps. It is never worse than Asynchronous or
// Greedy.
func (p Problem) Plan(s Strategy) Plan {
	n, c := len(p.Blocks), len(p.Runs)
	switch s {
	case Synchronous:
		pl := Plan{Strategy: s, Switch: all(n, c)}
		for j := range n {
			pl.Loads = append(pl.Loads, Load{j, n * c})
		}
		return pl
	case Asynchronous:
		return p.earliest(s, all(n, c))
	case Resident:
		return Plan{Strategy: s, Switch: all(n, c)}
	case Greedy:
		return p.greedy(0)
	case Optimal:
		pl, _ := p.Exact(0)
		return pl
	default:
		return p.progressive()
	}
}

func all(n, v int) []int { return slices.Repeat([]int{v}, n) }

// earliest returns the plan with these switches whose loads begin as early as possible, in that order. No other order is
// faster: there are always N steps from the release of a load to its deadline, so the load that can begin first is also
// needed first.
func (p Problem) earliest(s Strategy, at []int) Plan {
	n := len(p.Blocks)
	pl := Plan{Strategy: s, Switch: at, Loads: make([]Load, n)}
	release := func(j int) int { return (at[j]-1)*n + j + 1 }
	for j := range n {
		pl.Loads[j] = Load{Block: j, After: max(0, release(j))}
	}
	slices.SortFunc(pl.Loads, func(a, b Load) int { return cmp.Compare(release(a.Block), release(b.Block)) })
	return pl
}

// greedy follows CoordGen's rule from the given step on: load the last block that still has G¹ while the fewest blocks
// compute that cover the load (Eq. 2), and go on after them.
//
// If the computations before the block's own turn cannot cover its load, it waits at its turn. If its turn is now, it
// first computes this chunk on G¹.
func (p Problem) greedy(step int) Plan {
	n, c := len(p.Blocks), len(p.Runs)
	pl := Plan{Strategy: Greedy, Switch: all(n, c)}
	last := n - 1 // the last block with G¹
	for step < n*c && last >= 0 {
		if step%n == last {
			step++
			continue
		}
		pl.Loads = append(pl.Loads, Load{last, step})
		pl.Switch[last] = step / n
		if step%n > last {
			pl.Switch[last]++
		}
		var cover time.Duration
		for step < n*c && step%n != last && cover < max(1, p.Blocks[last].Load) {
			cover += p.Compute(step%n, step/n, step/n >= pl.Switch[step%n])
			step++
		}
		last--
	}
	for ; last >= 0; last-- {
		pl.Loads = append(pl.Loads, Load{last, n * c})
	}
	return pl
}

func (p Problem) progressive() Plan {
	n, c := len(p.Blocks), len(p.Runs)
	best := all(n, c)
	least := p.total(best)
	for step := n*c - 1; step >= 0; step-- {
		at := p.greedy(step).Switch
		if t := p.total(at); t < least {
			best, least = at, t
		}
	}
	if least > p.Bound() {
		if at := p.beam(); p.total(at) < least {
			best, least = at, p.total(at)
		}
		p.improve(best, least)
	}
	return p.earliest(Progressive, best)
}

// exchanges bounds how many steps improve examines in schedules with two blocks moved, so that planning is always fast.
// Large problems get single moves only.
const exchanges = 5_000_000

// improve moves the switches of single blocks, or of two at once if no single move helps, as long as that makes the plan
// faster.
func (p Problem) improve(at []int, least time.Duration) {
	bound, left := p.Bound(), exchanges
	better := func() bool {
		t := p.total(at)
		if t < least {
			least = t
			return true
		}
		return false
	}
	for least > bound && (p.move(at, 0, better) || p.exchange(at, &left, better)) {
	}
}

// move tries every switch of every block from the given one on, and keeps improvements.
func (p Problem) move(at []int, from int, better func() bool) (moved bool) {
	for j := from; j < len(at); j++ {
		keep := at[j]
		for to := range len(p.Runs) + 1 {
			if at[j] = to; to != keep && better() {
				keep, moved = to, true
			}
		}
		at[j] = keep
	}
	return moved
}

// exchange moves one block, even for the worse, and looks for another whose move makes up for it.
func (p Problem) exchange(at []int, left *int, better func() bool) bool {
	for j := range at {
		keep := at[j]
		for to := range len(p.Runs) + 1 {
			if *left -= (len(at) - j) * len(p.Runs) * p.steps(); *left < 0 {
				at[j] = keep
				return false
			}
			if at[j] = to; to != keep && p.move(at, j+1, better) {
				return true
			}
		}
		at[j] = keep
	}
	return false
}

// total returns Simulate(earliest(at)).Total() without making the timeline.
func (p Problem) total(at []int) time.Duration {
	n := len(p.Blocks)
	var compute, load time.Duration
	loaded := make([]time.Duration, n)
	release := func(j int) {
		load = max(load, compute) + p.Blocks[j].Load
		loaded[j] = load
	}
	for j := range n {
		if at[j] == 0 {
			release(j)
		}
	}
	for c := range p.Runs {
		for j := range n {
			small := c >= at[j]
			if small {
				compute = max(compute, loaded[j])
			}
			compute += p.Compute(j, c, small)
			if c+1 == at[j] {
				release(j)
			}
		}
	}
	return max(compute, load)
}
