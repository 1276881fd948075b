package node

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"tandem"
)

// passagePositions is how long a passage and what the template adds are taken to be at most: passages are windows of some
// sentences.
const passagePositions = 1024

// keysAndValues returns how many bytes of keys and values an answer may need at most.
func (l *Local) keysAndValues(q Question, s tandem.Settings) int64 {
	if l.Reader != nil {
		return 0 // the span reader keeps none
	}
	c := l.Model.Config()
	contexts := s.Contexts
	if contexts == 0 {
		contexts = s.Documents
	}
	asked := len(q.Text) // no token is shorter than a byte
	for _, m := range q.History {
		asked += len(m.Content)
	}
	positions := min(c.Context, passagePositions+asked+s.MaxTokens)
	return int64(contexts+1) * int64(positions) * c.KVBytes() // and one without a passage
}

// budget shares memory among answers, in the order in which they ask. The zero budget has no bound.
type budget struct {
	once  sync.Once
	total int64
	free  *semaphore.Weighted
	taken atomic.Int64
}

// take waits until n bytes are free and returns what gives them back. It fails if the budget never has as many.
func (b *budget) take(ctx context.Context, total, n int64) (back func(), err error) {
	b.once.Do(func() { b.total, b.free = total, semaphore.NewWeighted(total) })
	switch {
	case b.total <= 0:
		return func() {}, nil
	case n > b.total:
		return nil, fmt.Errorf("this question may need %d MB for keys and values, and this cloud has %d MB for all: ask with fewer --documents or --max-tokens", n>>20, b.total>>20)
	}
	if err := b.free.Acquire(ctx, n); err != nil {
		return nil, err
	}
	b.taken.Add(n)
	return func() {
		b.taken.Add(-n)
		b.free.Release(n)
	}, nil
}
