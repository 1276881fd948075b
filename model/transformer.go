package model

import (
	"fmt"
	"math"

	"tandem/npu"
)

// weights are a transformer's tensors; nil where the model has none.
type weights struct {
	embedding *npu.Tensor // [Vocab × Dim]
	layers    []layer
	norm      *npu.Tensor // [Dim]
	output    *npu.Tensor // [Vocab × Dim]; the embedding itself when they are tied
}

type layer struct {
	attnNorm       *npu.Tensor // [Dim]
	q, k, v        *npu.Tensor // [Heads·HeadDim × Dim], [KVHeads·HeadDim × Dim] twice
	qb, kb, vb     *npu.Tensor // biases
	attnOut        *npu.Tensor // [Dim × Heads·HeadDim]
	attnOutB       *npu.Tensor // bias
	ffNorm         *npu.Tensor // [Dim]
	gate, up, down *npu.Tensor // [FF × Dim] twice, [Dim × FF]
}

// blocks describes the whole transformer, once for every device: tokens to residual stream, one block for
// each layer, residual stream to logits, each as a static graph for chunk rows (DESIGN §4). The result of
// a block is the input "x" of the next; the last takes only the rows whose logits are wanted.
func (c *Config) blocks(w *weights, chunk int) []*npu.Graph {
	attention := npu.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		Scale: float32(1 / math.Sqrt(float64(c.HeadDim)))}

	embed := npu.NewGraph("embedding", chunk)
	embed.Embed(w.embedding)
	blocks := []*npu.Graph{embed}

	for i := range w.layers {
		l, g, at := &w.layers[i], npu.NewGraph(fmt.Sprintf("layer %d", i), chunk), attention
		at.Layer = i
		x := g.Input(c.Dim)
		h := g.RMSNorm(x, l.attnNorm, c.Eps)
		q := g.Rope(g.MatMul(h, l.q, l.qb), &c.Rope)
		k := g.Rope(g.MatMul(h, l.k, l.kb), &c.Rope)
		v := g.MatMul(h, l.v, l.vb)
		x = g.Add(x, g.MatMul(g.Attention(q, k, v, &at), l.attnOut, l.attnOutB))
		h = g.RMSNorm(x, l.ffNorm, c.Eps)
		h = g.SwiGLU(g.MatMul(h, l.gate, nil), g.MatMul(h, l.up, nil))
		g.Add(x, g.MatMul(h, l.down, nil))
		blocks = append(blocks, g)
	}

	head := npu.NewGraph("head", chunk)
	head.MatMul(head.RMSNorm(head.Input(c.Dim), w.norm, c.Eps), w.output, nil)
	return append(blocks, head)
}
