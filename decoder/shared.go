package decoder

import (
	"container/list"
	"context"
	"slices"
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
	order list.List                  // of sharedPrefix, the latest used first
	doing map[[32]byte]chan struct{} // prefixes that an answer is computing; closed when it is done or gives up
}

type sharedPrefix struct {
	key [32]byte
	seq *model.Seq
}

// NewShared returns a Shared that holds up to limit bytes. Beyond them it drops the prefixes that were not used for the
// longest time; answers that read them keep them until they end.
func NewShared(limit int64) *Shared {
	return &Shared{limit: limit, held: map[[32]byte]*list.Element{}, doing: map[[32]byte]chan struct{}{}}
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
		oldest.seq.Release()
	}
}

// Release drops all prefixes.
func (s *Shared) Release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.held {
		e.Value.(sharedPrefix).seq.Release()
	}
	clear(s.held)
	s.order.Init()
	s.bytes = 0
}

// claim decides who computes a prefix that is not held. If mine, the caller does and must call release. If other is not nil,
// another answer computes it until other is closed. If neither, the prefix is already held.
func (s *Shared) claim(key [32]byte) (mine bool, other <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] != nil {
		return false, nil
	}
	if c := s.doing[key]; c != nil {
		return false, c
	}
	s.doing[key] = make(chan struct{})
	return true, nil
}

// release ends a claim.
func (s *Shared) release(key [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.doing[key])
	delete(s.doing, key)
}

// readShared sets the KV caches that are nil to those of the prompts' prefixes in memory, and computes the missing ones. If
// several answers need a prefix at the same time, one computes it and the others wait; if that one gives up, another takes
// over. An answer computes all prefixes that it has claimed before it waits for others, so there is no deadlock. loading limits
// the time for requests to a bucket.
func (d *Decoder) readShared(ctx, loading context.Context, seqs []*model.Seq, keys [][32]byte, prompts []prompt) error {
	for {
		mine, others := d.findShared(loading, seqs, keys, prompts)
		if err := d.computeShared(ctx, mine, seqs, keys, prompts); err != nil {
			return err
		}
		if len(mine)+len(others) == 0 {
			return nil
		}
		for _, other := range others {
			select {
			case <-other:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// findShared sets the KV caches that are nil to those in memory. It claims the missing ones that no other answer is computing
// and returns their contexts (mine). For the rest it returns channels that are closed when they are computed (others).
func (d *Decoder) findShared(loading context.Context, seqs []*model.Seq, keys [][32]byte, prompts []prompt) (mine []int, others []<-chan struct{}) {
	for i, p := range prompts {
		own := slices.ContainsFunc(mine, func(j int) bool { return keys[j] == keys[i] })
		if own || seqs[i] != nil || !d.holds(i) || len(p.prefix) == 0 {
			continue
		}
		if seqs[i] = d.shared(loading, keys[i], len(p.prefix)); seqs[i] != nil {
			d.prefill.Cached++
			continue
		}
		switch claimed, other := d.cfg.Shared.claim(keys[i]); {
		case claimed:
			mine = append(mine, i)
		case other != nil:
			others = append(others, other)
		default: // it has come meanwhile
			if seqs[i] = d.shared(loading, keys[i], len(p.prefix)); seqs[i] != nil {
				d.prefill.Cached++
			}
		}
	}
	return mine, others
}

// computeShared computes the prefixes that the decoder has claimed, and releases them.
func (d *Decoder) computeShared(ctx context.Context, mine []int, seqs []*model.Seq, keys [][32]byte, prompts []prompt) error {
	if len(mine) == 0 {
		return nil
	}
	defer func() {
		for _, i := range mine {
			d.cfg.Shared.release(keys[i])
		}
	}()
	var batch []model.Input
	for _, i := range mine {
		seqs[i] = d.cfg.newSeq() // which readPrefixes releases if it fails
		batch = append(batch, model.Input{Seq: seqs[i], Tokens: prompts[i].prefix})
		d.prefill.Tokens += len(prompts[i].prefix)
	}
	_, into, err := d.cfg.compute(ctx, batch, d.cfg.Passes.Prefill)
	if err != nil {
		return err
	}
	into.Release()
	for _, i := range mine {
		d.store(keys[i], seqs[i], len(prompts[i].prefix))
	}
	return nil
}
