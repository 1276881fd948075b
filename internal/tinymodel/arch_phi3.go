package tinymodel

import "tandem/model/gguf"

func init() {
	architectures["phi3"] = architecture{
		defaults: func(s *Spec) { s.Untied = true },
		title:    "tiny", // llama.cpp expects certain tokens of a file with phi3 in its name
		longRope: true,
		meta: func(s Spec) []gguf.KV {
			list := llamaMeta(s)
			if s.Factors {
				list = append(list, gguf.KV{Key: "rope.scaling.type", Value: "longrope"}, gguf.KV{Key: "rope.scaling.attn_factor", Value: float32(1.19)},
					gguf.KV{Key: "rope.scaling.original_context_length", Value: uint32(s.Context)})
			}
			return list
		},
		norm: (*list).rmsNorm,
		layer: func(l *list, prefix string) {
			l.rmsNorm(prefix + "attn_norm")
			l.matrix(prefix+"attn_qkv.weight", (l.Heads+2*l.KVHeads)*l.HeadDim, l.Dim)
			l.matrix(prefix+"attn_output.weight", l.Dim, l.Heads*l.HeadDim)
			l.rmsNorm(prefix + "ffn_norm")
			l.matrix(prefix+"ffn_up.weight", 2*l.FF, l.Dim)
			l.matrix(prefix+"ffn_down.weight", l.Dim, l.FF)
		},
	}
}
