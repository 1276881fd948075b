package npu

// Device compiles graphs into programs. A device is safe for use by several goroutines.
type Device interface {
	// Name says what it is, for people: "native (AVX2, 2 threads)".
	Name() string
	// Compile checks the graph and prepares it. The program refers to the graph's tensors, whose data must
	// stay readable and unchanged while the program is in use.
	Compile(g *Graph) (Program, error)
	// Close frees what the device holds. No program may run during or after it.
	Close() error
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
	Tokens    []int32   // [Rows], "tokens"
	X         []float32 // [Rows × width], "x"
	Positions []int32   // [Rows]
	KV        []*KV     // [Rows], the cache of each row's sequence; rows of one sequence share one
	Out       []float32 // [Rows × result width], may be X when the widths agree
}

// KV is the cache of one sequence as programs see it: its positions from 0, in spans. Spans may be shared
// with other sequences; a program writes only at the positions of its rows, which belong to this one.
type KV struct{ Spans []Span }

// Span is a run of neighbouring positions. K[layer] and V[layer] hold Len rows of KVHeads·HeadDim F16
// numbers (keys after rotation). F16 halves the memory and the file size of float32; the error it adds,
// at most 2^-11 of each number, is below that of any quantised weight.
type Span struct {
	Len  int
	K, V [][]uint16
}

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
