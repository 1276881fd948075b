// Package executor carries out the plans of package plan. One goroutine computes the blocks of a prefill, chunk by chunk.
// Another replaces the graphs for prefill by those for decoding (CoordGen §3.2, Figure 8).
//
// Only the plan decides the order, however long things take: a load begins after the steps that the plan names, and a block
// waits for its load. Blocks keeps the weights of blocks in arenas and refuses to run graphs that are not loaded.
package executor

import (
	"context"
	"sync"
	"time"

	"tandem/npu/phone/plan"
)

// Machine computes and loads blocks. Compute and Load are called by different goroutines, one call of each at a time, and
// never at once for the same block.
type Machine interface {
	// Compute computes the block for the chunk, on G² if small.
	Compute(ctx context.Context, block, chunk int, small bool) error
	// Load loads the block's G², replacing its G¹.
	Load(ctx context.Context, block int) error
}

// Run carries out a plan for the given number of blocks and chunks, and returns what happened when. It returns the first
// error of the machine or of ctx, after both goroutines have ended.
func Run(ctx context.Context, pl plan.Plan, blocks, chunks int, m Machine) (plan.Timeline, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := run{start: time.Now(), done: make([]chan struct{}, blocks*chunks+1), loaded: make([]chan struct{}, blocks)}
	for i := range r.done {
		r.done[i] = make(chan struct{})
	}
	for i := range r.loaded {
		r.loaded[i] = make(chan struct{})
	}
	close(r.done[0])
	var loader sync.WaitGroup
	loader.Go(func() {
		for _, l := range pl.Loads {
			if err := r.load(ctx, l, m); err != nil {
				cancel(err)
				return
			}
		}
	})
	for s := range blocks * chunks {
		block, chunk := s%blocks, s/blocks
		if err := r.compute(ctx, block, chunk, chunk >= pl.Switch[block], m); err != nil {
			cancel(err)
			break
		}
		close(r.done[s+1])
	}
	loader.Wait()
	if err := context.Cause(ctx); err != nil {
		return plan.Timeline{}, err
	}
	return plan.NewTimeline(r.spans), nil
}

type run struct {
	start  time.Time
	done   []chan struct{} // done[s] is closed when s steps are over
	loaded []chan struct{} // closed when the block has its G²

	mu    sync.Mutex
	spans []plan.Span
}

func (r *run) add(s plan.Span, from time.Time) {
	s.Start, s.End = from.Sub(r.start), time.Since(r.start)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = append(r.spans, s)
}

func (r *run) load(ctx context.Context, l plan.Load, m Machine) error {
	if err := wait(ctx, r.done[l.After]); err != nil {
		return err
	}
	from := time.Now()
	if err := m.Load(ctx, l.Block); err != nil {
		return err
	}
	r.add(plan.Span{Load: true, Block: l.Block}, from)
	close(r.loaded[l.Block])
	return nil
}

func (r *run) compute(ctx context.Context, block, chunk int, small bool, m Machine) error {
	if small {
		if err := wait(ctx, r.loaded[block]); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	from := time.Now()
	if err := m.Compute(ctx, block, chunk, small); err != nil {
		return err
	}
	r.add(plan.Span{Block: block, Chunk: chunk, Small: small}, from)
	return nil
}

func wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
