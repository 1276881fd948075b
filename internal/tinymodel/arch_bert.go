package tinymodel

import (
	"tandem/model/gguf"
	"tandem/npu"
)

// pooling is that of a mean or, with a classification head, of a rank.
func pooling(s Spec) uint32 {
	if len(s.Labels) > 0 {
		return 4
	}
	return 1
}

func init() {
	architectures["bert"] = bert()
	architectures["modern-bert"] = modernBERT()
	architectures["nomic-bert"] = nomicBERT()
}

func bertMeta(s Spec) []gguf.KV {
	return []gguf.KV{{Key: "attention.layer_norm_epsilon", Value: float32(1e-5)}, {Key: "attention.causal", Value: false},
		{Key: "pooling_type", Value: pooling(s)}, {Key: "rope.freq_base", Value: float32(s.RopeBase)}}
}

func bert() architecture {
	return architecture{
		defaults: ownKeys, meta: bertMeta, encoder: true,
		dense: func(l *list) {
			l.matrix("cls.weight", l.Dim, l.Dim)
			l.vector("cls.bias", l.Dim, 0, 0.1)
		},
		embed: func(l *list) {
			l.all = append(l.all, weights{"position_embd.weight", npu.F32, l.Context, l.Dim, 0, 0.3})
			l.all = append(l.all, weights{"token_types.weight", npu.F32, 2, l.Dim, 0, 0.3})
			l.layerNorm("token_embd_norm")
		},
		layer: func(l *list, prefix string) {
			l.attention(prefix, true)
			l.vector(prefix+"attn_output.bias", l.Dim, 0, 0.1)
			l.layerNorm(prefix + "attn_output_norm")
			l.matrix(prefix+"ffn_up.weight", l.FF, l.Dim)
			l.vector(prefix+"ffn_up.bias", l.FF, 0, 0.1)
			l.matrix(prefix+"ffn_down.weight", l.Dim, l.FF)
			l.vector(prefix+"ffn_down.bias", l.Dim, 0, 0.1)
			l.layerNorm(prefix + "layer_output_norm")
		},
	}
}

func modernBERT() architecture {
	return architecture{
		defaults: func(s *Spec) {
			ownKeys(s)
			if s.Window == 0 {
				s.Window = 12
			}
		},
		meta: func(s Spec) []gguf.KV {
			return append(bertMeta(s), gguf.KV{Key: "attention.sliding_window", Value: uint32(s.Window)}, gguf.KV{Key: "rope.freq_base_swa", Value: float32(1000)})
		},
		norm: (*list).rmsNorm, encoder: true,
		dense: func(l *list) {
			l.matrix("cls.weight", l.Dim, l.Dim)
			l.rmsNorm("cls.norm")
		},
		embed: func(l *list) { l.rmsNorm("token_embd_norm") },
		layer: func(l *list, prefix string) {
			if l.index > 0 {
				l.rmsNorm(prefix + "attn_norm")
			}
			l.matrix(prefix+"attn_qkv.weight", (l.Heads+2*l.KVHeads)*l.HeadDim, l.Dim)
			l.matrix(prefix+"attn_output.weight", l.Dim, l.Heads*l.HeadDim)
			l.rmsNorm(prefix + "ffn_norm")
			l.matrix(prefix+"ffn_up.weight", 2*l.FF, l.Dim)
			l.matrix(prefix+"ffn_down.weight", l.Dim, l.FF)
		},
	}
}

func nomicBERT() architecture {
	return architecture{
		defaults: ownKeys, meta: bertMeta, encoder: true,
		embed: func(l *list) {
			l.all = append(l.all, weights{"token_types.weight", npu.F32, 2, l.Dim, 0, 0.3})
			l.layerNorm("token_embd_norm")
		},
		layer: func(l *list, prefix string) {
			l.matrix(prefix+"attn_qkv.weight", (l.Heads+2*l.KVHeads)*l.HeadDim, l.Dim)
			l.matrix(prefix+"attn_output.weight", l.Dim, l.Heads*l.HeadDim)
			l.layerNorm(prefix + "attn_output_norm")
			l.feed(prefix)
			l.layerNorm(prefix + "layer_output_norm")
		},
	}
}
