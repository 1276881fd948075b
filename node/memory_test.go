package node

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Answers never hold more than the budget together, each gets its share in the end, and what can never fit is refused.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b budget
		var mu sync.Mutex
		var all sync.WaitGroup
		held, most, served := int64(0), int64(0), 0
		for i := range 50 {
			all.Go(func() {
				n := int64(1 + i%7)
				back, err := b.take(t.Context(), 10, n)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				held += n
				most, served = max(most, held), served+1
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				held -= n
				mu.Unlock()
				back()
			})
		}
		all.Wait()
		if most > 10 || most < 8 || served != 50 {
			t.Errorf("%d served, at most %d of 10 held", served, most)
		}
		if _, err := b.take(t.Context(), 10, 11); err == nil || !strings.Contains(err.Error(), "--max-tokens") {
			t.Errorf("more than there is: %v", err)
		}
		back, err := b.take(t.Context(), 10, 10)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.take(ctx, 10, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while all is taken: %v", err)
		}
		if got := b.taken.Load(); got != 10 {
			t.Errorf("%d bytes are counted, 10 are taken", got)
		}
		back()
		if got := b.taken.Load(); got != 0 {
			t.Errorf("%d bytes are counted, none is taken", got)
		}
	})
	var none budget
	if _, err := none.take(t.Context(), 0, 1<<60); err != nil {
		t.Error(err)
	}
}
