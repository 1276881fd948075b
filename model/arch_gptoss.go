package model

import "tandem/npu"

// gpt-oss (OpenAI 2025, §2): biases, attention with sinks, every other layer with a window, YaRN, and experts with a gate that
// is clipped.
func init() {
	register(architecture{
		name: "gpt-oss", moe: true,
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			c.window = r.size("attention.sliding_window", 1, maxContext, 0)
			c.windowed = func(layer int) bool { return layer%2 == 0 }
		},
		embed: (*block).tokens,
		layer: denseLayer{normAttention: "attn_norm", normFeed: "post_attention_norm", clipped: true}.layer,
		norm:  (*block).rmsNorm,
	})
}
