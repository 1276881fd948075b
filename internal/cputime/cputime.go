// Package cputime counts the processor time of this process. Unlike the time on a clock, it hardly depends on what else runs on
// the machine.
package cputime

import (
	"context"
	"time"
)

var started = time.Now()

// Spent returns the processor time that this process has taken, on all processors together. Where the system does not say, it
// returns the time since the process has started, and false.
func Spent() (time.Duration, bool) {
	if t, ok := spent(); ok {
		return t, true
	}
	return time.Since(started), false
}

// WithLimit returns a context that ends when the process has taken that much more processor time. It is for tests of what must not
// take very long, and is precise to a tenth of a second. Call stop when the context is no longer needed.
func WithLimit(parent context.Context, most time.Duration) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = context.WithCancel(parent)
	begun, _ := Spent()
	go func() {
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				if now, _ := Spent(); now-begun > most {
					stop()
				}
			}
		}
	}()
	return ctx, stop
}
