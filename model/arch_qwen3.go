package model

import "tandem/npu"

// Qwen3 (Yang et al. 2025, §2): Qwen2's layers without biases, with an RMSNorm of each head's queries and keys.
func init() {
	register(architecture{
		name: "qwen3",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
		},
		embed: (*block).tokens,
		layer: denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", normHeads: eachHead}.layer,
		norm:  (*block).rmsNorm,
	})
}
