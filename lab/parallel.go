package lab

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"tandem/lab/report"
)

// inParallel runs n jobs on all processors until one fails. Each job writes to its own place, so that the order in which they
// run makes no difference.
func inParallel(ctx context.Context, n int, progress report.Progress, job func(ctx context.Context, i int) error) error {
	return atOnce(ctx, runtime.GOMAXPROCS(0), n, progress, job)
}

// atOnce runs n jobs, at most the given number at a time, until one fails.
func atOnce(ctx context.Context, limit, n int, progress report.Progress, job func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var telling sync.Mutex
	var wg sync.WaitGroup
	for range min(limit, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := job(ctx, i); err != nil {
					cancel(err)
					return
				}
				telling.Lock()
				if d := int(done.Add(1)); progress != nil {
					progress(d, n)
				}
				telling.Unlock()
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
