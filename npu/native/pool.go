package native

import (
	"sync"
	"sync/atomic"
)

// pool is a fixed set of helper goroutines that sleep until there is a piece of work large enough to
// share. The caller always takes part, so work gets done even when all helpers serve someone else.
type pool struct {
	helpers int
	jobs    chan *job
	once    sync.Once
}

// job is a loop over 0..n in steps of grain, taken one by one by whoever comes.
type job struct {
	f        func(lo, hi int)
	n, grain int
	next     atomic.Int64
	left     sync.WaitGroup // steps not yet done
}

func newPool(helpers int) *pool {
	p := &pool{helpers: helpers, jobs: make(chan *job, helpers)}
	for range helpers {
		go func() {
			for j := range p.jobs {
				j.work()
			}
		}()
	}
	return p
}

func (p *pool) close() { p.once.Do(func() { close(p.jobs) }) }

func (j *job) work() {
	for {
		hi := int(j.next.Add(int64(j.grain)))
		lo := hi - j.grain
		if lo >= j.n {
			return
		}
		j.f(lo, min(hi, j.n))
		j.left.Done()
	}
}

// shareFrom is the work, in multiplications, from which waking a helper (a few microseconds) pays.
const shareFrom = 1 << 20

// each calls f for ranges that cover 0..n, at once where n·cost multiplications are worth sharing. What f
// computes for an index must not depend on the range that it comes in.
func (p *pool) each(n, cost int, f func(lo, hi int)) {
	if p.helpers == 0 || n < 2 || n*cost < shareFrom {
		f(0, n)
		return
	}
	// Steps of at least an eighth of shareFrom, at most four for each thread: whoever is slow takes fewer.
	grain := max(1, shareFrom/8/max(cost, 1), (n+4*p.helpers+3)/(4*p.helpers+4))
	j := &job{f: f, n: n, grain: grain}
	steps := (n + grain - 1) / grain
	j.left.Add(steps)
	for range min(p.helpers, steps-1) {
		select {
		case p.jobs <- j:
		default: // every helper is busy and has its next job
		}
	}
	j.work()
	j.left.Wait()
}
