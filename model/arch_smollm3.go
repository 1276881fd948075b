package model

import "tandem/npu"

// SmolLM3 (Bakouch et al. 2025): Llama's layers, every fourth without positions.
func init() {
	register(architecture{
		name: "smollm3",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.Adjacent, c.HeadDim)
		},
		embed: (*block).tokens,
		layer: denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", rope: func(b *block) *npu.Rope {
			if b.index%4 == 3 {
				return nil
			}
			return &b.config.Rope
		}}.layer,
		norm: (*block).rmsNorm,
	})
}
