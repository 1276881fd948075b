package plan

import (
	"cmp"
	"slices"
	"time"
)

// width returns how many schedules beam keeps: fewer for large problems, so that planning is always fast.
func (p Problem) width() int { return min(max(50_000/p.steps(), 16), 256) }

// partial is the beginning of a schedule, up to some step.
type partial struct {
	at            []int           // as Plan.Switch, for blocks that have switched
	loaded        []time.Duration // when each of those has its G²
	compute, load time.Duration   // when computations and loads end
	rest          time.Duration   // least time of the steps to come: on the faster graph, unless the block has switched
	unloaded      time.Duration   // loads to come
	bound         time.Duration   // of all schedules that begin so
}

// beam searches as Exact does, but keeps only width schedules at each step, those with the best bounds.
func (p Problem) beam() []int {
	n, chunks := len(p.Blocks), len(p.Runs)
	first := partial{at: all(n, chunks), loaded: make([]time.Duration, n), unloaded: p.Loads()}
	for s := range p.steps() {
		first.rest += p.least(s%n, s/n)
	}
	list, next := []partial{first}, []partial(nil)
	var order []int                   // indices of next, which are faster to sort
	for s := -n; s < p.steps(); s++ { // the first n decide which blocks switch before the first chunk
		j, c := (s+n)%n, (s+n)/n-1
		next = next[:0]
		for _, q := range list {
			if c >= q.at[j] {
				q.compute = max(q.compute, q.loaded[j]) + p.Small(j, c)
				q.rest -= p.Small(j, c)
				next = append(next, q)
				continue
			}
			if c >= 0 {
				q.compute += p.Blocks[j].Large
				q.rest -= p.least(j, c)
			}
			if c+1 < chunks {
				next = append(next, q)
			}
			next = append(next, p.switched(q, j, c+1))
		}
		order = order[:0]
		for i := range next {
			next[i].bound = p.bound(next[i], s+1)
			order = append(order, i)
		}
		slices.SortFunc(order, func(i, j int) int {
			a, b := &next[i], &next[j]
			return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(a.compute+a.unloaded, b.compute+b.unloaded), cmp.Compare(i, j))
		})
		order = slices.CompactFunc(order, func(i, j int) bool { return same(&next[i], &next[j]) })
		list = list[:0]
		for _, i := range order[:min(p.width(), len(order))] {
			list = append(list, next[i])
		}
	}
	return list[0].at
}

// least returns the time of a step on the faster graph.
func (p Problem) least(block, chunk int) time.Duration {
	return min(p.Blocks[block].Large, p.Small(block, chunk))
}

// switched returns q with the block's load begun. The chunk is the first that the block computes on G².
func (p Problem) switched(q partial, block, chunk int) partial {
	q.at, q.loaded = slices.Clone(q.at), slices.Clone(q.loaded)
	q.load = max(q.load, q.compute) + p.Blocks[block].Load
	q.unloaded -= p.Blocks[block].Load
	q.at[block], q.loaded[block] = chunk, q.load
	for c := chunk; c < len(p.Runs); c++ {
		q.rest += p.Small(block, c) - p.least(block, c)
	}
	return q
}

// bound returns a time that no schedule beginning with q, up to the step, can beat.
func (p Problem) bound(q partial, step int) time.Duration {
	b := max(q.compute+q.rest, q.load)
	if q.unloaded > 0 {
		b = max(b, max(q.load, q.compute)+q.unloaded)
	}
	return b
}

// same reports whether two schedules that have come equally far go on alike.
func same(a, b *partial) bool {
	if a.bound != b.bound || a.compute != b.compute || a.load != b.load || a.rest != b.rest || a.unloaded != b.unloaded {
		return false
	}
	for j := range a.loaded {
		if a.ready(j) != b.ready(j) {
			return false
		}
	}
	return true
}

// ready returns when the block can go on: 0 on G¹; on G² no earlier than its turn.
func (q *partial) ready(block int) time.Duration {
	if q.loaded[block] == 0 {
		return 0
	}
	return max(q.loaded[block], q.compute)
}
