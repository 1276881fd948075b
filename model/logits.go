package model

import (
	"runtime"
	"slices"
	"sync"
)

// Logits is reusable memory for the logits of passes. The zero value is ready for use.
type Logits struct {
	numbers []float32
	rows    [][]float32 // slices of numbers
	host    func(n int) (mem []float32, free func())
	memory  *hostMemory // the memory of numbers, if it is host's

	counter *Memory // counts what Take returned, until Release; nil for none
	counted int64
}

// hostMemory keeps memory that the garbage collector does not know.
type hostMemory struct{ free func() }

// spareNumbers is memory that Logits gave back, so that passes do not allocate.
var spareNumbers sync.Pool // of *[]float32

// Release gives the memory back for other Logits. What Take returned is no longer valid. Logits of NewLogits keep theirs, since
// allocating it takes long.
func (l *Logits) Release() {
	l.count(0)
	if numbers := l.numbers; l.host == nil {
		if cap(numbers) > 0 {
			spareNumbers.Put(&numbers)
		}
		*l = Logits{counter: l.counter}
	}
}

// CountIn counts the logits that Take returns from now on, in m alone.
func (l *Logits) CountIn(m *Memory) {
	l.count(0)
	l.counter = m
}

// count counts n logits instead of those before.
func (l *Logits) count(n int) {
	bytes := 4 * int64(n)
	l.counter.add(bytes - l.counted)
	l.counted = bytes
}

// NewLogits returns memory that the model's device writes to without another copy, if there is such memory. Unlike slices of
// other Logits, those of this one are valid only as long as it is reachable (see runtime.KeepAlive).
func (m *Model) NewLogits() *Logits { return &Logits{host: m.device.Traits().Host} }

// grow makes room for n numbers.
func (l *Logits) grow(n int) {
	if l.host != nil {
		n := max(n, 2*cap(l.numbers)) // allocating takes long
		if l.memory != nil {
			l.memory.free()
		}
		l.numbers, l.memory = nil, nil
		if mem, free := l.host(n); mem != nil {
			l.numbers, l.memory = mem, &hostMemory{sync.OnceFunc(free)}
			runtime.AddCleanup(l.memory, func(free func()) { free() }, l.memory.free)
			return
		}
	}
	if spare, ok := spareNumbers.Get().(*[]float32); ok && cap(*spare) >= n {
		l.numbers = *spare
		return
	}
	l.numbers = make([]float32, n)
}

// Take returns n slices of vocab numbers each, with arbitrary contents. They are those of the next call with this memory. With an n
// of 0 it keeps the memory for that call, and nothing counts meanwhile.
func (l *Logits) Take(n, vocab int) [][]float32 {
	if cap(l.numbers) < n*vocab {
		l.grow(n * vocab)
	}
	l.numbers = l.numbers[:n*vocab]
	l.count(len(l.numbers))
	l.rows = slices.Grow(l.rows[:0], n)[:n]
	for i := range l.rows {
		l.rows[i] = l.numbers[i*vocab : (i+1)*vocab : (i+1)*vocab]
	}
	return l.rows
}
