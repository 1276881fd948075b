package model

import "tandem/npu"

// A denseLayer says how a layer of Llama's family differs from others of it: attention with rotated queries and keys, then
// a gated feed-forward layer, each added to the residual stream. Empty names stand for norms that it does not have.
type denseLayer struct {
	normAttention, normFeed string                   // before attention and before the feed-forward layer
	postAttention, postFeed string                   // behind them, before they are added
	normHeads               norms                    // of queries and keys, before they are rotated
	rope                    func(b *block) *npu.Rope // nil for Config's; a nil result for none
}

// norms says which elements of queries and keys are normed together.
type norms uint8

const (
	noNorms    norms = iota
	eachHead         // those of a head
	wholeWidth       // all
)

func (d denseLayer) layer(b *block, x npu.Value) npu.Value {
	y := d.attend(b, b.normed(x, d.normAttention))
	x = b.Add(x, b.residual(b.normed(y, d.postAttention)))
	y = d.feed(b, b.normed(x, d.normFeed))
	return b.Add(x, b.residual(b.normed(y, d.postFeed)))
}

// attend is the attention of a layer with its output matrix.
func (d denseLayer) attend(b *block, h npu.Value) npu.Value {
	c := b.config
	rope := &c.Rope
	if d.rope != nil {
		rope = d.rope(b)
	}
	turned := func(v npu.Value, norm string) npu.Value {
		v = b.normHeads(v, norm, d.normHeads)
		if rope == nil {
			return v
		}
		return b.Rope(v, rope)
	}
	q := turned(b.linear(h, "attn_q", c.Heads*c.HeadDim), "attn_q_norm")
	k := turned(b.linear(h, "attn_k", c.KVHeads*c.HeadDim), "attn_k_norm")
	v := b.linear(h, "attn_v", c.KVHeads*c.HeadDim)
	return b.linear(b.attention(q, k, v), "attn_output", c.Dim)
}

// feed is the feed-forward layer.
func (d denseLayer) feed(b *block, h npu.Value) npu.Value {
	c := b.config
	h = b.SwiGLU(b.linear(h, "ffn_gate", c.FF), b.linear(h, "ffn_up", c.FF))
	return b.linear(h, "ffn_down", c.Dim)
}

// normed is rmsNorm, or x if there is no such norm.
func (b *block) normed(x npu.Value, name string) npu.Value {
	if name == "" {
		return x
	}
	return b.rmsNorm(x, name)
}

// normHeads is RMSNorm of queries or keys.
func (b *block) normHeads(x npu.Value, name string, over norms) npu.Value {
	width := b.Nodes[x].Width
	switch over {
	case noNorms:
		return x
	case eachHead:
		width = b.config.HeadDim
	}
	return b.RMSNorm(x, b.vector(b.prefix+name+".weight", width), b.config.Eps)
}

// residual scales what is added to the residual stream, in architectures that do.
func (b *block) residual(x npu.Value) npu.Value { return b.scaled(x, b.config.scales.residual) }

// scaled is x·by, or x if by is 0.
func (b *block) scaled(x npu.Value, by float32) npu.Value {
	if by == 0 {
		return x
	}
	return b.Scale(x, by)
}
