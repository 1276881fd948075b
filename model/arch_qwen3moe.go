package model

import "tandem/npu"

// Qwen3's mixtures of experts (Yang et al. 2025, §2): Qwen3's attention, and of many small feed-forward layers those with the
// highest scores.
func init() {
	register(architecture{
		name: "qwen3moe", moe: true,
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
		},
		embed: (*block).tokens,
		layer: denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", normHeads: eachHead}.layer,
		norm:  (*block).rmsNorm,
	})
}
