package model

import "tandem/npu"

// Qwen2 and Qwen2.5 (Yang et al. 2024, §2): Llama's layers with biases of queries, keys and values, and rotations
// that pair the halves of a head.
func init() {
	register(architecture{
		name: "qwen2",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
		},
		embed: (*block).tokens,
		layer: llamaLayer,
		norm:  (*block).rmsNorm,
	})
}
