package batch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tandem/model"
)

// Batch computes the passes of several answers together. It is safe for concurrent use, and has a model's methods.
type Batch struct {
	model  *model.Model
	logits sync.Pool // of *model.Logits: memory for those of a pass
	memory *model.Memory
	began  time.Time

	mu        sync.Mutex
	scheduler *Scheduler
	jobs      map[uint64]*job
	last      uint64
	stats     Stats
}

// Stats counts what a Batch computed.
type Stats struct {
	Passes  int
	Rows    int           // of all passes
	Jobs    int           // parts of jobs in all passes: Jobs/Passes answers share a pass
	Took    time.Duration // by all passes
	Waiting int           // jobs that wait now
}

// New returns a Batch over a model. Unless cfg says how many passes run at once, the model's device does.
func New(m *model.Model, cfg Config) *Batch {
	if cfg.AtOnce == 0 && m != nil {
		cfg.AtOnce = m.PassesAtOnce()
	}
	b := &Batch{model: m, began: time.Now(), scheduler: NewScheduler(cfg), jobs: map[uint64]*job{}}
	b.logits.New = func() any {
		l := b.model.NewLogits()
		l.CountIn(b.memory)
		return l
	}
	return b
}

// CountIn counts the logits of passes. It must be called before the first.
func (b *Batch) CountIn(m *model.Memory) { b.memory = m }

// NewPasses returns the passes of one owner. Where rows are scarce, owners get them in proportion to their
// shares; EqualShare is usual.
func (b *Batch) NewPasses(owner string, share int) *Passes {
	return &Passes{batch: b, owner: owner, share: share}
}

// Stats returns what b computed so far.
func (b *Batch) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Waiting = b.scheduler.Waiting()
	return s
}

// Passes computes the passes of one owner, of whose jobs and those of others the Batch makes its passes.
type Passes struct {
	batch *Batch
	owner string
	share int
	slack atomic.Int64 // nanoseconds
}

// SetSlack says how long it is until somebody needs the outcome of the next call. It holds for all calls after it.
func (p *Passes) SetSlack(d time.Duration) { p.slack.Store(int64(d)) }

// ForwardInto is model.Model's, in a pass with others.
func (p *Passes) ForwardInto(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	return p.batch.compute(ctx, p, inputs, into, false)
}

// Prefill is model.Model's, in passes with others.
func (p *Passes) Prefill(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	return p.batch.compute(ctx, p, inputs, into, true)
}

// Costs returns the times of passes over 1 to n tokens of an answer with this number of contexts, in seconds (Scheduler.Costs).
func (p *Passes) Costs(contexts, n int) []float64 {
	p.batch.mu.Lock()
	defer p.batch.mu.Unlock()
	return p.batch.scheduler.Costs(contexts, n)
}

// compute waits until passes have computed all rows of the inputs. On an error the sequences are as before.
func (b *Batch) compute(ctx context.Context, owner *Passes, inputs []model.Input, into *model.Logits, prompt bool) ([][]float32, error) {
	j := newJob(ctx, inputs, into)
	if j.rows == 0 || ctx.Err() != nil {
		return b.model.ForwardInto(ctx, inputs, into) // says what is wrong
	}
	b.mu.Lock()
	b.last++
	id := b.last
	b.jobs[id] = j
	b.step(Arrived{Job{ID: id, Owner: owner.owner, Share: owner.share, Rows: j.rows, Prompt: prompt, Whole: j.whole, Slack: time.Duration(owner.slack.Load())}})
	b.mu.Unlock()
	select {
	case <-j.done:
	case <-ctx.Done():
		b.withdraw(id, j)
	}
	if j.err != nil {
		j.restore()
		return nil, j.err
	}
	return j.logits, nil
}

// withdraw takes a job out of the queue, and waits for the pass that has rows of it.
func (b *Batch) withdraw(id uint64, j *job) {
	b.mu.Lock()
	b.step(Left{id})
	if !j.running {
		b.finish(id, context.Cause(j.ctx))
	}
	b.mu.Unlock()
	<-j.done
}

// finish ends a job. It is called with the lock held.
func (b *Batch) finish(id uint64, err error) {
	j := b.jobs[id]
	if j == nil {
		return
	}
	delete(b.jobs, id)
	j.err = err
	close(j.done)
}

// step passes e to the scheduler and begins the passes that follow, if any. It is called with the lock held.
func (b *Batch) step(e Event) {
	for _, p := range b.scheduler.Step(time.Since(b.began), e) {
		parts := make([]part, len(p.Grants))
		for i, g := range p.Grants {
			j := b.jobs[g.ID]
			j.running = true
			parts[i] = j.next(g)
		}
		go b.run(p.ID, parts)
	}
}

// run computes a pass, gives the jobs their logits and lets the next pass begin.
func (b *Batch) run(id uint64, parts []part) {
	start := time.Now()
	errs, broken := b.pass(parts)
	took := time.Since(start)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Passes++
	b.stats.Took += took
	for i, p := range parts {
		b.stats.Jobs++
		b.stats.Rows += p.rows
		p.job.running = false
		switch err := errs[i]; {
		case err != nil:
			b.scheduler.drop(p.id)
			b.finish(p.id, err)
		case p.job.granted == p.job.rows:
			b.finish(p.id, nil)
		case p.job.ctx.Err() != nil:
			b.scheduler.drop(p.id)
			b.finish(p.id, context.Cause(p.job.ctx))
		}
	}
	b.step(Passed{id, took, broken})
}

// pass computes parts in one pass, and returns the error of each. If the pass is broken off or fails, it computes each part
// in a pass of its own, so that the fault of one job is not the others'.
func (b *Batch) pass(parts []part) (errs []error, broken bool) {
	errs = make([]error, len(parts))
	ctx, stop := jointContext(parts)
	defer stop()
	err := b.forward(ctx, parts)
	if err == nil {
		return errs, false
	}
	for i, p := range parts {
		if len(parts) > 1 && p.job.ctx.Err() == nil {
			err = b.forward(p.job.ctx, parts[i:i+1])
		}
		if errs[i] = err; p.job.ctx.Err() != nil {
			errs[i] = context.Cause(p.job.ctx)
		}
	}
	return errs, true
}

// jointContext returns a context that ends when those of all parts have ended.
func jointContext(parts []part) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(parts)))
	ends := make([]func() bool, len(parts))
	for i, p := range parts {
		ends[i] = context.AfterFunc(p.job.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, end := range ends {
			end()
		}
		cancel()
	}
}

// forward computes parts in one pass and keeps their logits.
func (b *Batch) forward(ctx context.Context, parts []part) (err error) {
	defer func() {
		if p := recover(); p != nil { // it ends these jobs, not the program
			err = fmt.Errorf("internal fault in a pass: %v", p)
		}
	}()
	var inputs []model.Input
	for _, p := range parts {
		inputs = append(inputs, p.inputs...)
	}
	if j := parts[0].job; len(parts) == 1 && parts[0].rows == j.rows { // there is nothing to pick out
		j.logits, err = b.model.ForwardInto(ctx, j.inputs, j.into)
		return err
	}
	logits := b.logits.Get().(*model.Logits)
	defer func() {
		logits.Take(0, 0)
		b.logits.Put(logits)
	}()
	out, err := b.model.ForwardInto(ctx, inputs, logits)
	if err != nil {
		return err
	}
	var copies []logitsCopy
	for _, p := range parts {
		var own []logitsCopy
		own, out = p.copies(out)
		copies = append(copies, own...)
	}
	copyAll(copies)
	return nil
}
