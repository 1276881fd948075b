package decoder

import (
	"container/list"
	"sync"

	"tandem/model"
)

// Shared holds KV caches of passages in memory. All answers that read a passage share one copy, and compute only the
// question after it. It is safe for concurrent use; a nil Shared holds nothing.
type Shared struct {
	limit int64 // bytes

	mu    sync.Mutex
	bytes int64
	held  map[[32]byte]*list.Element
	order list.List // of sharedPrefix, the latest used first
}

type sharedPrefix struct {
	key [32]byte
	seq *model.Seq
}

// NewShared returns a Shared that holds up to limit bytes. Beyond them it drops the prefixes that were not used for the
// longest time; answers that read them keep them until they end.
func NewShared(limit int64) *Shared {
	return &Shared{limit: limit, held: map[[32]byte]*list.Element{}}
}

// Bytes returns the size of the KV caches held.
func (s *Shared) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// get returns a fork of the prefix with that key, or nil.
func (s *Shared) get(key [32]byte) *model.Seq {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.held[key]
	if e == nil {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(sharedPrefix).seq.Fork()
}

// put holds a fork of seq.
func (s *Shared) put(key [32]byte, seq *model.Seq) {
	if s == nil || seq.Bytes() > s.limit {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] != nil {
		return
	}
	s.held[key] = s.order.PushFront(sharedPrefix{key, seq.Fork()})
	for s.bytes += seq.Bytes(); s.bytes > s.limit; {
		oldest := s.order.Remove(s.order.Back()).(sharedPrefix)
		delete(s.held, oldest.key)
		s.bytes -= oldest.seq.Bytes()
	}
}
