package node

import (
	"context"
	"time"

	"tandem"
	"tandem/decoder"
)

// Next returns the decoder's distribution, no sooner than the pace allows. A paced decoder can be preempted while it
// waits. It then keeps what it computed, as after a job that was superseded too late.
func (r *reading) Next(ctx context.Context, keep int, app []tandem.Token) (decoder.Output, error) {
	start := time.Now()
	out, err := r.answerer.Next(ctx, keep, app)
	if err == nil {
		err = r.keepPace(ctx, start, &out)
	}
	return out, err
}

// NextAhead is the decoder's, at the same pace for any number of places: a device that slow waits for its weights.
func (r *reading) NextAhead(ctx context.Context, p tandem.Pass) (decoder.Output, []tandem.Continuation, []tandem.Continuation, error) {
	start := time.Now()
	out, branches, chain, err := r.answerer.NextAhead(ctx, p)
	if err == nil {
		err = r.keepPace(ctx, start, &out)
	}
	return out, branches, chain, err
}

// keepPace waits until a pass that began at start has taken as long as the pace.
func (r *reading) keepPace(ctx context.Context, start time.Time, out *decoder.Output) error {
	if time.Since(start) >= r.pace {
		return nil
	}
	if err := waitAtLeast(ctx, start, r.pace); err != nil {
		return err
	}
	out.Took = time.Since(start)
	return nil
}

// waitAtLeast waits until what began at start has taken at least that long.
func waitAtLeast(ctx context.Context, start time.Time, least time.Duration) error {
	left := least - time.Since(start)
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
