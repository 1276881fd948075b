package model

import "tandem/npu"

// LLaDA (Nie et al. 2025, §2): Llama's layers, each head with its own keys and values, whose rows attend both ways.
func init() {
	register(architecture{
		name: "llada",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.Adjacent, c.HeadDim)
			r.diffusion(c, false)
		},
		embed: (*block).tokens,
		layer: llamaLayer,
		norm:  (*block).rmsNorm,
	})
}
