package model

import "tandem/npu"

// Dream (Ye et al. 2025): Qwen2.5's layers, whose rows attend both ways. It was trained on from an autoregressive model,
// so its row guesses the next position.
func init() {
	register(architecture{
		name: "dream",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			r.diffusion(c, true)
		},
		embed: (*block).tokens,
		layer: llamaLayer,
		norm:  (*block).rmsNorm,
	})
}
