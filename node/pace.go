package node

import (
	"context"
	"time"

	"tandem"
	"tandem/decoder"
)

// Next is the decoder's answer, given no sooner than the reader's pace. A paced decoder can be preempted
// while it waits: what it computed then stays, as after a job that was superseded too late.
func (r *reading) Next(ctx context.Context, keep int, app []tandem.Token) (decoder.Output, error) {
	start := time.Now()
	out, err := r.Decoder.Next(ctx, keep, app)
	if err == nil {
		err = r.paced(ctx, start, &out)
	}
	return out, err
}

// NextAhead is the decoder's, at the same pace whatever its contexts: a device of that pace waits for its weights.
func (r *reading) NextAhead(ctx context.Context, p tandem.Pass) (decoder.Output, []tandem.Further, []tandem.Further, error) {
	start := time.Now()
	out, also, chain, err := r.Decoder.NextAhead(ctx, p)
	if err == nil {
		err = r.paced(ctx, start, &out)
	}
	return out, also, chain, err
}

// paced waits until a pass that began at start has taken as long as the pace says.
func (r *reading) paced(ctx context.Context, start time.Time, out *decoder.Output) error {
	if time.Since(start) >= r.pace {
		return nil
	}
	if err := rest(ctx, start, r.pace); err != nil {
		return err
	}
	out.Took = time.Since(start)
	return nil
}

// rest waits until something that began at start has taken as long as it should.
func rest(ctx context.Context, start time.Time, should time.Duration) error {
	left := should - time.Since(start)
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
