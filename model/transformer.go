package model

import (
	"fmt"
	"math"

	"tandem/npu"
)

// blocks describes the whole transformer, once for every device: tokens to residual stream, one block for each
// layer, residual stream to logits. Each is a static graph for chunk rows. The result of a block is the input "x"
// of the next; the last takes only the rows whose logits are needed.
func (c *Config) blocks(t *tensors, chunk int) []*npu.Graph { return c.blocksWith(t, chunk, nil) }

// adapt adds an adapter to y, the product of x and the weight of that name.
type adapt func(b *block, y, x npu.Value, weight string) npu.Value

// blocksWith is blocks with adapters for the products of the layers.
func (c *Config) blocksWith(t *tensors, chunk int, adapt adapt) []*npu.Graph {
	arch := architectures[c.Arch]

	embed := c.block(t, "embedding", chunk)
	arch.embed(embed)
	graphs := []*npu.Graph{embed.Graph}

	for i := 0; i < c.Layers && t.err == nil; i++ {
		layer := c.block(t, fmt.Sprintf("layer %d", i), chunk)
		layer.index, layer.prefix, layer.adapt = i, fmt.Sprintf("blk.%d.", i), adapt
		arch.layer(layer, layer.Input(c.Dim))
		graphs = append(graphs, layer.Graph)
	}
	if c.Pooling != NoPooling { // the vectors are the result
		head := c.block(t, "head", chunk)
		if x := head.Input(c.Dim); arch.norm != nil {
			arch.norm(head, x, "output_norm")
		} else {
			head.Scale(x, 1)
		}
		return append(graphs, head.Graph)
	}
	return append(graphs, c.head(t, "head", chunk, t.output(c)))
}

// head describes the last block: the logits of the tokens that are output's rows.
func (c *Config) head(t *tensors, name string, chunk int, output *npu.Tensor) *npu.Graph {
	head := c.block(t, name, chunk)
	x := architectures[c.Arch].norm(head, head.Input(c.Dim), "output_norm")
	logits := head.scaleIf(head.MatMul(x, output, nil), c.scales.logits)
	if c.caps.logits != 0 {
		head.Softcap(logits, c.caps.logits)
	}
	return head.Graph
}

// A block is a graph under construction. Its methods name tensors as GGUF files do, those of a layer without the
// layer's prefix.
type block struct {
	*npu.Graph
	config *Config
	*tensors
	prefix string // of the layer's tensors: "blk.7."
	index  int    // of the layer
	adapt  adapt  // nil for none
}

func (c *Config) block(t *tensors, name string, chunk int) *block {
	return &block{Graph: npu.NewGraph(name, chunk), config: c, tensors: t}
}

// tokens looks up the rows' tokens in the embedding.
func (b *block) tokens() npu.Value { return b.Embed(b.embedding(b.config)) }

// linear is x·Wᵀ with the matrix name.weight, which has the given number of rows, plus name.bias if the
// file has one.
func (b *block) linear(x npu.Value, name string, rows int) npu.Value {
	name = b.prefix + name
	y := b.MatMul(x, b.matrix(name+".weight", rows, b.Nodes[x].Width), b.optional(name+".bias", rows))
	if b.adapt != nil {
		y = b.adapt(b, y, x, name+".weight")
	}
	return y
}

func (b *block) rmsNorm(x npu.Value, name string) npu.Value {
	return b.RMSNorm(x, b.vector(b.prefix+name+".weight", b.config.Dim), b.config.Eps)
}

func (b *block) layerNorm(x npu.Value, name string) npu.Value {
	name = b.prefix + name
	bias := b.zeros(b.config.Dim)
	if !b.config.plainNorms {
		bias = b.vector(name+".bias", b.config.Dim)
	}
	return b.LayerNorm(x, b.vector(name+".weight", b.config.Dim), bias, b.config.Eps)
}

// window is the number of positions that the layer attends to; 0 for all.
func (b *block) window() int { return b.config.windowOf(b.index) }

// attention is causal attention of grouped queries over the layer's KV caches.
func (b *block) attention(q, k, v npu.Value) npu.Value {
	c := b.config
	scale := c.scales.attention
	if scale == 0 {
		scale = float32(1 / math.Sqrt(float64(c.HeadDim)))
	}
	sinks := b.optional(b.prefix+"attn_sinks.weight", c.Heads)
	return b.Attention(q, k, v, &npu.Attention{Layer: b.index, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Scale: scale,
		Window: b.window(), Softcap: c.caps.scores, Cache: c.KV, Sinks: sinks})
}
