package model

import (
	"fmt"
	"math"

	"tandem/npu"
)

// weights are a transformer's tensors; nil where the model has none.
type weights struct {
	embedding *npu.Tensor // [Vocab × Dim]
	positions *npu.Tensor // [Context × Dim], where they are learned
	layers    []layer
	norm      *npu.Tensor // [Dim]
	normB     *npu.Tensor // LayerNorm's bias, like those of the layers
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

	attnNormB, ffNormB, upB, downB *npu.Tensor // biases of the kind that has learned positions
}

// blocks describes the whole transformer, once for every device: tokens to residual stream, one block for
// each layer, residual stream to logits, each as a static graph for chunk rows (DESIGN §4). The result of
// a block is the input "x" of the next; the last takes only the rows whose logits are wanted.
func (c *Config) blocks(w *weights, chunk int) []*npu.Graph {
	attention := npu.Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		Scale: float32(1 / math.Sqrt(float64(c.HeadDim)))}

	embed := npu.NewGraph("embedding", chunk)
	if x := embed.Embed(w.embedding); c.Learned {
		embed.Add(x, embed.Position(w.positions))
	}
	blocks := []*npu.Graph{embed}

	for i := range w.layers {
		l, g, at := &w.layers[i], npu.NewGraph(fmt.Sprintf("layer %d", i), chunk), attention
		at.Layer = i
		x := g.Input(c.Dim)
		h := c.norm(g, x, l.attnNorm, l.attnNormB)
		q := c.rope(g, g.MatMul(h, l.q, l.qb))
		k := c.rope(g, g.MatMul(h, l.k, l.kb))
		v := g.MatMul(h, l.v, l.vb)
		x = g.Add(x, g.MatMul(g.Attention(q, k, v, &at), l.attnOut, l.attnOutB))
		h = c.norm(g, x, l.ffNorm, l.ffNormB)
		if c.Learned {
			h = g.ReLU(g.MatMul(h, l.up, l.upB))
		} else {
			h = g.SwiGLU(g.MatMul(h, l.gate, nil), g.MatMul(h, l.up, nil))
		}
		g.Add(x, g.MatMul(h, l.down, l.downB))
		blocks = append(blocks, g)
	}

	head := npu.NewGraph("head", chunk)
	head.MatMul(c.norm(head, head.Input(c.Dim), w.norm, w.normB), w.output, nil)
	return append(blocks, head)
}

func (c *Config) norm(g *npu.Graph, x npu.Value, w, bias *npu.Tensor) npu.Value {
	if c.Learned {
		return g.LayerNorm(x, w, bias, c.Eps)
	}
	return g.RMSNorm(x, w, c.Eps)
}

func (c *Config) rope(g *npu.Graph, x npu.Value) npu.Value {
	if c.Learned {
		return x
	}
	return g.Rope(x, &c.Rope)
}
