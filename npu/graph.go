package npu

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Op is the operation of a node.
type Op uint8

// The operations. All work on matrices of Chunk rows; a row is one token.
const (
	// OpInput is the graph's input "x", the result of the block before.
	OpInput Op = iota
	// OpEmbed is, for each row, the row of Weight that its token selects.
	OpEmbed
	// OpRMSNorm is x·w / √(mean(x²) + Eps), with the vector w = Weight. If w is shorter than the rows of x, whose width it
	// divides, each part of that length is normed by itself: the queries or keys of a head.
	OpRMSNorm
	// OpMatMul is x·Weightᵀ, plus the vector Bias unless that is nil.
	OpMatMul
	// OpRope rotates each head of x by angles that grow with the row's position (see Rope).
	OpRope
	// OpAttention writes its second and third arguments, the keys and values of the rows, into the rows'
	// KV caches and attends from the first, the queries, to all positions up to the row's own (see RowMask
	// for rows of draft trees).
	OpAttention
	// OpSwiGLU is silu(a)·b, element by element.
	OpSwiGLU
	// OpAdd is a+b.
	OpAdd
	// OpPosition is, for each row, the row of Weight that its position selects: learned positions.
	OpPosition
	// OpLayerNorm is (x−mean(x))·w / √(var(x) + Eps) + Bias, with the vectors w = Weight and Bias.
	OpLayerNorm
	// OpReLU is max(x, 0), element by element.
	OpReLU
	// OpConcat concatenates the rows of its arguments, of which there is at least one.
	OpConcat

	// The operations below occur in graphs from exporters and in those for phones' NPUs (Samsung §3.3). Package
	// phone/pass rewrites graphs between these operations and those above.

	// OpNormalize is x / √(mean(x²) + Eps): OpRMSNorm without its weights.
	OpNormalize
	// OpMul is x·w, element by element, with the vector w = Weight.
	OpMul
	// OpScale is x·Scale.
	OpScale
	// OpFactor is x·Fᵀ or x·F, where F is the matrix of that name of the row's adapter, an input of each run; zero for
	// rows without an adapter and for adapters without the factor.
	OpFactor
	// OpConv is OpMatMul as a convolution with 1×1 kernels: the rows of x are the pixels of an image one pixel high,
	// whose channels are stored one after the other.
	OpConv
	// OpQuantized is x·Weightᵀ in integers: see Quantized.
	OpQuantized
	// OpSelect keeps, of x's Parts of the same width, the one that Task of the row's adapter names, and makes the others
	// zero: the one-hot mask of graphs that hold all adapters (Samsung §3.2). It makes all zero in rows without an adapter.
	OpSelect

	// The operations below belong to those above OpConcat; they are the newest.

	// OpGeGLU is gelu(a)·b, element by element, with gelu's approximation by tanh.
	OpGeGLU
	// OpSoftcap is Scale·tanh(x/Scale), element by element (Bello et al. 2017): it keeps numbers within ±Scale.
	OpSoftcap
	// OpGELU is gelu(x), element by element, by the same approximation as OpGeGLU.
	OpGELU
	// OpTimes is a·b, element by element.
	OpTimes
	// OpClippedSwiGLU is x/(1+e^(−1.702x))·(y+1), where x is a, at most 7, and y is b, kept within ±7 (gpt-oss).
	OpClippedSwiGLU
	// OpTemper is x·(1 + Scale·ln(1+⌊p/Every⌋)), where p is the row's position: it sharpens attention over long contexts
	// (Llama 4).
	OpTemper
	// OpShortConv is a causal convolution of each element over a row's last positions, its own included: Σ_j w[i,j]·x_j[i],
	// where Weight has a row for each element and a column for each position, the row's own last. It writes x, rounded to
	// F16, into the keys of the row's slot in the layer's cache, and reads there what rows before have written. There are
	// zeros before the first position.
	OpShortConv
	// OpExperts is Σ_e p_e·Graphs[e](x) over the experts with the highest scores of its second argument (see Experts).
	OpExperts
)

var opNames = [...]string{"input", "embed", "rmsnorm", "matmul", "rope", "attention", "swiglu", "add", "position", "layernorm", "relu", "concat",
	"normalize", "mul", "scale", "factor", "conv", "quantized", "select", "geglu", "softcap", "gelu", "times", "clippedswiglu", "temper",
	"shortconv", "experts"}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

var opArgs = [...]int{OpInput: 0, OpEmbed: 0, OpRMSNorm: 1, OpMatMul: 1, OpRope: 1, OpAttention: 3, OpSwiGLU: 2, OpAdd: 2,
	OpPosition: 0, OpLayerNorm: 1, OpReLU: 1, OpConcat: anyArgs,
	OpNormalize: 1, OpMul: 1, OpScale: 1, OpFactor: 1, OpConv: 1, OpQuantized: 1, OpSelect: 1, OpGeGLU: 2, OpSoftcap: 1, OpGELU: 1,
	OpTimes: 2, OpClippedSwiGLU: 2, OpTemper: 1, OpShortConv: 1, OpExperts: 2}

const anyArgs = -1 // one or more

// Value names a node's result: its index in Graph.Nodes.
type Value int

// Node is one operation with its parameters. Its result has Graph.Chunk rows of Width float32s.
type Node struct {
	Op        Op
	Args      []Value
	Width     int
	Weight    *Tensor    // OpEmbed, OpRMSNorm, OpMatMul, OpPosition, OpLayerNorm, OpShortConv
	Bias      *Tensor    // OpMatMul, may be nil; OpLayerNorm
	Eps       float32    // OpRMSNorm, OpLayerNorm
	Rope      *Rope      // OpRope
	Attention *Attention // OpAttention
	Scale     float32    // OpScale, OpSoftcap, OpTemper
	Every     int        // OpTemper
	Layer     int        // OpShortConv: which layer of the cache
	Experts   *Experts   // OpExperts
	Factor    *Factor    // OpFactor
	Quantized *Quantized // OpQuantized, with Bias
	Parts     int        // OpSelect
}

// Experts is a mixture of feed-forward layers (Shazeer et al. 2017). Each row goes through the TopK experts with its highest
// scores; of experts with equal scores, those with lower numbers. The weights p are the softmax of all scores or, if SoftmaxTopK,
// of the highest TopK scores.
type Experts struct {
	Graphs      []*Graph // one for each expert, from "x" to a result of the node's width, for as many rows as the node's graph
	TopK        int      // experts for a row
	SoftmaxTopK bool     // the weights are the softmax of the highest TopK scores, not of all
}

// Choose returns the experts of a row with the given scores, in ascending order, in the memory of list.
func (e *Experts) Choose(list []int, scores []float32) []int {
	list = list[:0]
	for i, s := range scores {
		at := len(list)
		for at > 0 && s > scores[list[at-1]] {
			at--
		}
		if at < e.TopK {
			list = slices.Insert(list, at, i)
			list = list[:min(len(list), e.TopK)]
		}
	}
	slices.Sort(list)
	return list
}

// Temper returns what OpTemper multiplies a row at a position by.
func (n *Node) Temper(position int32) float32 {
	return float32(1 + float64(n.Scale)*math.Log(float64(1+int(position)/n.Every)))
}

// Factor names a matrix that is an input of each run: an adapter's LoRA factor (Samsung §3.2). LoRA-A is [rank × in] and
// multiplied by its rows; LoRA-B is [rank × out] and multiplied by its columns. So both have a row for each rank. The data
// of LoRA-B is in the order of FactorAt, in Q8_0 too: a block has FactorBlock columns of a rank.
type Factor struct {
	Name       string
	Rows, Cols int  // of the whole matrix
	Columns    bool // the node is x·F, not x·Fᵀ
	From       int  // the first row that is used, or the first column; Node.Width says how many
	Padded     bool // an adapter's matrix may have fewer rows: the others count as zeros
}

// FactorBlock is how many columns of LoRA-B stand together.
const FactorBlock = 32

// FactorAt returns where an element of LoRA-B stands in the data: all rows of the first FactorBlock columns, then all rows
// of the next, so that a product reads the data from beginning to end.
func FactorAt(rows, cols, row, col int) int {
	block := col / FactorBlock * FactorBlock
	return block*rows + row*min(FactorBlock, cols-block) + col - block
}

// Quantized has weights in 4 bits with a scale for each output channel, and one scale for activations in 8 bits
// (Samsung §3.3): out[r] = (Σ_i w[r,i]·q[i])·Scales[r]·Activation + bias, where q is x/Activation, rounded to −127 to
// 127, halves to even. Calibration fixes the scale of activations when the graph is made.
type Quantized struct {
	Name       string
	Rows, Cols int
	Weights    []byte    // two to a byte, low half first, rows of ⌈Cols/2⌉ bytes; each is stored plus 8
	Scales     []float32 // [Rows]
	Activation float32
}

// Pairing says which two elements of a head are rotated together.
type Pairing uint8

// The two pairings in use.
const (
	Adjacent  Pairing = iota // elements 2i and 2i+1: llama as GGUF files store it
	HalfSplit                // elements i and i+n/2: qwen2 ("NeoX")
)

func (p Pairing) String() string { return [...]string{"adjacent", "half-split"}[p&1] }

// Rope is a rotary position embedding: pair i of a head is rotated by
// position · Base^(−2i/Dims) / (Linear · Factors[i]), and multiplied by Magnitude.
type Rope struct {
	Pairing Pairing
	HeadDim int       // elements of a head
	Dims    int       // only the first Dims elements of each head are rotated
	Base    float64   // 10,000 in the original
	Linear  float64   // positions are divided by it; 1 for none
	Factors []float32 // one for each pair, as llama3 scales its frequencies; nil for all 1
	// Magnitude multiplies what is rotated, as YaRN and LongRoPE do to sharpen attention over long contexts; 0 means 1.
	Magnitude float64
}

// Attention is causal attention with grouped queries: Heads/KVHeads query heads share one key-value head.
type Attention struct {
	Layer   int // which layer of the cache
	Heads   int
	KVHeads int
	HeadDim int
	Scale   float32 // of the scores, usually 1/√HeadDim

	Window  int     // a row attends to this many of the last positions at most, its own included (see RowMask.Within); 0 for all
	Softcap float32 // scores s become Softcap·tanh(s/Softcap) before the softmax (see OpSoftcap); 0 for none

	// For graphs of single heads: the node's key-value heads begin at head FirstKVHead of the cache's CacheKVHeads. The others
	// belong to other nodes. If CacheKVHeads is 0, the node has all heads.
	FirstKVHead, CacheKVHeads int

	Sinks *Tensor   // F32, a score for each query head that takes part in the softmax and has no value (Xiao et al. 2023); or nil
	Cache CacheType // how the cache stores keys and values

	// Columns says that the cache holds keys by column: element i of slot j of a span is at i·room + j, where room is
	// the span's number of slots. A product with the keys then needs no transposition.
	Columns bool
}

// CacheHeads returns the number of key-value heads in the cache.
func (a *Attention) CacheHeads() int {
	if a.CacheKVHeads != 0 {
		return a.CacheKVHeads
	}
	return a.KVHeads
}

// CacheRow returns how many elements of a span's K or V a slot takes (see CacheType).
func (a *Attention) CacheRow() int { return a.Cache.Row(a.CacheHeads() * a.HeadDim) }

// Graph is a static graph: one block of a transformer's layers for exactly Chunk rows. Nodes are in the order of
// computation and refer only to earlier ones. The last node is the result.
//
// Inputs lists what Program.Run takes as Args. All shapes are fixed, except that the number of slots in the inputs
// "kv" and "mask" may differ between runs: see the package comment.
type Graph struct {
	Name      string
	Chunk     int
	Nodes     []Node
	Transient bool // made for one text and then dropped: a device that loads compiled graphs computes it on its host
}

// NewGraph returns an empty graph for chunk rows.
func NewGraph(name string, chunk int) *Graph { return &Graph{Name: name, Chunk: chunk} }

func (g *Graph) add(n Node) Value {
	g.Nodes = append(g.Nodes, n)
	return Value(len(g.Nodes) - 1)
}

func (g *Graph) width(v Value) int {
	if v < 0 || int(v) >= len(g.Nodes) {
		return 0
	}
	return g.Nodes[v].Width
}

// Input is the input "x" of the given width.
func (g *Graph) Input(width int) Value { return g.add(Node{Op: OpInput, Width: width}) }

// Embed looks the input "tokens" up in w.
func (g *Graph) Embed(w *Tensor) Value { return g.add(Node{Op: OpEmbed, Width: w.Cols, Weight: w}) }

// RMSNorm is x·w / √(mean(x²) + eps).
func (g *Graph) RMSNorm(x Value, w *Tensor, eps float32) Value {
	return g.add(Node{Op: OpRMSNorm, Args: []Value{x}, Width: g.width(x), Weight: w, Eps: eps})
}

// Scale is x·by.
func (g *Graph) Scale(x Value, by float32) Value {
	return g.add(Node{Op: OpScale, Args: []Value{x}, Width: g.width(x), Scale: by})
}

// MatMul is x·wᵀ + bias; bias may be nil.
func (g *Graph) MatMul(x Value, w, bias *Tensor) Value {
	return g.add(Node{Op: OpMatMul, Args: []Value{x}, Width: w.Rows, Weight: w, Bias: bias})
}

// Rope rotates the heads of x by their position.
func (g *Graph) Rope(x Value, r *Rope) Value {
	return g.add(Node{Op: OpRope, Args: []Value{x}, Width: g.width(x), Rope: r})
}

// Attention stores k and v and attends from q.
func (g *Graph) Attention(q, k, v Value, a *Attention) Value {
	return g.add(Node{Op: OpAttention, Args: []Value{q, k, v}, Width: g.width(q), Attention: a})
}

// SwiGLU is silu(gate)·up.
func (g *Graph) SwiGLU(gate, up Value) Value {
	return g.add(Node{Op: OpSwiGLU, Args: []Value{gate, up}, Width: g.width(gate)})
}

// GeGLU is gelu(gate)·up.
func (g *Graph) GeGLU(gate, up Value) Value {
	return g.add(Node{Op: OpGeGLU, Args: []Value{gate, up}, Width: g.width(gate)})
}

// GELU is gelu(x).
func (g *Graph) GELU(x Value) Value {
	return g.add(Node{Op: OpGELU, Args: []Value{x}, Width: g.width(x)})
}

// Times is a·b.
func (g *Graph) Times(a, b Value) Value {
	return g.add(Node{Op: OpTimes, Args: []Value{a, b}, Width: g.width(a)})
}

// ClippedSwiGLU is gpt-oss's gate.
func (g *Graph) ClippedSwiGLU(gate, up Value) Value {
	return g.add(Node{Op: OpClippedSwiGLU, Args: []Value{gate, up}, Width: g.width(gate)})
}

// Temper scales x more the later its row's position is.
func (g *Graph) Temper(x Value, scale float32, every int) Value {
	return g.add(Node{Op: OpTemper, Args: []Value{x}, Width: g.width(x), Scale: scale, Every: every})
}

// ShortConv convolves x with the rows' last positions, which layer of the caches holds.
func (g *Graph) ShortConv(x Value, w *Tensor, layer int) Value {
	return g.add(Node{Op: OpShortConv, Args: []Value{x}, Width: g.width(x), Weight: w, Layer: layer})
}

// Experts sends each row of x through the experts with the highest scores.
func (g *Graph) Experts(x, scores Value, e *Experts) Value {
	return g.add(Node{Op: OpExperts, Args: []Value{x, scores}, Width: e.Graphs[0].Result().Width, Experts: e})
}

// Softcap is limit·tanh(x/limit).
func (g *Graph) Softcap(x Value, limit float32) Value {
	return g.add(Node{Op: OpSoftcap, Args: []Value{x}, Width: g.width(x), Scale: limit})
}

// Add is a+b.
func (g *Graph) Add(a, b Value) Value {
	return g.add(Node{Op: OpAdd, Args: []Value{a, b}, Width: g.width(a)})
}

// Position looks the input "positions" up in w, one row for each position that a sequence may have.
func (g *Graph) Position(w *Tensor) Value {
	return g.add(Node{Op: OpPosition, Width: w.Cols, Weight: w})
}

// LayerNorm is (x−mean(x))·w / √(var(x) + eps) + bias.
func (g *Graph) LayerNorm(x Value, w, bias *Tensor, eps float32) Value {
	return g.add(Node{Op: OpLayerNorm, Args: []Value{x}, Width: g.width(x), Weight: w, Bias: bias, Eps: eps})
}

// ReLU is max(x, 0).
func (g *Graph) ReLU(x Value) Value {
	return g.add(Node{Op: OpReLU, Args: []Value{x}, Width: g.width(x)})
}

// LoRA is y + (x·A)·B with the factors of the row's adapter (Samsung Eq. 1–4): A [rank × width of x], multiplied by its
// rows, and B [rank × width of y] by its columns. Adapters of a lower rank count as padded with zeros.
func (g *Graph) LoRA(y, x Value, rank int, a, b string) Value {
	t := g.add(Node{Op: OpFactor, Args: []Value{x}, Width: rank, Factor: &Factor{Name: a, Rows: rank, Cols: g.width(x), Padded: true}})
	d := g.add(Node{Op: OpFactor, Args: []Value{t}, Width: g.width(y), Factor: &Factor{Name: b, Rows: rank, Cols: g.width(y), Columns: true, Padded: true}})
	return g.Add(y, d)
}

// Select keeps one of the parts of x.
func (g *Graph) Select(x Value, parts int) Value {
	return g.add(Node{Op: OpSelect, Args: []Value{x}, Width: g.width(x), Parts: parts})
}

// Concat concatenates rows.
func (g *Graph) Concat(parts ...Value) Value {
	width := 0
	for _, p := range parts {
		width += g.width(p)
	}
	return g.add(Node{Op: OpConcat, Args: parts, Width: width})
}

// HasExperts reports whether the graph sends rows through experts.
func (g *Graph) HasExperts() bool {
	return slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Op == OpExperts })
}

// Result returns the last node.
func (g *Graph) Result() *Node { return &g.Nodes[len(g.Nodes)-1] }

// Check returns an error if any shape is wrong. Devices call it before they compile a graph.
func (g *Graph) Check() error {
	if g.Chunk <= 0 || len(g.Nodes) == 0 {
		return fmt.Errorf("graph %s: %d nodes for chunks of %d rows", g.Name, len(g.Nodes), g.Chunk)
	}
	for i := range g.Nodes {
		if err := g.checkNode(Value(i)); err != nil {
			return fmt.Errorf("graph %s: %%%d %v: %w", g.Name, i, g.Nodes[i].Op, err)
		}
	}
	return nil
}

func (g *Graph) checkNode(v Value) error {
	if err := g.checkArgs(v); err != nil {
		return err
	}
	n := &g.Nodes[v]
	if n.Width <= 0 {
		return fmt.Errorf("width %d", n.Width)
	}
	in := 0 // width of the first argument
	if len(n.Args) > 0 {
		in = g.width(n.Args[0])
	}
	switch n.Op {
	case OpEmbed, OpPosition:
		return shape(n.Weight, n.Width, n.Weight.Rows)
	case OpMul:
		return shape(n.Weight, in, 1)
	case OpLayerNorm:
		if err := shape(n.Bias, in, 1); err != nil {
			return err
		}
		return shape(n.Weight, in, 1)
	case OpRMSNorm:
		if n.Weight != nil && n.Weight.Cols > 0 && n.Width == in && in%n.Weight.Cols == 0 {
			return shape(n.Weight, n.Weight.Cols, 1)
		}
		return shape(n.Weight, in, 1)
	case OpMatMul, OpConv:
		if err := n.checkBias(); err != nil {
			return err
		}
		return shape(n.Weight, in, n.Width)
	case OpQuantized:
		if err := n.Quantized.check(n.Width, in); err != nil {
			return err
		}
		return n.checkBias()
	case OpRope:
		return n.Rope.check(in)
	case OpAttention:
		return n.Attention.check(in, g.width(n.Args[1]), g.width(n.Args[2]))
	case OpExperts:
		return n.Experts.check(n.Width, in, g.width(n.Args[1]), g.Chunk)
	case OpShortConv:
		if n.Width != in || n.Weight == nil || n.Weight.Type != F32 || n.Weight.Cols > MaxConv {
			return fmt.Errorf("width %d from %d with kernels %v, want F32 of at most %d positions", n.Width, in, n.Weight, MaxConv)
		}
		return shape(n.Weight, n.Weight.Cols, in)
	default:
		return g.checkWidths(n, in)
	}
}

func (g *Graph) checkArgs(v Value) error {
	n := &g.Nodes[v]
	if int(n.Op) >= len(opArgs) || len(n.Args) != opArgs[n.Op] && (opArgs[n.Op] != anyArgs || len(n.Args) == 0) {
		return fmt.Errorf("%d arguments", len(n.Args))
	}
	for _, a := range n.Args {
		if a < 0 || a >= v {
			return fmt.Errorf("argument %%%d does not come before it", a)
		}
	}
	return nil
}

// checkWidths checks a node without weights of its own; in is the width of its first argument.
func (g *Graph) checkWidths(n *Node, in int) error {
	switch n.Op {
	case OpReLU:
		if n.Width != in {
			return fmt.Errorf("widths %d and %d differ", n.Width, in)
		}
	case OpNormalize, OpScale, OpSoftcap, OpGELU:
		if n.Width != in {
			return fmt.Errorf("width %d from %d", n.Width, in)
		}
	case OpTemper:
		if n.Width != in || n.Every < 1 {
			return fmt.Errorf("width %d from %d, a step every %d positions", n.Width, in, n.Every)
		}
	case OpSelect:
		if n.Width != in || n.Parts < 1 || in%n.Parts != 0 {
			return fmt.Errorf("%d parts of a width of %d", n.Parts, in)
		}
	case OpFactor:
		f := n.Factor
		if f == nil || f.From < 0 || !f.Columns && (f.Cols != in || f.From+n.Width > f.Rows) || f.Columns && (f.Rows != in || f.From+n.Width > f.Cols) {
			return fmt.Errorf("a factor that does not fit: %+v", f)
		}
	case OpConcat:
		sum := 0
		for _, a := range n.Args {
			sum += g.width(a)
		}
		if sum != n.Width {
			return fmt.Errorf("arguments of %d in all for a width of %d", sum, n.Width)
		}
	case OpSwiGLU, OpGeGLU, OpAdd, OpTimes, OpClippedSwiGLU:
		if g.width(n.Args[1]) != in {
			return fmt.Errorf("widths %d and %d differ", in, g.width(n.Args[1]))
		}
	}
	return nil
}

func (n *Node) checkBias() error {
	if n.Bias == nil {
		return nil
	}
	return shape(n.Bias, n.Width, 1)
}

func (q *Quantized) check(width, in int) error {
	if q == nil || q.Rows != width || q.Cols != in || len(q.Scales) != q.Rows || len(q.Weights) != q.Rows*((q.Cols+1)/2) || !(q.Activation > 0) {
		return fmt.Errorf("quantised weights that do not fit %d×%d", width, in)
	}
	return nil
}

func (r *Rope) check(in int) error {
	if r.HeadDim <= 0 || in%r.HeadDim != 0 || r.Dims%2 != 0 || r.Dims <= 0 || r.Dims > r.HeadDim {
		return fmt.Errorf("width %d in heads of %d, %d of them rotated", in, r.HeadDim, r.Dims)
	}
	if r.Factors != nil && len(r.Factors) != r.Dims/2 {
		return fmt.Errorf("%d frequency factors for %d pairs", len(r.Factors), r.Dims/2)
	}
	return nil
}

// check takes the widths of the queries, keys and values.
func (a *Attention) check(q, k, v int) error {
	if a.HeadDim <= 0 || a.KVHeads <= 0 || a.Heads%a.KVHeads != 0 || q != a.Heads*a.HeadDim || k != a.KVHeads*a.HeadDim || v != a.KVHeads*a.HeadDim {
		return fmt.Errorf("widths %d, %d, %d for %d heads, %d key-value heads of %d", q, k, v, a.Heads, a.KVHeads, a.HeadDim)
	}
	if a.Window < 0 || a.Softcap < 0 {
		return fmt.Errorf("a window of %d positions, scores capped at %g", a.Window, a.Softcap)
	}
	if a.Sinks != nil && a.Sinks.Type != F32 {
		return fmt.Errorf("sinks in %v, want F32", a.Sinks.Type)
	}
	if a.Sinks != nil {
		if err := shape(a.Sinks, a.Heads, 1); err != nil {
			return err
		}
	}
	if a.Cache == CacheQ8_0 && (a.HeadDim%CacheBlock != 0 || a.Columns) {
		return fmt.Errorf("a cache in Q8_0 needs heads of whole blocks of %d, not of %d, and keys by row", CacheBlock, a.HeadDim)
	}
	if a.FirstKVHead < 0 || a.FirstKVHead+a.KVHeads > a.CacheHeads() {
		return fmt.Errorf("key-value heads %d to %d of %d", a.FirstKVHead, a.FirstKVHead+a.KVHeads-1, a.CacheHeads())
	}
	return nil
}

// MaxConv is the most positions that OpShortConv convolves.
const MaxConv = 16

func (e *Experts) check(width, in, scores, chunk int) error {
	if e == nil || len(e.Graphs) == 0 || len(e.Graphs) != scores || e.TopK < 1 || e.TopK > scores {
		return fmt.Errorf("experts that do not fit %d scores", scores)
	}
	for _, g := range e.Graphs {
		if g.Chunk != chunk || g.Result().Width != width || g.Nodes[0].Op != OpInput || g.Nodes[0].Width != in {
			return fmt.Errorf("expert %s does not take %d rows of %d to %d", g.Name, chunk, in, width)
		}
		for i := range g.Nodes {
			switch n := &g.Nodes[i]; n.Op {
			case OpInput, OpMatMul, OpAdd, OpTimes, OpSwiGLU, OpGeGLU, OpClippedSwiGLU:
			default:
				return fmt.Errorf("expert %s: %v is no operation of an expert", g.Name, n.Op)
			}
		}
	}
	return nil
}

// shape checks a weight's data and its sizes.
func shape(t *Tensor, cols, rows int) error {
	if t == nil {
		return fmt.Errorf("a weight is missing")
	}
	if err := t.Check(); err != nil {
		return err
	}
	if t.Cols != cols || t.Rows != rows {
		return fmt.Errorf("%v, want %d×%d", t, rows, cols)
	}
	return nil
}

// Input is an input that a graph takes with each run (see Args).
type Input struct {
	Name string
	Type string // "F32", "I32", "F16", "bits"
	Rows int
	Cols int // 0 for the number of slots in the rows' caches
	Each int // numbers in each element; 0 for one
}

func (in Input) String() string {
	size := "slots"
	if in.Cols != 0 {
		size = fmt.Sprint(in.Cols)
	}
	if in.Each != 0 {
		size += fmt.Sprintf("×%d", in.Each)
	}
	return fmt.Sprintf("input %q %s[%d×%s]", in.Name, in.Type, in.Rows, size)
}

// Inputs returns the graph's inputs, each once: "x" or "tokens", by row; "positions"; if the graph attends, "kv", the
// view of each row's cache, and "mask", the slots that the row attends to; and the factors of the rows' adapters, and
// "tasks", the one-hot mask of OpSelect.
func (g *Graph) Inputs() (list []Input) {
	add := func(in Input) {
		if !slices.Contains(list, in) {
			list = append(list, in)
		}
	}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Op {
		case OpInput:
			add(Input{Name: "x", Type: "F32", Rows: g.Chunk, Cols: n.Width})
		case OpEmbed:
			add(Input{Name: "tokens", Type: "I32", Rows: g.Chunk, Cols: 1})
		case OpRope, OpPosition, OpTemper:
			add(Input{Name: "positions", Type: "I32", Rows: g.Chunk, Cols: 1})
		case OpAttention:
			add(Input{Name: "kv", Type: strings.ToUpper(n.Attention.Cache.String()), Rows: g.Chunk, Each: 2 * n.Attention.CacheHeads() * n.Attention.HeadDim})
			add(Input{Name: "mask", Type: "bits", Rows: g.Chunk})
		case OpShortConv:
			add(Input{Name: "kv", Type: "F16", Rows: g.Chunk, Each: n.Width})
			add(Input{Name: "mask", Type: "bits", Rows: g.Chunk})
		case OpFactor:
			add(Input{Name: n.Factor.Name, Type: "F16", Rows: n.Factor.Rows, Cols: n.Factor.Cols})
		case OpSelect:
			add(Input{Name: "tasks", Type: "bits", Rows: g.Chunk, Cols: n.Parts})
		}
	}
	return list
}

// String returns a listing of the graph: its inputs, then one node per line.
func (g *Graph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %s, %d rows\n", g.Name, g.Chunk)
	for _, in := range g.Inputs() {
		fmt.Fprintf(&b, "  %v\n", in)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		fmt.Fprintf(&b, "  %%%-2d = %v", i, n.Op)
		for _, a := range n.Args {
			fmt.Fprintf(&b, " %%%d", a)
		}
		if n.Weight != nil {
			fmt.Fprintf(&b, " [%v]", n.Weight)
		}
		if n.Bias != nil {
			fmt.Fprintf(&b, " + [%v]", n.Bias)
		}
		n.describe(&b)
		fmt.Fprintf(&b, "  → %d\n", n.Width)
	}
	return b.String()
}

// describe writes what a node does beyond its operation, arguments and weights.
func (n *Node) describe(b *strings.Builder) {
	switch n.Op {
	case OpScale:
		fmt.Fprintf(b, " by %g", n.Scale)
	case OpSoftcap:
		fmt.Fprintf(b, " at %g", n.Scale)
	case OpTemper:
		fmt.Fprintf(b, ` at "positions", times 1 + %g·ln(1+⌊p/%d⌋)`, n.Scale, n.Every)
	case OpShortConv:
		fmt.Fprintf(b, ` over "kv" layer %d through "mask"`, n.Layer)
	case OpExperts:
		fmt.Fprintf(b, ", %d of %d experts, the first:\n    %s ", n.Experts.TopK, len(n.Experts.Graphs),
			strings.ReplaceAll(n.Experts.Graphs[0].String(), "\n", "\n    "))
	case OpFactor:
		what := "rows"
		if n.Factor.Columns {
			what = "columns"
		}
		fmt.Fprintf(b, " %s %d to %d of %q [%d×%d]", what, n.Factor.From, n.Factor.From+n.Width-1, n.Factor.Name, n.Factor.Rows, n.Factor.Cols)
	case OpSelect:
		fmt.Fprintf(b, ` one of %d by "tasks"`, n.Parts)
	case OpQuantized:
		fmt.Fprintf(b, " [%s INT4[%d×%d], activations INT8]", n.Quantized.Name, n.Quantized.Rows, n.Quantized.Cols)
	case OpInput:
		b.WriteString(` "x"`)
	case OpEmbed:
		b.WriteString(` of "tokens"`)
	case OpPosition:
		b.WriteString(` of "positions"`)
	case OpRope:
		n.Rope.describe(b)
	case OpAttention:
		n.Attention.describe(b)
	}
}

func (r *Rope) describe(b *strings.Builder) {
	fmt.Fprintf(b, ` at "positions", %v, %d of %d, base %g`, r.Pairing, r.Dims, r.HeadDim, r.Base)
	if r.Linear != 1 {
		fmt.Fprintf(b, ", positions / %g", r.Linear)
	}
	if r.Factors != nil {
		b.WriteString(", with frequency factors")
	}
	if r.Magnitude != 0 {
		fmt.Fprintf(b, ", times %g", r.Magnitude)
	}
}

func (a *Attention) describe(b *strings.Builder) {
	fmt.Fprintf(b, ` over "kv" layer %d through "mask", %d heads, %d key-value heads of %d`, a.Layer, a.Heads, a.KVHeads, a.HeadDim)
	if a.CacheKVHeads != 0 {
		fmt.Fprintf(b, ", from %d of %d on", a.FirstKVHead, a.CacheKVHeads)
	}
	if a.Window != 0 {
		fmt.Fprintf(b, ", the last %d positions", a.Window)
	}
	if a.Softcap != 0 {
		fmt.Fprintf(b, ", scores capped at %g", a.Softcap)
	}
	if a.Sinks != nil {
		b.WriteString(", with sinks")
	}
	if a.Columns {
		b.WriteString(", keys by column")
	}
}
