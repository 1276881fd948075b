package model

import (
	"math"

	"tandem/npu"
)

// Phi-3, Phi-3.5 and Phi-4-mini (Abdin et al. 2024, §2): Llama's layers with one matrix for queries, keys and values and one
// for the gate and what it lets through. Only a part of each head may be rotated. LongRoPE (Ding et al. 2024) has two sets
// of factors for frequencies, one for contexts as long as those of the first training and one for longer ones. Keys depend on
// them, so a model is opened for one of the two: by default for the first, whose length then is its context.
func init() {
	register(architecture{
		name: "phi3", long: true,
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			if !r.file.Has(shortFactors) {
				return
			}
			first := r.size("rope.scaling.original_context_length", 1, maxContext, c.Context)
			c.Rope.Magnitude = r.number("rope.scaling.attn_factor", 0)
			if by := float64(c.Context) / float64(first); c.Rope.Magnitude == 0 && by > 1 {
				c.Rope.Magnitude = math.Sqrt(1 + math.Log(by)/math.Log(float64(first)))
			}
			if first < c.Context && r.file.Has(longFactors) {
				c.long = &longRope{c.Rope, c.Context}
			}
			c.Context = min(c.Context, first)
		},
		embed: (*block).tokens,
		layer: denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", fusedAttention: true, fusedFeed: true}.layer,
		norm:  (*block).rmsNorm,
	})
}
