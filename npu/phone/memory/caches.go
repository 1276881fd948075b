package memory

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"
	"weak"

	"tandem/npu"
)

// caches knows what runs need besides weights: the KV caches of all sequences in use, and the activations of the largest
// graph. A cache that nothing refers to any more counts no longer.
type caches struct {
	spansByCache map[weak.Pointer[npu.KV]][]spanBytes // as of the last run with the cache
	activations  int64
	reserved     int64       // bytes of the budget that are kept for both
	allSpans     []spanBytes // of bytes, memory for the next call
}

// spanBytes is the memory of a layer's keys or values in a span, which caches may share.
type spanBytes struct {
	at    uintptr
	bytes int64
}

// addGraph counts the activations of a graph.
func (c *caches) addGraph(g *npu.Graph) {
	_, bytes := Pack(Lifetimes(g))
	c.activations = max(c.activations, bytes)
}

// addCaches counts the caches of a run, at the size of their memory.
func (c *caches) addCaches(a *npu.Args) {
	for i, kv := range a.KV {
		if i > 0 && kv == a.KV[i-1] {
			continue
		}
		key := weak.Make(kv)
		spans := c.spansByCache[key][:0]
		for j := range kv.Spans {
			for l, k := range kv.Spans[j].K { // a layer that forgot its positions has none
				for _, x := range [][]uint16{k, kv.Spans[j].V[l]} {
					spans = append(spans, spanBytes{uintptr(unsafe.Pointer(unsafe.SliceData(x))), 2 * int64(len(x))}) // 16 bits
				}
			}
		}
		c.spansByCache[key] = spans
	}
}

// bytes returns what activations and caches need.
func (c *caches) bytes() int64 {
	c.allSpans = c.allSpans[:0]
	for kv, spans := range c.spansByCache {
		if kv.Value() == nil {
			delete(c.spansByCache, kv)
			continue
		}
		c.allSpans = append(c.allSpans, spans...)
	}
	slices.SortFunc(c.allSpans, func(a, b spanBytes) int { return cmp.Compare(a.at, b.at) })
	sum, end := c.activations, uintptr(0)
	for _, s := range c.allSpans { // some may overlap: caches divide at different places
		if to := s.at + uintptr(s.bytes); to > end {
			sum += int64(to - max(s.at, end))
			end = to
		}
	}
	return sum
}

// explain adds to the error for too small a budget what else takes part of it.
func (c *caches) explain(err error) error {
	var small *BudgetError
	if c.reserved > 0 && errors.As(err, &small) {
		return fmt.Errorf("KV caches and activations take %d bytes of the budget: %w", c.reserved, err)
	}
	return err
}

// reserveSteps is how finely the budget is divided between weights and caches. Caches grow with every block, and each time
// the division changes the weights are placed again and loaded again.
const reserveSteps = 16

// step is the granularity of that division, in bytes.
func (d *Device) step() int64 { return max(1, d.opt.Budget/reserveSteps) }

// needed returns what activations and caches need, in whole steps.
func (c *caches) needed(step int64) int64 { return (c.bytes() + step - 1) / step * step }

// cachesError says that a budget holds not even the caches and activations.
type cachesError struct{ need, budget int64 }

func (e *cachesError) Error() string {
	return fmt.Sprintf("KV caches and activations need %d bytes, and the memory budget is %d: use a larger budget or shorter sequences", e.need, e.budget)
}

// Is makes it an npu.ErrMemory.
func (e *cachesError) Is(target error) bool { return target == npu.ErrMemory }

// shrinkReserve keeps no more of the budget than caches in use and activations need, and reports whether that leaves more for weights.
func (d *Device) shrinkReserve() bool {
	c := &d.caches
	if c.reserved == 0 {
		return false
	}
	runtime.GC()
	need := c.needed(d.step())
	if need >= c.reserved {
		return false
	}
	d.stager.countReserve(need - c.reserved) // releasing never fails
	c.reserved = need
	return true
}

// reserve keeps enough of the budget for activations and caches. It frees the arena if weights have to make room, or if
// they may have much more.
func (d *Device) reserve(a *npu.Args) error {
	if !d.opt.Caches || len(a.KV) == 0 && d.caches.reserved > 0 {
		return nil
	}
	c, step := &d.caches, d.step()
	c.addCaches(a)
	need := c.needed(step)
	if need > c.reserved {
		runtime.GC() // caches that nothing refers to make room first
		need = c.needed(step)
	}
	if need <= c.reserved && need > c.reserved-3*step {
		return nil
	}
	if need >= d.opt.Budget {
		return &cachesError{c.bytes(), d.opt.Budget}
	}
	d.freeArena()
	if err := d.stager.countReserve(need - c.reserved); err != nil {
		return err
	}
	c.reserved = need
	return nil
}

// countReserve counts bytes that are reserved for other things than weights. On a simulated device they take addresses, too. A negative
// number releases bytes.
func (s *stager) countReserve(bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.simulated() {
		if bytes < 0 {
			s.clock.Unmap(-bytes)
		} else if err := s.clock.Map(bytes); err != nil {
			return fmt.Errorf("map %d bytes for KV caches and activations: %w", bytes, err)
		}
	}
	s.counters.Mapped += bytes
	s.counters.Peak = max(s.counters.Peak, s.counters.Mapped)
	return nil
}
