package model

import (
	"slices"
	"sync"
	"sync/atomic"

	"tandem/npu"
)

// A Memory counts the bytes that keys, values and logits hold: those of sequences and Logits after CountIn, until their Release.
// What several sequences share counts once, and what lies ready for the next pass does not count. Each byte is counted when it
// comes and when it goes, so nothing depends on when the garbage collector runs. A Memory is safe for concurrent use, and its zero
// value is ready for use. A nil Memory counts nothing.
type Memory struct {
	mu        sync.Mutex
	now, most int64
}

// Bytes returns how many bytes are held.
func (m *Memory) Bytes() int64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Most returns the most bytes that were held at any time.
func (m *Memory) Most() int64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most
}

// add counts bytes that came, or that went if the number is negative.
func (m *Memory) add(bytes int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += bytes
	m.most = max(m.most, m.now)
}

// An allocation is memory of spans, of one sequence or of several. A nil one is not counted.
type allocation struct {
	memory *Memory
	bytes  int64
	spans  atomic.Int64 // that refer to it
}

// allocate counts memory to which one span refers.
func (m *Memory) allocate(bytes int64) *allocation {
	if bytes == 0 {
		return nil
	}
	m.add(bytes)
	a := &allocation{memory: m, bytes: bytes}
	a.spans.Store(1)
	return a
}

// share counts one more span.
func (a *allocation) share() *allocation {
	if a != nil {
		a.spans.Add(1)
	}
	return a
}

// leave counts one span less.
func (a *allocation) leave() {
	if a != nil && a.spans.Add(-1) == 0 {
		a.memory.add(-a.bytes)
	}
}

// spanMemory is the memory of a span. Layers with windows have their own, which Forget gives back.
type spanMemory struct{ far, near *allocation }

// CountIn counts the memory of the sequence and of its later forks, in m alone. The sequence must share nothing with a fork yet.
func (s *Seq) CountIn(m *Memory) {
	s.leaveFrom(0)
	if s.memory = m; m == nil {
		return
	}
	for i := range s.kv.Spans {
		s.allocated = append(s.allocated, s.allocate(&s.kv.Spans[i]))
	}
}

// allocate counts the memory of a span that shares none.
func (s *Seq) allocate(span *npu.Span) spanMemory {
	far, near := s.m.config.spanBytes(span)
	return spanMemory{s.memory.allocate(far), s.memory.allocate(near)}
}

// spanBytes returns the size of a span's memory: of layers without windows, and of layers with windows.
func (c *Config) spanBytes(span *npu.Span) (far, near int64) {
	for l := range span.K {
		n := 2 * int64(len(span.K[l])+len(span.V[l])) // 16 bits
		if c.windowOf(l) > 0 {
			near += n
		} else {
			far += n
		}
	}
	return far, near
}

// shareAllocated returns what the spans of a fork refer to.
func (s *Seq) shareAllocated() []spanMemory {
	for _, a := range s.allocated {
		a.far.share()
		a.near.share()
	}
	return slices.Clone(s.allocated)
}

// leaveFrom ends the count of the spans from i on.
func (s *Seq) leaveFrom(i int) {
	if s.memory == nil {
		return
	}
	for _, a := range s.allocated[i:] {
		a.far.leave()
		a.near.leave()
	}
	clear(s.allocated[i:])
	s.allocated = s.allocated[:i]
}

// leaveWindows ends the count of what layers with windows have in span i.
func (s *Seq) leaveWindows(i int) {
	if s.memory != nil {
		s.allocated[i].near.leave()
		s.allocated[i].near = nil
	}
}

// divideAllocated counts span i as the two that divide makes of it.
func (s *Seq) divideAllocated(i int) {
	if s.memory == nil {
		return
	}
	_, near := s.m.config.spanBytes(&s.kv.Spans[i+1])
	s.allocated = slices.Insert(s.allocated, i+1, spanMemory{s.allocated[i].far.share(), s.memory.allocate(near)})
}

// Release drops all positions, and ends the count of their memory. The sequence is then as a new one.
func (s *Seq) Release() {
	s.leaveFrom(0)
	*s = Seq{m: s.m, adapter: s.adapter, memory: s.memory}
}
