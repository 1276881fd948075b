package native

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pool is a fixed set of helper goroutines that share loops. Without work they look out for more for a
// while, as long as the next loop of a token is away, and then sleep: spinning for longer would starve
// whoever else needs the processor. The caller always takes part, so work gets done even when all
// helpers serve someone else.
type pool struct {
	helpers int
	jobs    chan *job
	spare   sync.Pool // of *job
	once    sync.Once
}

// job is a loop over 0..n in steps of grain. Whoever comes has a stretch of steps of its own, because memory
// is read fastest from end to end, and then helps with what is left of the others'.
type job struct {
	f         func(lo, hi int)
	n, grain  int
	stretches []stretchOfSteps
	came      atomic.Int32
	left      atomic.Int64  // steps not yet done
	done      chan struct{} // gets one message when none is left
	users     atomic.Int32  // who may still look at the job
}

// stretchOfSteps are the steps next to end, which are taken one by one.
type stretchOfSteps struct {
	next atomic.Int64
	end  int64
	_    [48]byte // a cache line for each
}

// looks is how often an idle goroutine looks for work, between letting others run, before it sleeps: about a
// tenth of a millisecond, longer than one thread is alone at work within a layer, because waking up takes as
// long again.
const looks = 1000

func newPool(helpers int) *pool {
	p := &pool{helpers: helpers, jobs: make(chan *job, helpers)}
	p.spare.New = func() any { return &job{done: make(chan struct{}, 1)} }
	for range helpers {
		go func() {
			for {
				j, ok := next(p.jobs)
				if !ok {
					return
				}
				j.work()
				p.release(j)
			}
		}()
	}
	return p
}

// next receives from c, looking for a while before it sleeps.
func next[T any](c <-chan T) (T, bool) {
	for range looks {
		select {
		case v, ok := <-c:
			return v, ok
		default:
			runtime.Gosched()
		}
	}
	v, ok := <-c
	return v, ok
}

func (p *pool) close() { p.once.Do(func() { close(p.jobs) }) }

func (j *job) work() {
	own, did := int(j.came.Add(1))-1, int64(0)
	for i := range j.stretches {
		s := &j.stretches[(own+i)%len(j.stretches)]
		for {
			step := s.next.Add(1) - 1
			if step >= s.end {
				break
			}
			lo := int(step) * j.grain
			j.f(lo, min(lo+j.grain, j.n))
			did++
		}
	}
	if did > 0 && j.left.Add(-did) == 0 {
		j.done <- struct{}{}
	}
}

// deal gives each of so many takers a stretch of the steps.
func (j *job) deal(steps, takers int) {
	if cap(j.stretches) < takers {
		j.stretches = make([]stretchOfSteps, takers)
	}
	j.stretches = j.stretches[:takers]
	for i := range j.stretches {
		s := &j.stretches[i]
		s.next.Store(int64(i * steps / takers))
		s.end = int64((i + 1) * steps / takers)
	}
	j.came.Store(0)
	j.left.Store(int64(steps))
}

// release recycles the job when its last user lets go.
func (p *pool) release(j *job) {
	if j.users.Add(-1) == 0 {
		j.f = nil
		p.spare.Put(j)
	}
}

// shareFrom is the work, in multiplications, from which sharing it with a helper pays.
const shareFrom = 1 << 18

// each calls f for ranges that cover 0..n, at once where n·cost multiplications are worth sharing. What f
// computes for an index must not depend on the range that it comes in.
func (p *pool) each(n, cost int, f func(lo, hi int)) {
	if p.helpers == 0 || n < 2 || n*cost < shareFrom {
		f(0, n)
		return
	}
	// Steps of at least half of shareFrom, at most sixteen for each thread: whoever is slow takes fewer.
	grain := max(1, shareFrom/2/max(cost, 1), (n+16*p.helpers+15)/(16*p.helpers+16))
	steps := (n + grain - 1) / grain
	helpers := min(p.helpers, steps-1)
	j := p.spare.Get().(*job)
	j.f, j.n, j.grain = f, n, grain
	j.deal(steps, helpers+1)
	j.users.Store(int32(helpers + 1))
	for range helpers {
		select {
		case p.jobs <- j:
		default: // every helper is busy and has its next job
			j.users.Add(-1)
		}
	}
	j.work()
	next(j.done)
	p.release(j)
}
