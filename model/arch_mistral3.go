package model

import "tandem/npu"

// Mistral 3 and Ministral 3 (Mistral AI 2025): Llama's layers with YaRN, and queries that grow with their position beyond the
// context of the first training, as in Llama 4.
func init() {
	register(architecture{
		name: "mistral3", moe: true,
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.Adjacent, c.HeadDim)
			c.scales.attention = r.factor("attention.scale")
			if scale := r.factor("attention.temperature_scale"); scale != 0 {
				c.temper = temper{scale, r.size("rope.scaling.original_context_length", 1, maxContext, 0)}
			}
		},
		embed: (*block).tokens,
		layer: llamaLayer,
		norm:  (*block).rmsNorm,
	})
}
