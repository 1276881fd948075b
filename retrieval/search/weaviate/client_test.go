package weaviate

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Nodes that wait for one that has just died are asked again, until they have heard of it. What writes is sent to each once.
func TestAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient([]string{"dead", "waits", "waits too"}, "")
		start := time.Now()
		// nodes answer once hears has passed, but for the dead one. They count what they are asked.
		nodes := func(hears time.Duration, asks *atomic.Int32) func(context.Context, string) ([]byte, error) {
			return func(ctx context.Context, node string) ([]byte, error) {
				asks.Add(1)
				if node == "dead" {
					return nil, errors.New("no answer")
				}
				if time.Since(start) >= hears {
					return []byte(node), nil
				}
				select {
				case <-ctx.Done():
				case <-time.After(within):
				}
				return nil, errors.New("no answer")
			}
		}
		var reads, writes atomic.Int32
		const hears = 8 * time.Second
		got, err := c.first(t.Context(), patience, len(c.nodes)+again, nodes(hears, &reads))
		if err != nil || len(got) == 0 || time.Since(start) > hears+patience {
			t.Errorf("%q, %v after %v and %d asks", got, err, time.Since(start), reads.Load())
		}
		if _, err := c.first(t.Context(), within, len(c.nodes), nodes(time.Hour, &writes)); !errors.Is(err, ErrUnreachable) || int(writes.Load()) != len(c.nodes) {
			t.Errorf("what must not be repeated: %v after %d asks", err, writes.Load())
		}
	})
}
