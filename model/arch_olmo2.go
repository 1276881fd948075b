package model

import "tandem/npu"

// OLMo 2 (Walsh et al. 2025, §3): norms behind attention and behind the feed-forward layer instead of before them, and norms of
// queries and keys over all heads together.
func init() {
	register(architecture{
		name: "olmo2",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			r.refuse("attention.sliding_window", "layers with sliding windows (OLMo 3)")
		},
		embed: (*block).tokens,
		layer: denseLayer{postAttention: "post_attention_norm", postFeed: "post_ffw_norm", normHeads: wholeWidth}.layer,
		norm:  (*block).rmsNorm,
	})
}
