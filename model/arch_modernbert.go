package model

import "tandem/npu"

// ModernBERT (Warner et al. 2024, §2.1): norms before what they norm, all without biases, rotated positions, a gate
// with a GELU, and of three layers two that attend to a window around each position and rotate with a base of their
// own.
func init() {
	rope := func(b *block) *npu.Rope {
		if c := b.config; c.window > 0 && c.windowed(b.index) {
			return &c.localRope
		}
		return &b.config.Rope
	}
	layer := denseLayer{rope: rope, fusedAttention: true, fusedFeed: true, gelu: true}
	register(architecture{
		name: "modern-bert",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_epsilon")
			c.plainNorms = true
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			if _, ok := r.file.Value(r.arch + "attention.sliding_window"); ok {
				c.window = r.size("attention.sliding_window", 0, maxContext, 0)
			}
			c.windowed = func(layer int) bool { return layer%3 != 0 }
			c.localRope = c.Rope
			c.localRope.Base = r.number("rope.freq_base_swa", c.Rope.Base)
			r.encoder(c)
		},
		embed: func(b *block) npu.Value { return b.layerNorm(b.tokens(), "token_embd_norm") },
		layer: func(b *block, x npu.Value) npu.Value {
			h := x
			if b.index > 0 || b.file.Has(b.prefix+"attn_norm.weight") { // the first has a norm of the embedding before it
				h = b.layerNorm(x, "attn_norm")
			}
			x = b.Add(x, layer.attend(b, h))
			return b.Add(x, layer.feed(b, b.layerNorm(x, "ffn_norm")))
		},
		norm: (*block).layerNorm,
	})
}
