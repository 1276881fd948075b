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
	rest := r.pace - time.Since(start)
	if err != nil || rest <= 0 {
		return out, err
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		out.Took = time.Since(start)
		return out, nil
	case <-ctx.Done():
		return decoder.Output{}, ctx.Err()
	}
}
