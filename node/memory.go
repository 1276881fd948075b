package node

import (
	"fmt"
	"sync/atomic"

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
	contexts, passages := s.Documents, 1 // and how many passages each has
	if s.Contexts > 0 && s.Contexts < s.Documents {
		contexts, passages = s.Contexts, (s.Documents+s.Contexts-1)/s.Contexts
	}
	asked := len(q.Text) // no token is shorter than a byte
	for _, m := range q.History {
		asked += len(m.Content)
	}
	positions := min(c.Context, passages*passagePositions+asked+s.MaxTokens)
	return int64(contexts+1) * int64(positions) * c.KVBytes() // and one without a passage
}

// budget is memory for the keys and values of answers, in bytes. A total of 0 has no bound.
type budget struct {
	total int64
	taken atomic.Int64
}

// fits reports whether n bytes are free.
func (b *budget) fits(n int64) bool { return b.total <= 0 || b.taken.Load()+n <= b.total }

// neverFits returns why n bytes are never free, or nil.
func (b *budget) neverFits(n int64) error {
	if b.total <= 0 || n <= b.total {
		return nil
	}
	return fmt.Errorf("this question may need %d MB for keys and values, and this cloud has %d MB for all questions: ask with fewer --documents or --max-tokens", n>>20, b.total>>20)
}
