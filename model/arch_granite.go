package model

import "tandem/npu"

// Granite 3 (IBM 2024): Llama's layers with factors, which the file says, for the embedding, the scores of attention, what is
// added to the residual stream, and the logits. There are mixtures of experts of it, too.
func init() {
	for _, name := range []string{"granite", "granitemoe"} {
		register(architecture{
			name: name, moe: name == "granitemoe",
			config: func(r *metaReader, c *Config) {
				c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
				c.Rope = r.rope(npu.Adjacent, c.HeadDim)
				c.scales = scales{
					embedding: r.factor("embedding_scale"), residual: r.factor("residual_scale"), attention: r.factor("attention.scale"),
				}
				if by := r.factor("logit_scale"); by != 0 {
					c.scales.logits = 1 / by
				}
			},
			embed: func(b *block) npu.Value { return b.scaleIf(b.tokens(), b.config.scales.embedding) },
			layer: llamaLayer,
			norm:  (*block).rmsNorm,
		})
	}
}
