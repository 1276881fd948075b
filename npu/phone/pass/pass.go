// Package pass rewrites static graphs for mobile NPUs (Samsung §3.3): graphs as exporters write them become graphs of
// fewer and simpler operations that compute the same numbers.
//
//	Unfold         writes a graph as exporters do: norms apart from their weights, the scale of scores as an operation
//	AddLoRA        adds adapters to the attention's products, with their factors as inputs
//	FoldConstants  combines neighbouring constants
//	FoldNorms      multiplies a norm's weights into the products after it
//	FoldScales     multiplies scales into weights, and into adapters' factors
//	SplitHeads     gives each head its own node, and cuts its products and LoRA-B to it
//	TransposeKeys  lets the cache hold keys as the product reads them
//	Convolve       turns products into convolutions with 1×1 kernels
//	INT4           rounds weights to INT4 by channel, and activations to INT8 by tensor
//
// A pass leaves its input as it is and returns a new graph, which shares the tensors that did not change. Tensors that
// folding multiplies become F32. Quantised weights are not multiplied: rounding them again would change the results.
//
// Of these, programs use only INT4 yet. The others are kept for adapters, whose factors reach an NPU through AddLoRA,
// FoldScales and SplitHeads, and because they are the counterpart of the operations at the end of npu.Op.
package pass

import (
	"fmt"
	"slices"
	"strings"

	"tandem/npu"
	"tandem/npu/quant"
)

// Pass rewrites a graph.
type Pass func(g *npu.Graph) (*npu.Graph, error)

// Chain returns a pass that applies passes one after the other.
func Chain(passes ...Pass) Pass {
	return func(g *npu.Graph) (*npu.Graph, error) {
		for _, p := range passes {
			var err error
			if g, err = p(g); err != nil {
				return nil, err
			}
		}
		return g, nil
	}
}

// device rewrites every graph before the inner device compiles it.
type device struct {
	npu.Device
	pass Pass
}

// Compile implements npu.Device.
func (d device) Compile(g *npu.Graph) (npu.Program, error) {
	g, err := d.pass(g)
	if err != nil {
		return nil, err
	}
	return d.Device.Compile(g)
}

// rewriter builds a graph from another's nodes.
type rewriter struct {
	from, to *npu.Graph
	at       []npu.Value // the value of each old node in the new graph
}

// rewrite lets f add the replacement of each node in turn. The node's arguments are values of the new graph. Nodes that the
// result does not need are dropped.
func rewrite(g *npu.Graph, f func(r *rewriter, i int, n npu.Node) npu.Value) *npu.Graph {
	r := &rewriter{from: g, to: &npu.Graph{Name: g.Name, Chunk: g.Chunk}, at: make([]npu.Value, len(g.Nodes))}
	for i, n := range g.Nodes {
		n.Args = slices.Clone(n.Args)
		for j, a := range n.Args {
			n.Args[j] = r.at[a]
		}
		r.at[i] = f(r, i, n)
	}
	return prune(r.to, r.at[len(r.at)-1])
}

func (r *rewriter) add(n npu.Node) npu.Value {
	r.to.Nodes = append(r.to.Nodes, n)
	return npu.Value(len(r.to.Nodes) - 1)
}

func (r *rewriter) node(v npu.Value) *npu.Node { return &r.to.Nodes[v] }

// prune keeps only the nodes that the result needs, with the result last.
func prune(g *npu.Graph, result npu.Value) *npu.Graph {
	needed := make([]bool, len(g.Nodes))
	needed[result] = true
	out := &npu.Graph{Name: g.Name, Chunk: g.Chunk}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if needed[i] {
			for _, a := range g.Nodes[i].Args {
				needed[a] = true
			}
		}
	}
	at := make([]npu.Value, len(g.Nodes))
	for i, n := range g.Nodes[:result+1] {
		if !needed[i] {
			continue
		}
		n.Args = slices.Clone(n.Args) // copied nodes may share them
		for j, a := range n.Args {
			n.Args[j] = at[a]
		}
		at[i] = npu.Value(len(out.Nodes))
		out.Nodes = append(out.Nodes, n)
	}
	return out
}

// folds reports whether a tensor may be multiplied at compile time.
func folds(t *npu.Tensor) bool { return t.Type == npu.F32 || t.Type == npu.F16 || t.Type == npu.BF16 }

// folded returns a tensor as F32, with each element multiplied by a number.
func folded(t *npu.Tensor, by func(row, col int) float32) (*npu.Tensor, error) {
	v := make([]float32, t.Rows*t.Cols)
	if err := quant.Dequantize(t.Type, v, t.Data); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	for i := range v {
		v[i] *= by(i/t.Cols, i%t.Cols)
	}
	return tensor(t.Name, t.Rows, t.Cols, v)
}

func tensor(name string, rows, cols int, v []float32) (*npu.Tensor, error) {
	out := &npu.Tensor{Name: name, Type: npu.F32, Rows: rows, Cols: cols, Data: make([]byte, 4*len(v))}
	return out, quant.Quantize(npu.F32, out.Data, v)
}

func values(t *npu.Tensor) ([]float32, error) {
	v := make([]float32, t.Rows*t.Cols)
	return v, quant.Dequantize(t.Type, v, t.Data)
}

// Unfold writes a graph as exporters do: RMSNorm as two operations, and the scale of attention's scores as a
// multiplication of the queries.
func Unfold(g *npu.Graph) (*npu.Graph, error) {
	return rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
		switch n.Op {
		case npu.OpRMSNorm:
			if n.Weight.Cols < n.Width { // of each head: it stays one operation
				break
			}
			x := r.add(npu.Node{Op: npu.OpNormalize, Args: n.Args, Width: n.Width, Eps: n.Eps})
			return r.add(npu.Node{Op: npu.OpMul, Args: []npu.Value{x}, Width: n.Width, Weight: n.Weight})
		case npu.OpAttention:
			a := *n.Attention
			n.Args[0] = r.add(npu.Node{Op: npu.OpScale, Args: []npu.Value{n.Args[0]}, Width: n.Width, Scale: a.Scale})
			a.Scale, n.Attention = 1, &a
		}
		return r.add(n)
	}), nil
}

// FactorA returns the name of the first factor of a product's adapter.
func FactorA(weight string) string { return weight + ".lora_a" }

// FactorB returns the name of the second factor.
func FactorB(weight string) string { return weight + ".lora_b" }

// AddLoRA adds scale·(x·Aᵀ)·B to the products of the attention block, with A [rank × in] and B [rank × out] of each row's
// adapter as inputs of each run (Samsung Eq. 1–4).
func AddLoRA(rank int, scale float32) Pass {
	return func(g *npu.Graph) (*npu.Graph, error) {
		if rank < 1 {
			return nil, fmt.Errorf("adapters of rank %d", rank)
		}
		return rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
			v := r.add(n)
			if n.Op != npu.OpMatMul || !strings.Contains(n.Weight.Name, ".attn_") {
				return v
			}
			a := r.add(npu.Node{Op: npu.OpFactor, Args: n.Args, Width: rank,
				Factor: &npu.Factor{Name: FactorA(n.Weight.Name), Rows: rank, Cols: n.Weight.Cols}})
			b := r.add(npu.Node{Op: npu.OpFactor, Args: []npu.Value{a}, Width: n.Width,
				Factor: &npu.Factor{Name: FactorB(n.Weight.Name), Rows: rank, Cols: n.Width, Columns: true}})
			s := r.add(npu.Node{Op: npu.OpScale, Args: []npu.Value{b}, Width: n.Width, Scale: scale})
			return r.add(npu.Node{Op: npu.OpAdd, Args: []npu.Value{v, s}, Width: n.Width})
		}), nil
	}
}
