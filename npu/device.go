package npu

import (
	"fmt"
	"unsafe"
)

// Device compiles graphs into programs. A device is safe for use by several goroutines.
type Device interface {
	// Name returns a human-readable description: "native (AVX2, 2 threads)".
	Name() string
	// Compile checks the graph and prepares it. The program refers to the graph's tensors. Their data must stay
	// readable and unchanged while the program is in use.
	Compile(g *Graph) (Program, error)
	// Close frees the device's resources. No program may run during or after Close.
	Close() error
	// Traits returns the device's properties.
	Traits() Traits
}

// Program is one block compiled for one chunk size. Several goroutines may run it at once, with different Args.
type Program interface {
	Graph() *Graph
	// Run computes the block. It changes a.Out and, if the graph attends, the slots of the rows in their caches.
	Run(a Args) error
}

// Args holds a program's inputs and output for one run. Only the first Rows rows of the chunk are in use. The others
// may or may not be computed, and their results are never read.
type Args struct {
	Rows      int
	Tokens    []int32   // [Rows], "tokens"
	X         []float32 // [Rows × width], "x"
	Positions []int32   // [Rows], "positions"
	KV        []*KV     // [Rows], "kv": the cache of each row's stream; rows of one stream share one
	Masks     []RowMask // [Rows], "mask", for draft trees; if nil, each row goes to the slot of its position and attends to all before
	Out       []float32 // [Rows × result width], may be X when the widths agree
	Stage     Stage     // for graphs with staged tensors, else nil
	Loaded    bool      // the caller has told a simulated device's Clock that the graph is loaded

	// Adapters are the rows' adapters [Rows], for graphs with OpFactor or OpSelect: nil for a row without one. A nil
	// slice stands for rows that all have none.
	Adapters []*Adapter
}

// Adapter holds a row's LoRA factors, the inputs of a graph with OpFactor (Samsung §3.2). A missing factor counts as
// zero, and so do missing ranks: the ranks of one graph's adapters may differ.
type Adapter struct {
	// Factors are F16, F32 or Q8_0, by Factor.Name, aligned to 4 bytes. Those of Q8_0 may be packed (see Packer).
	Factors map[string]*Tensor
	Task    int // which part OpSelect keeps
}

// Adapter returns the adapter of a row, nil for none.
func (a *Args) Adapter(row int) *Adapter {
	if a.Adapters == nil {
		return nil
	}
	return a.Adapters[row]
}

// Factor returns the matrix of the row's adapter that a node needs, or nil if it is zero. CheckAdapters must have
// accepted the adapters.
func (a *Args) Factor(row int, want *Factor) *Tensor {
	if adapter := a.Adapter(row); adapter != nil {
		return adapter.Factors[want.Name]
	}
	return nil
}

// CheckAdapters returns an error if a factor that the graph needs has the wrong shape or type.
func (a *Args) CheckAdapters(g *Graph) error {
	if a.Adapters == nil {
		return nil
	}
	if len(a.Adapters) < a.Rows {
		return fmt.Errorf("%d adapters for %d rows", len(a.Adapters), a.Rows)
	}
	for row, adapter := range a.Adapters[:a.Rows] {
		if adapter == nil || row > 0 && adapter == a.Adapters[row-1] {
			continue
		}
		for i := range g.Nodes {
			switch n := &g.Nodes[i]; n.Op {
			case OpSelect:
				if adapter.Task < 0 || adapter.Task >= n.Parts {
					return fmt.Errorf("row %d: task %d of %d", row, adapter.Task, n.Parts)
				}
			case OpFactor:
				if f := adapter.Factors[n.Factor.Name]; f != nil {
					if err := n.Factor.check(f); err != nil {
						return fmt.Errorf("row %d: %w", row, err)
					}
				}
			}
		}
	}
	return nil
}

// check returns an error if the matrix cannot be the factor.
func (f *Factor) check(t *Tensor) error {
	rank, want := t.Rows == f.Rows, fmt.Sprint(f.Rows)
	if f.Padded {
		rank, want = t.Rows <= f.Rows, fmt.Sprintf("at most %d", f.Rows)
	}
	if !rank || t.Cols != f.Cols || t.Type != F32 && t.Type != F16 && t.Type != Q8_0 {
		return fmt.Errorf("factor %q is %v, want %s rows of %d in F16, F32 or Q8_0", f.Name, t, want, f.Cols)
	}
	if err := t.Check(); err != nil {
		return err
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(t.Data)))%4 != 0 {
		return fmt.Errorf("factor %q is not aligned to 4 bytes", f.Name)
	}
	return nil
}

// Mask returns which slots of its stream's cache a row attends to, and where its own key and value go. A row sees no
// slots of other streams, except in spans that the streams share. Together the rows' masks are the matrix of rows by
// slots that an NPU's graph takes as its mask.
func (a *Args) Mask(row int) RowMask {
	if a.Masks != nil {
		return a.Masks[row]
	}
	return RowMask{Slot: a.Positions[row], Base: a.Positions[row]}
}

// KV is the cache of one sequence as programs see it: its slots from 0, in spans. Outside draft trees a slot is a
// position. Sequences may share spans. A program writes only to the slots of its rows, which are never shared.
type KV struct{ Spans []Span }

// Span is a run of neighbouring slots. K[layer] and V[layer] hold Len rows of KVHeads·HeadDim numbers, keys after
// rotation, each row in CacheType.Row elements.
type Span struct {
	Len  int
	K, V [][]uint16

	edits, edited int // see Touch
}

// Touch records that something other than a program changed numbers from the position on. Devices that keep copies of
// a span check Edits.
func (s *Span) Touch(position int) { s.edits, s.edited = s.edits+1, position }

// Edits returns how often Touch was called, and the position of the last call.
func (s *Span) Edits() (n, position int) { return s.edits, s.edited }

// CacheType says how a cache stores numbers.
type CacheType uint8

// The types of caches.
const (
	// CacheF16 takes half the memory of float32. It adds an error of at most 2^-11 of each number, less than that of any
	// quantised weight.
	CacheF16 CacheType = iota
	// CacheQ8_0 takes 17/32 of F16's memory. A block of 32 numbers is an F16 scale and 32 int8, in GGML's layout of Q8_0: it
	// adds an error of at most 1/254 of the block's largest number. The numbers of a head must make whole blocks.
	CacheQ8_0
)

func (t CacheType) String() string { return [...]string{"f16", "q8_0"}[t&1] }

// CacheBlock is how many numbers a block of CacheQ8_0 holds, and CacheBlockSize how many elements of a Span's K or V.
const CacheBlock, CacheBlockSize = 32, 17

// Row returns how many elements of a Span's K or V hold n numbers. For CacheQ8_0, n is a multiple of CacheBlock.
func (t CacheType) Row(n int) int {
	if t == CacheQ8_0 {
		return n / CacheBlock * CacheBlockSize
	}
	return n
}

// At returns the span that holds the position, and the position within the span; nil if there is none.
func (kv *KV) At(position int) (*Span, int) {
	for i := range kv.Spans {
		s := &kv.Spans[i]
		if position < s.Len {
			return s, position
		}
		position -= s.Len
	}
	return nil, 0
}
