package native

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// pool is a fixed set of helper goroutines that share loops. Idle helpers spin for about as long as it takes until the next
// loop of a token and then sleep, because longer spinning would take the processor from others. The caller always takes
// part, so work gets done even if all helpers are busy.
type pool struct {
	helpers int
	jobs    chan *job
	spare   sync.Pool // of *job
	once    sync.Once
	runs    atomic.Int32 // of programs, that go on now
}

// job is a loop over 0 to n−1 in steps of grain. Each goroutine first works through its own stretch of steps, because
// sequential reads are fastest, and then helps with what is left of the others.
type job struct {
	f         func(lo, hi int)
	n, grain  int
	stretches []stretchOfSteps
	came      atomic.Int32
	left      atomic.Int64  // steps not yet done
	done      chan struct{} // receives one value when no step is left
	users     atomic.Int32  // goroutines that may still use the job
}

// stretchOfSteps is the range of steps next to end−1, which are taken one at a time.
type stretchOfSteps struct {
	next atomic.Int64
	end  int64
	_    [48]byte // padding to a cache line
}

// An idle goroutine polls for work a number of times, yielding in between, before it sleeps. Polling lasts about 0.1 ms, longer
// than the parts of a layer that run on one thread and about as long as waking up would take. If other processes want the
// processor, one or two polls take that long, and then the goroutine leaves the processor to them.
const (
	looks    = 1000
	patience = 100 * time.Microsecond
)

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

// next receives from c. It spins for a while before it sleeps.
func next[T any](c <-chan T) (T, bool) {
	began := time.Now()
	for n := 0; n < looks && time.Since(began) < patience; n++ {
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

// deal gives each taker a stretch of the steps.
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

// release recycles the job after its last user is done.
func (p *pool) release(j *job) {
	if j.users.Add(-1) == 0 {
		j.f = nil
		p.spare.Put(j)
	}
}

// enter begins a run. If other runs are in progress, it first yields to goroutines that wait for the processor: a run of
// many rows takes milliseconds, whereas they need little time to process the results of the last run.
func (p *pool) enter() {
	if p.runs.Add(1) > 1 {
		runtime.Gosched()
	}
}

// leave ends a run.
func (p *pool) leave() { p.runs.Add(-1) }

// alone reports whether a run must use only its own thread, because there are at least as many runs as threads. It then
// need not wait for helpers.
func (p *pool) alone() bool { return int(p.runs.Load()) > p.helpers }

// shareFrom is the smallest amount of work, in multiplications, that is worth sharing with a helper.
const shareFrom = 1 << 18

// each calls f for ranges that together cover 0 to n−1, on several threads if n·cost multiplications are worth sharing. The
// result of f for an index must not depend on the range.
func (p *pool) each(n, cost int, f func(lo, hi int)) {
	if n < 2 || n*cost < shareFrom || p.alone() {
		f(0, n)
		return
	}
	// Steps of at least half of shareFrom, at most sixteen for each thread, so that slow threads can take fewer.
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
