package model

import "tandem/npu"

// Llama and its relatives, Mistral among them (Touvron et al. 2023, §2.2): rotary positions, RMSNorm before
// attention and before the feed-forward layer, grouped-query attention, SwiGLU.
func init() {
	register(architecture{
		name: "llama",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
			c.Rope = r.rope(npu.Adjacent, c.HeadDim)
		},
		embed: (*block).tokens,
		layer: llamaLayer,
		norm:  (*block).rmsNorm,
	})
}

// llamaLayer describes a layer of Llama. Any of its products may have a bias.
func llamaLayer(b *block, x npu.Value) npu.Value {
	c := b.config
	h := b.rmsNorm(x, "attn_norm")
	q := b.Rope(b.linear(h, "attn_q", c.Heads*c.HeadDim), &c.Rope)
	k := b.Rope(b.linear(h, "attn_k", c.KVHeads*c.HeadDim), &c.Rope)
	v := b.linear(h, "attn_v", c.KVHeads*c.HeadDim)
	x = b.Add(x, b.linear(b.attention(q, k, v), "attn_output", c.Dim))
	h = b.rmsNorm(x, "ffn_norm")
	h = b.SwiGLU(b.linear(h, "ffn_gate", c.FF), b.linear(h, "ffn_up", c.FF))
	return b.Add(x, b.linear(h, "ffn_down", c.Dim))
}
