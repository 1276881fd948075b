package sim

import (
	"math"
	"time"

	"tandem/npu"
)

// Cost is what one run of a graph takes.
type Cost struct {
	NPU     time.Duration // the NPU's part, including calls
	CPU     time.Duration // the CPU's part; the two take turns
	Weights int64         // bytes of weights read
}

// Time is how long the caller waits.
func (c Cost) Time() time.Duration { return c.NPU + c.CPU }

// Plus adds two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{NPU: c.NPU + d.NPU, CPU: c.CPU + d.CPU, Weights: c.Weights + d.Weights}
}

// Joules estimates the energy above idle as power × time.
func (c Cost) Joules(p Costs) float64 {
	return c.NPU.Seconds()*p.NPUWatts + c.CPU.Seconds()*p.CPUWatts
}

// Padded returns how many rows the matrix unit computes: whole tiles (the staircase of llada.cpp §2.2).
func (c Costs) Padded(rows int) int { return (rows + c.Tile - 1) / c.Tile * c.Tile }

// Product returns the time of rows × [cols × out]: the time to compute whole tiles or to stream the weights once,
// whichever is longer. Up to the number of rows where both are equal the cost is constant (sd.npu §3.2).
func (c Costs) Product(rows, cols, out int, weights int64) time.Duration {
	ops := 2 * float64(c.Padded(rows)) * float64(cols) * float64(out)
	return seconds(max(ops/c.Matrix, float64(weights)/c.Stream)) + c.Op
}

// Saturation returns the number of rows, at least one tile, up to which a product with large weights of the given bits
// costs the same, because computing takes no longer than streaming.
func (c Costs) Saturation(bits float64) int {
	rows := c.Matrix / c.Stream * bits / 8 / 2
	return max(1, int(rows)/c.Tile) * c.Tile
}

// elementwise returns the time of an operator over the elements on the vector unit.
func (c Costs) elementwise(elements int) time.Duration {
	return seconds(float64(elements)/c.Vector) + c.Op
}

// WeightBytes returns the size of a matrix on this stack.
func (c Costs) WeightBytes(t *npu.Tensor) int64 {
	if t == nil {
		return 0
	}
	if c.WeightBits > 0 && t.Rows > 1 {
		return int64(math.Ceil(float64(t.Rows) * float64(t.Cols) * c.WeightBits / 8))
	}
	return int64(t.Type.RowBytes(t.Cols)) * int64(t.Rows)
}

// Graph returns the cost of one run that attends to the given number of positions. The NPU computes every row of the
// chunk, in use or not. The graph's tensors need shapes and types, but no data.
func (c Costs) Graph(g *npu.Graph, context int) Cost {
	cost := Cost{NPU: c.calls(g)}
	for i := range g.Nodes {
		cost = cost.Plus(c.node(g, &g.Nodes[i], context))
	}
	return cost
}

// calls returns the time of calling the NPU in one run of the graph.
func (c Costs) calls(g *npu.Graph) time.Duration {
	calls := 1.0
	for i := range g.Nodes {
		switch g.Nodes[i].Op {
		case npu.OpAttention:
			calls = c.Calls
		case npu.OpEmbed, npu.OpPosition: // the host looks rows up
			calls = 0
		}
	}
	return time.Duration(calls * float64(c.Launch))
}

// node returns the cost of one node of a run.
func (c Costs) node(g *npu.Graph, n *npu.Node, context int) Cost {
	size := g.Chunk * n.Width
	switch n.Op {
	case npu.OpInput:
		return Cost{}
	case npu.OpMatMul, npu.OpConv, npu.OpQuantized:
		cols, b := c.matrix(n)
		return Cost{NPU: c.Product(g.Chunk, cols, n.Width, b), Weights: b}
	case npu.OpFactor: // an input in 16 bits
		in := g.Nodes[n.Args[0]].Width
		return Cost{NPU: c.Product(g.Chunk, in, n.Width, 2*int64(in)*int64(n.Width))}
	case npu.OpAttention:
		return c.attention(g, n, context).Plus(Cost{CPU: time.Duration(g.Chunk) * c.Row})
	case npu.OpEmbed, npu.OpPosition:
		return Cost{CPU: seconds(4 * float64(size) / c.CPUStream)}
	case npu.OpExperts:
		return c.experts(g, n, context)
	}
	return Cost{NPU: c.elementwise(size)}
}

// experts returns the cost of a mixture of experts. An NPU's graph cannot know in advance which experts a row goes through, so
// it has room for every row in every expert, and the host selects the experts in each run. The cost assumes an even spread: as
// many experts as the chunk's rows can use, each with an equal share of the rows. Each expert's weights are read once. Rows are
// gathered before the experts and summed after them.
func (c Costs) experts(g *npu.Graph, n *npu.Node, context int) (cost Cost) {
	e := n.Experts
	sent := g.Chunk * e.TopK
	busy := min(sent, len(e.Graphs))
	one := *e.Graphs[0]
	one.Chunk = (sent + busy - 1) / busy
	for i := range one.Nodes {
		cost = cost.Plus(c.node(&one, &one.Nodes[i], context))
	}
	cost.NPU, cost.Weights = cost.NPU*time.Duration(busy), cost.Weights*int64(busy)
	in := g.Nodes[n.Args[0]].Width
	return cost.Plus(Cost{NPU: c.elementwise(g.Chunk*len(e.Graphs)) + c.elementwise(sent*in) + c.elementwise(sent*n.Width)})
}

// attention returns the cost of reading the cache once for the chunk and computing scores and sums for every row. On the
// NPU the matrix unit computes products, and the vector unit exponentials.
func (c Costs) attention(g *npu.Graph, n *npu.Node, context int) Cost {
	a := n.Attention
	context = max(context, g.Chunk)
	if c.CPUAttends {
		return Cost{CPU: c.CPUAttention(g.Chunk, context, a.Heads*a.HeadDim, a.Cache.Row(a.KVHeads*a.HeadDim))}
	}
	ops, cache := attention(g.Chunk, context, a.Heads*a.HeadDim, a.Cache.Row(a.KVHeads*a.HeadDim))
	ops *= float64(c.Padded(g.Chunk)) / float64(g.Chunk)
	scores := float64(g.Chunk) * float64(context) * float64(a.Heads)
	return Cost{NPU: seconds(max(ops/c.Matrix, cache/c.Stream)+scores/c.Vector) + c.Op}
}

// attention returns the operations of the scores and sums of a layer, and the bytes of its cache. width is the dimension of all
// heads of queries, and kvWidth the number of 16-bit elements that the keys of a position take.
func attention(rows, context, width, kvWidth int) (ops, cache float64) {
	return 4 * float64(rows) * float64(context) * float64(width), 2 * 2 * float64(context) * float64(kvWidth)
}

// CPUAttention returns how long the CPU takes for the attention of one layer: to compute at its rate of products, or to read
// the cache, whichever is longer. See attention for width and kvWidth.
func (c Costs) CPUAttention(rows, context, width, kvWidth int) time.Duration {
	ops, cache := attention(rows, context, width, kvWidth)
	return seconds(max(ops/c.CPUOps, cache/c.CPUStream))
}

// Graphs returns the cost of running graphs one after the other.
func (c Costs) Graphs(graphs []*npu.Graph, context int) (sum Cost) {
	for _, g := range graphs {
		sum = sum.Plus(c.Graph(g, context))
	}
	return sum
}

// matrix returns the columns and bytes of a product's matrix; 0, 0 for other operators.
func (c Costs) matrix(n *npu.Node) (cols int, bytes int64) {
	switch n.Op {
	case npu.OpMatMul, npu.OpConv:
		return n.Weight.Cols, c.WeightBytes(n.Weight)
	case npu.OpQuantized:
		return n.Quantized.Cols, int64(n.Quantized.Rows) * int64((n.Quantized.Cols+1)/2)
	}
	return 0, 0
}

// bytes returns the memory that a node's matrices need on the device, those of all its experts included.
func (c Costs) bytes(n *npu.Node) int64 {
	if n.Op != npu.OpExperts {
		_, b := c.matrix(n)
		return b
	}
	sum := int64(0)
	for _, e := range n.Experts.Graphs {
		sum += c.Bytes(e)
	}
	return sum
}

// Bytes returns the memory that the weights of a graph's products need on the device. Embeddings stay on the host.
func (c Costs) Bytes(g *npu.Graph) (sum int64) {
	for i := range g.Nodes {
		sum += c.bytes(&g.Nodes[i])
	}
	return sum
}

// LoadTime returns how long it takes to load graphs of that many bytes.
func (c Costs) LoadTime(graphs int, bytes int64) time.Duration {
	return time.Duration(graphs)*c.LoadFixed + seconds(float64(bytes)/c.Load)
}

// MapTime returns how long it takes to map buffers into the NPU's address space.
func (c Costs) MapTime(mappings int, bytes int64) time.Duration {
	return time.Duration(mappings)*c.Map + seconds(float64(bytes)/c.MapRate)
}

// StageTime returns how long it takes to copy bytes into a slot that is already mapped.
func (c Costs) StageTime(bytes int64) time.Duration { return seconds(float64(bytes) / c.Stage) }

// CPUProducts returns how long the CPU takes for a model's products: to compute or to read, whichever is longer.
func (c Costs) CPUProducts(rows int, parameters, weights float64) time.Duration {
	return seconds(max(2*float64(rows)*parameters/c.CPUOps, weights/c.CPUStream))
}

// seconds returns a duration of at most an hour. A longer one is a mistake and must not overflow.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 3600) * float64(time.Second))
}
