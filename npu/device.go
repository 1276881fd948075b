package npu

import "fmt"

// Device compiles graphs into programs. A device is safe for use by several goroutines.
type Device interface {
	// Name says what it is, for people: "native (AVX2, 2 threads)".
	Name() string
	// Compile checks the graph and prepares it. The program refers to the graph's tensors, whose data must
	// stay readable and unchanged while the program is in use.
	Compile(g *Graph) (Program, error)
	// Close frees what the device holds. No program may run during or after it.
	Close() error
	// Traits says what the device is like.
	Traits() Traits
}

// Program is one block compiled for one chunk size. Several goroutines may run it at once, on different
// Args.
type Program interface {
	Graph() *Graph
	// Run computes the block. It changes a.Out and, where the graph attends, the rows' caches at their
	// positions.
	Run(a Args) error
}

// Args are a program's inputs for one run. Only the first Rows rows of the chunk are in use; a device may
// compute the others or not, and nobody reads them.
type Args struct {
	Rows      int
	Tokens    []int32            // [Rows], "tokens"
	X         []float32          // [Rows × width], "x"
	Positions []int32            // [Rows], "positions"
	KV        []*KV              // [Rows], "kv": the cache of each row's stream; rows of one stream share one
	Masks  []RowMask           // [Rows], "mask", for draft trees; nil: each row goes to the slot of its position, behind all before
	Out       []float32          // [Rows × result width], may be X when the widths agree
	Stage     Stage              // for graphs with staged tensors, otherwise nil
	Loaded    bool               // a simulated device need not load the graph: its Clock was told of the load
	Factors   map[string]*Tensor // for graphs with factors, by name: F32
}

// Factor returns the matrix that a run brings for a node, or says that it is not among the inputs.
func (a *Args) Factor(want *Factor) (*Tensor, error) {
	f := a.Factors[want.Name]
	if f == nil || f.Rows != want.Rows || f.Cols != want.Cols || f.Type != F32 {
		return nil, fmt.Errorf("factor %q [%d×%d] F32 is not among the inputs", want.Name, want.Rows, want.Cols)
	}
	return f, f.Check()
}

// Mask returns which slots of its stream's cache a row attends to, and where its own key and value go. Of other
// streams' slots a row sees none but those that lie in spans which the streams share: together the rows' masks
// are the matrix of rows by slots that an NPU's graph takes as its mask over streams.
func (a *Args) Mask(row int) RowMask {
	if a.Masks != nil {
		return a.Masks[row]
	}
	return RowMask{Slot: a.Positions[row], Base: a.Positions[row]}
}

// KV is the cache of one sequence as programs see it: its slots from 0, in spans. Outside draft trees a
// slot is a position. Spans may be shared with other sequences; a program writes only to the slots of its
// rows, which belong to this one.
type KV struct{ Spans []Span }

// Span is a run of neighbouring positions. K[layer] and V[layer] hold Len rows of KVHeads·HeadDim F16
// numbers (keys after rotation). F16 halves the memory and the file size of float32; the error it adds,
// at most 2^-11 of each number, is below that of any quantised weight.
type Span struct {
	Len  int
	K, V [][]uint16

	edits, edited int // see Touch
}

// Touch says that numbers were changed by other than programs, from the position on. Devices that keep
// copies of a span look at it by Edits.
func (s *Span) Touch(position int) { s.edits, s.edited = s.edits+1, position }

// Edits returns how often Touch was called, and the position of the last time.
func (s *Span) Edits() (n, position int) { return s.edits, s.edited }

// At returns the span that holds the position, and the position within it.
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
