package npu

import "fmt"

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
	Tokens    []int32            // [Rows], "tokens"
	X         []float32          // [Rows × width], "x"
	Positions []int32            // [Rows], "positions"
	KV        []*KV              // [Rows], "kv": the cache of each row's stream; rows of one stream share one
	Masks     []RowMask          // [Rows], "mask", for draft trees; if nil, each row goes to the slot of its position and attends to all before
	Out       []float32          // [Rows × result width], may be X when the widths agree
	Stage     Stage              // for graphs with staged tensors, else nil
	Loaded    bool               // the caller has told a simulated device's Clock that the graph is loaded
	Factors   map[string]*Tensor // F32, for graphs with factors, by name
}

// Factor returns the matrix among the inputs that a node asks for, or an error if there is none of that shape.
func (a *Args) Factor(want *Factor) (*Tensor, error) {
	f := a.Factors[want.Name]
	if f == nil || f.Rows != want.Rows || f.Cols != want.Cols || f.Type != F32 {
		return nil, fmt.Errorf("factor %q [%d×%d] F32 is not among the inputs", want.Name, want.Rows, want.Cols)
	}
	return f, f.Check()
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

// Span is a run of neighbouring slots. K[layer] and V[layer] hold Len rows of KVHeads·HeadDim F16 numbers, keys after
// rotation. F16 takes half the memory of float32. It adds an error of at most 2^-11 of each number, less than that of
// any quantised weight.
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
