package plan

import (
	"cmp"
	"slices"
	"time"
)

func sortSpans(spans []Span) {
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
}

// Plan plans by the strategy. Optimal takes long for more than about 8 blocks × 4 chunks: see Exact.
//
// Progressive tries the papers' rule from every step on, since switching early makes the remaining chunks
// slower and a load needs only so much cover; then it searches as the exact solver does, with a bound on how
// many schedules it keeps, for blocks that are not alike (the last has the head); then it moves switches while
// that helps. It is never worse than Asynchronous or Greedy.
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

// earliest is the plan with these switches whose loads start as early as they may, in the order in which
// they may. No other order is faster: from one release to the deadline that belongs to it there are
// always N steps, so what may start first is also needed first.
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

// greedy is the papers' rule from the given step on: load the last block that still has G¹ behind the
// fewest blocks of computation that cover it (Eq. 2), and go on after them.
//
// Where the computations before the block's own turn cannot cover its load, it waits at its turn; when its
// turn is now, it takes this chunk on G¹ first.
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

// exchanges bounds how many steps improve looks at in schedules with pairs of blocks moved, so that large
// problems are planned at once too: they are left with single moves.
const exchanges = 5_000_000

// improve moves the switches of single blocks, and of two at once where none helps alone, as long as that
// makes the plan faster.
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

// move tries every switch of every block from the given one on, and keeps what is better.
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

// exchange moves one block wherever that leads and looks for another whose move makes up for it.
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

// total is Simulate(earliest(at)).Total() without the timeline.
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
