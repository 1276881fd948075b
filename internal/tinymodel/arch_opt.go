package tinymodel

import "tandem/model/gguf"

func init() {
	architectures["opt"] = architecture{
		defaults: ownKeys,
		meta: func(Spec) []gguf.KV {
			return []gguf.KV{{Key: "attention.layer_norm_epsilon", Value: float32(1e-5)}}
		},
		embed: func(l *list) {
			l.all = append(l.all, weights{"position_embd.weight", l.Type, l.Context, l.Dim, 0, 0.3})
		},
		layer: optLayer,
		norm:  (*list).layerNorm,
	}
}

func optLayer(l *list, prefix string) {
	l.vector(prefix+"attn_norm.bias", l.Dim, 0, 0.1)
	l.vector(prefix+"attn_output.bias", l.Dim, 0, 0.1)
	l.vector(prefix+"ffn_norm.bias", l.Dim, 0, 0.1)
	l.vector(prefix+"ffn_up.bias", l.FF, 0, 0.1)
	l.vector(prefix+"ffn_down.bias", l.Dim, 0, 0.1)
	l.rmsNorm(prefix + "attn_norm")
	l.attention(prefix, true)
	l.rmsNorm(prefix + "ffn_norm")
	l.matrix(prefix+"ffn_up.weight", l.FF, l.Dim)
	l.matrix(prefix+"ffn_down.weight", l.Dim, l.FF)
}
