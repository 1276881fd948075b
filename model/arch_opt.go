package model

import "tandem/npu"

// OPT (Zhang et al. 2022, §2): learned positions, LayerNorm before attention and before the feed-forward layer,
// ReLU, biases everywhere.
func init() {
	register(architecture{
		name: "opt",
		config: func(r *metaReader, c *Config) {
			c.Eps = r.epsilon("attention.layer_norm_epsilon")
		},
		embed: func(b *block) npu.Value {
			positions := b.matrix("position_embd.weight", b.config.Context, b.config.Dim)
			return b.Add(b.tokens(), b.Position(positions))
		},
		layer: optLayer,
		norm:  (*block).layerNorm,
	})
}

func optLayer(b *block, x npu.Value) npu.Value {
	c := b.config
	h := b.layerNorm(x, "attn_norm")
	q := b.linear(h, "attn_q", c.Heads*c.HeadDim)
	k := b.linear(h, "attn_k", c.KVHeads*c.HeadDim)
	v := b.linear(h, "attn_v", c.KVHeads*c.HeadDim)
	x = b.Add(x, b.linear(b.attention(q, k, v), "attn_output", c.Dim))
	h = b.layerNorm(x, "ffn_norm")
	h = b.ReLU(b.linear(h, "ffn_up", c.FF))
	return b.Add(x, b.linear(h, "ffn_down", c.Dim))
}
