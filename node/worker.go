package node

import (
	"context"
	"sync"

	"tandem"
	"tandem/decoder"
	"tandem/pair"
)

// producer computes the distribution that follows an answer: a *decoder.Decoder, an *extract.Decoder, or a toy in tests.
type producer = decoder.Producer

// aheadProducer also decodes further places in the same pass (decoder.Decoder.NextAhead).
type aheadProducer interface {
	NextAhead(ctx context.Context, p tandem.Pass) (out decoder.Output, branches, chain []tandem.Continuation, err error)
}

// worker decodes on its own goroutine, one job at a time. A new job preempts the old one.
type worker struct {
	produce producer
	out     chan<- any // receives a decoded for each job that was not preempted

	mu     sync.Mutex
	next   *pair.Decode
	cancel context.CancelFunc // of the running job
	wake   chan struct{}
}

// decoded is the outcome of a job.
type decoded struct {
	id   uint64
	step tandem.Step // that the distribution is for
	out  decoder.Output
	err  error

	branches, chain []tandem.Continuation
}

// event returns the event for the machine.
func (d decoded) event() pair.Decoded {
	return pair.Decoded{ID: d.id, Dist: d.out.Dist, H: d.out.H, Took: d.out.Took, Branches: d.branches, Guessed: d.chain, Fed: d.out.Fed, Forecasts: d.out.Forecasts, Costs: d.out.Costs}
}

// startWorker starts a worker. stop preempts its job and returns when the producer is at rest. The end of ctx preempts,
// too, but does not wait.
func startWorker(ctx context.Context, p producer, out chan<- any) (w *worker, stop func()) {
	w = &worker{produce: p, out: out, wake: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		w.run(ctx)
	}()
	return w, func() {
		cancel()
		<-stopped
	}
}

// do replaces the running and the waiting job with job.
func (w *worker) do(job pair.Decode) {
	w.mu.Lock()
	w.next = &job
	if w.cancel != nil {
		w.cancel()
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends.
func (w *worker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		for job, jobCtx := w.take(ctx); job != nil; job, jobCtx = w.take(ctx) {
			out := w.work(jobCtx, *job)
			if jobCtx.Err() != nil {
				continue
			}
			select {
			case w.out <- out:
			case <-ctx.Done():
				return
			}
		}
	}
}

// work runs a job.
func (w *worker) work(ctx context.Context, job pair.Decode) (d decoded) {
	d = decoded{id: job.ID, step: job.Step()}
	defer contain("decode", &d.err)
	if p, ok := w.produce.(aheadProducer); ok && job.More() {
		d.out, d.branches, d.chain, d.err = p.NextAhead(ctx, job.Pass)
	} else {
		d.out, d.err = w.produce.Next(ctx, job.Keep, job.Append)
	}
	return d
}

// take returns the waiting job, or nil.
func (w *worker) take(ctx context.Context) (*pair.Decode, context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
	job := w.next
	if w.next = nil; job == nil {
		return nil, nil
	}
	jobCtx, cancel := context.WithCancel(ctx)
	w.cancel = cancel
	return job, jobCtx
}
