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
	of          map[weak.Pointer[npu.KV]][]spanBytes // as of the last run with the cache
	activations int64
	held        int64       // bytes of the budget that are kept for both
	all         []spanBytes // of bytes, memory for the next call
}

// spanBytes is the memory of a layer's keys or values in a span, which caches may share.
type spanBytes struct {
	at    uintptr
	bytes int64
}

// compiled counts the activations of a graph.
func (c *caches) compiled(g *npu.Graph) {
	_, bytes := Pack(Lifetimes(g))
	c.activations = max(c.activations, bytes)
}

// use counts the caches of a run, at the size of their memory.
func (c *caches) use(a *npu.Args) {
	for i, kv := range a.KV {
		if i > 0 && kv == a.KV[i-1] {
			continue
		}
		key := weak.Make(kv)
		spans := c.of[key][:0]
		for j := range kv.Spans {
			for l, k := range kv.Spans[j].K { // a layer that forgot its positions has none
				for _, x := range [][]uint16{k, kv.Spans[j].V[l]} {
					spans = append(spans, spanBytes{uintptr(unsafe.Pointer(unsafe.SliceData(x))), 2 * int64(len(x))}) // 16 bits
				}
			}
		}
		c.of[key] = spans
	}
}

// bytes returns what activations and caches need.
func (c *caches) bytes() int64 {
	c.all = c.all[:0]
	for kv, spans := range c.of {
		if kv.Value() == nil {
			delete(c.of, kv)
			continue
		}
		c.all = append(c.all, spans...)
	}
	slices.SortFunc(c.all, func(a, b spanBytes) int { return cmp.Compare(a.at, b.at) })
	sum, end := c.activations, uintptr(0)
	for _, s := range c.all { // some may overlap: caches divide at different places
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
	if c.held > 0 && errors.As(err, &small) {
		return fmt.Errorf("KV caches and activations take %d bytes of the budget: %w", c.held, err)
	}
	return err
}

// reserveSteps is how finely the budget is divided between weights and caches. Caches grow with every block, and each time
// the division changes the weights are placed again and loaded again.
const reserveSteps = 16

// step is the granularity of that division, in bytes.
func (d *Device) step() int64 { return max(1, d.opt.Budget/reserveSteps) }

// needs returns what activations and caches need, in whole steps.
func (c *caches) needs(step int64) int64 { return (c.bytes() + step - 1) / step * step }

// cachesError says that a budget holds not even the caches and activations.
type cachesError struct{ need, budget int64 }

func (e *cachesError) Error() string {
	return fmt.Sprintf("KV caches and activations need %d bytes, and the memory budget is %d: use a larger budget or shorter sequences", e.need, e.budget)
}

// Is makes it an npu.ErrMemory.
func (e *cachesError) Is(target error) bool { return target == npu.ErrMemory }

// tighten keeps no more of the budget than caches in use and activations need, and reports whether that leaves more for weights.
func (d *Device) tighten() bool {
	c := &d.caches
	if c.held == 0 {
		return false
	}
	runtime.GC()
	need := c.needs(d.step())
	if need >= c.held {
		return false
	}
	d.stager.hold(need - c.held) // releasing never fails
	c.held = need
	return true
}

// reserve keeps enough of the budget for activations and caches. It gives the arena up if weights have to make room, or if
// they may have much more.
func (d *Device) reserve(a *npu.Args) error {
	if !d.opt.Caches || len(a.KV) == 0 && d.caches.held > 0 {
		return nil
	}
	c, step := &d.caches, d.step()
	c.use(a)
	need := c.needs(step)
	if need > c.held {
		runtime.GC() // caches that nothing refers to make room first
		need = c.needs(step)
	}
	if need <= c.held && need > c.held-3*step {
		return nil
	}
	if need >= d.opt.Budget {
		return &cachesError{c.bytes(), d.opt.Budget}
	}
	d.freeArena()
	if err := d.stager.hold(need - c.held); err != nil {
		return err
	}
	c.held = need
	return nil
}

// hold counts bytes of memory for other things than weights. On a simulated device they take addresses, too. A negative
// number releases bytes.
func (s *stager) hold(bytes int64) error {
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
