package model

import "tandem/npu"

// OLMoE (Muennighoff et al. 2024, §2): norms of queries and keys over all heads together, and experts whose weights are shares
// of all scores.
func init() {
	register(architecture{
		name: "olmoe", moe: true,
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			c.experts.all = true
		},
		embed: (*block).tokens,
		layer: denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", normHeads: wholeWidth}.layer,
		norm:  (*block).rmsNorm,
	})
}
