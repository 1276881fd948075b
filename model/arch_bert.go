package model

import "tandem/npu"

// BERT (Devlin et al. 2019, §3) and nomic-bert (Nussbaum et al. 2024, §3): encoders, whose rows attend both ways, with
// post-norms: each norm follows the sum of the residual. BERT has learned positions, biases and a GELU; nomic-bert has
// rotated positions, one matrix for queries, keys and values, and SwiGLU.
func init() {
	register(architecture{
		name: "bert",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_epsilon")
			r.encoder(c)
		},
		embed: encoderEmbed(true),
		layer: func(b *block, x npu.Value) npu.Value {
			c := b.config
			q, k := b.linear(x, "attn_q", c.Heads*c.HeadDim), b.linear(x, "attn_k", c.KVHeads*c.HeadDim)
			v := b.linear(x, "attn_v", c.KVHeads*c.HeadDim)
			x = b.layerNorm(b.Add(x, b.linear(b.attention(q, k, v), "attn_output", c.Dim)), "attn_output_norm")
			h := b.linear(b.GELU(b.linear(x, "ffn_up", c.FF)), "ffn_down", c.Dim)
			return b.layerNorm(b.Add(x, h), "layer_output_norm")
		},
	})
	fused := denseLayer{fusedAttention: true}
	register(architecture{
		name: "nomic-bert",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_epsilon")
			c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
			r.encoder(c)
		},
		embed: encoderEmbed(false),
		layer: func(b *block, x npu.Value) npu.Value {
			x = b.layerNorm(b.Add(x, fused.attend(b, x)), "attn_output_norm")
			return b.layerNorm(b.Add(x, fused.feed(b, x)), "layer_output_norm")
		},
	})
}
