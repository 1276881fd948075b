package model

import "tandem/npu"

// LFM2 (Liquid AI 2025, §2): some layers attend, as Qwen3's do, and the others convolve the last few positions, between two
// gates.
func init() {
	register(architecture{
		name: "lfm2", conv: true,
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			c.conv = r.size("shortconv.l_cache", 2, npu.MaxConv, 0)
			r.refuse("attention.sliding_window", "layers with sliding windows")
		},
		embed: (*block).tokens,
		layer: lfm2Layer,
		norm:  func(b *block, x npu.Value, _ string) npu.Value { return b.rmsNorm(x, "token_embd_norm") },
	})
}

var lfm2Attention = denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", normHeads: eachHead}

func lfm2Layer(b *block, x npu.Value) npu.Value {
	c := b.config
	if c.convolved == nil || !c.convolved[b.index] {
		return lfm2Attention.layer(b, x)
	}
	h := b.rmsNorm(x, "attn_norm")
	part := func(i int) npu.Value { return b.linearRows(h, "shortconv.in_proj", 3*c.Dim, i*c.Dim, c.Dim) }
	before, behind := part(0), part(1)
	y := b.ShortConv(b.Times(before, part(2)), b.kernel("shortconv.conv"), b.index)
	x = b.Add(x, b.linear(b.Times(behind, y), "shortconv.out_proj", c.Dim))
	return b.Add(x, lfm2Attention.feed(b, b.rmsNorm(x, "ffn_norm")))
}

// kernel returns the weights of a short convolution [Dim × positions], widened to F32.
func (b *block) kernel(name string) *npu.Tensor {
	return b.wide(b.prefix+name+".weight", b.config.Dim, b.config.conv)
}
