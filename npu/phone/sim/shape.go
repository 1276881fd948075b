package sim

import (
	"fmt"
	"math"

	"tandem/npu"
)

// Shape is a transformer without its weights: enough to say how long it takes.
type Shape struct {
	Name                           string
	Layers, Dim, FF                int
	Heads, KVHeads, HeadDim, Vocab int
	Type                           npu.DType // of its matrices
	HeadType                       npu.DType // of the output matrix
	LoRA                           int       // rank of adapters on q, k, v and o; 0 for none
	Adapters                       int       // computed together and masked; 0 counts as 1
}

// shapes are the models with published figures, from their own configurations.
var shapes = []Shape{
	{Name: "Qwen2.5-0.5B", Layers: 24, Dim: 896, FF: 4864, Heads: 14, KVHeads: 2, HeadDim: 64, Vocab: 151936},
	{Name: "Qwen2.5-1.5B", Layers: 28, Dim: 1536, FF: 8960, Heads: 12, KVHeads: 2, HeadDim: 128, Vocab: 151936},
	{Name: "Llama-3.2-1B", Layers: 16, Dim: 2048, FF: 8192, Heads: 32, KVHeads: 8, HeadDim: 64, Vocab: 128256},
	{Name: "Llama-3.2-3B", Layers: 28, Dim: 3072, FF: 8192, Heads: 24, KVHeads: 8, HeadDim: 128, Vocab: 128256},
	{Name: "SmallThinker-3B", Layers: 36, Dim: 2048, FF: 11008, Heads: 16, KVHeads: 2, HeadDim: 128, Vocab: 151936},
	{Name: "Llama-3.1-8B", Layers: 32, Dim: 4096, FF: 14336, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 128256},
	{Name: "LLaDA-8B", Layers: 32, Dim: 4096, FF: 12288, Heads: 32, KVHeads: 32, HeadDim: 128, Vocab: 126464},
	{Name: "Qwen3-0.6B", Layers: 28, Dim: 1024, FF: 3072, Heads: 16, KVHeads: 8, HeadDim: 128, Vocab: 151936},
	{Name: "Qwen3-8B", Layers: 36, Dim: 4096, FF: 12288, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 151936},
	{Name: "SmolLM2-135M", Layers: 30, Dim: 576, FF: 1536, Heads: 9, KVHeads: 3, HeadDim: 64, Vocab: 49152},
	{Name: "granite-3.3-2B", Layers: 40, Dim: 2048, FF: 8192, Heads: 32, KVHeads: 8, HeadDim: 64, Vocab: 49159},
}

// FindShape returns the shape of that name.
func FindShape(name string) (Shape, error) {
	for _, s := range shapes {
		if s.Name == name {
			return s, nil
		}
	}
	return Shape{}, fmt.Errorf("no shape %q", name)
}

// LayerParameters counts the weights of all layers' products.
func (s Shape) LayerParameters() float64 {
	q, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	return float64(s.Layers) * float64(s.Dim) * float64(2*q+2*kv+3*s.FF)
}

// HeadParameters counts the weights of the output matrix.
func (s Shape) HeadParameters() float64 { return float64(s.Dim) * float64(s.Vocab) }

// Parameters counts the weights of layers and output matrix.
func (s Shape) Parameters() float64 { return s.LayerParameters() + s.HeadParameters() }

// Blocks returns the graphs of the layers for a chunk size, and that of the head for headRows rows: 1 if only the last token
// needs logits. Their tensors have no data: the graphs have costs but cannot be compiled.
func (s Shape) Blocks(chunk, headRows int) []*npu.Graph {
	q, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	rope := &npu.Rope{HeadDim: s.HeadDim, Dims: s.HeadDim, Base: 10000, Linear: 1}
	matrix := func(rows, cols int) *npu.Tensor { return &npu.Tensor{Type: s.Type, Rows: rows, Cols: cols} }
	vector := func(n int) *npu.Tensor { return &npu.Tensor{Type: npu.F32, Rows: 1, Cols: n} }
	var blocks []*npu.Graph
	for i := range s.Layers {
		g := npu.NewGraph(fmt.Sprintf("layer %d", i), chunk)
		project := func(x npu.Value, rows, cols int) npu.Value {
			y := g.MatMul(x, matrix(rows, cols), nil)
			for range max(s.Adapters, min(s.LoRA, 1)) {
				low := &npu.Tensor{Type: npu.F16, Rows: s.LoRA, Cols: cols}
				up := &npu.Tensor{Type: npu.F16, Rows: rows, Cols: s.LoRA}
				y = g.Add(y, g.MatMul(g.MatMul(x, low, nil), up, nil))
			}
			return y
		}
		x := g.Input(s.Dim)
		h := g.RMSNorm(x, vector(s.Dim), 1e-6)
		at := g.Attention(g.Rope(project(h, q, s.Dim), rope), g.Rope(project(h, kv, s.Dim), rope), project(h, kv, s.Dim),
			&npu.Attention{Layer: i, Heads: s.Heads, KVHeads: s.KVHeads, HeadDim: s.HeadDim, Scale: float32(1 / math.Sqrt(float64(s.HeadDim)))})
		x = g.Add(x, project(at, s.Dim, q))
		h = g.RMSNorm(x, vector(s.Dim), 1e-6)
		h = g.SwiGLU(g.MatMul(h, matrix(s.FF, s.Dim), nil), g.MatMul(h, matrix(s.FF, s.Dim), nil))
		g.Add(x, g.MatMul(h, matrix(s.Dim, s.FF), nil))
		blocks = append(blocks, g)
	}
	head := npu.NewGraph("head", headRows)
	head.MatMul(head.RMSNorm(head.Input(s.Dim), vector(s.Dim), 1e-6), &npu.Tensor{Type: s.HeadType, Rows: s.Vocab, Cols: s.Dim}, nil)
	return append(blocks, head)
}
