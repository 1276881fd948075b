package model

import "tandem/npu"

// Llama and its relatives, Mistral among them (Touvron et al. 2023, §2.2): rotary positions, RMSNorm before
// attention and before the feed-forward layer, grouped-query attention, SwiGLU.
func init() {
	register(architecture{
		name: "llama", moe: true, // Mixtral
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			if c.Rope = r.rope(npu.Adjacent, c.HeadDim); c.Rope.Dims != c.HeadDim { // as in llama.cpp
				r.fail("%srope.dimension_count is %d: this architecture rotates whole heads, of %d", r.arch, c.Rope.Dims, c.HeadDim)
			}
		},
		embed: (*block).tokens,
		layer: llamaLayer,
		norm:  (*block).rmsNorm,
	})
}

// llamaLayer describes a layer of Llama. Any of its products may have a bias.
var llamaLayer = denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm"}.layer
