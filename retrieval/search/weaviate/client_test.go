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
		var asks atomic.Int32
		start, hears := time.Now(), 8*time.Second
		ask := func(ctx context.Context, node string) ([]byte, error) {
			asks.Add(1)
			if node != "dead" && time.Since(start) >= hears {
				return []byte(node), nil
			}
			if node != "dead" {
				select {
				case <-ctx.Done():
				case <-time.After(within):
				}
			}
			return nil, errors.New("no answer")
		}
		if got, err := c.first(t.Context(), patience, len(c.nodes)+again, ask); err != nil || len(got) == 0 || time.Since(start) > hears+patience {
			t.Errorf("%q, %v after %v", got, err, time.Since(start))
		}
		hears = time.Hour
		asks.Store(0)
		if _, err := c.first(t.Context(), within, len(c.nodes), ask); !errors.Is(err, ErrUnreachable) || int(asks.Load()) != len(c.nodes) {
			t.Errorf("what must not be repeated: %v after %d asks", err, asks.Load())
		}
	})
}
