package tinymodel

import (
	"math"

	"tandem/model/gguf"
	"tandem/npu"
)

// withExperts adds the metadata of a mixture of experts to that of an architecture.
func withExperts(meta func(s Spec) []gguf.KV) func(s Spec) []gguf.KV {
	return func(s Spec) []gguf.KV {
		return append(meta(s), gguf.KV{Key: "expert_count", Value: uint32(s.Experts)}, gguf.KV{Key: "expert_used_count", Value: uint32(s.Used)})
	}
}

// withExpertWidth is withExperts, for architectures whose metadata name the width of an expert.
func withExpertWidth(meta func(s Spec) []gguf.KV) func(s Spec) []gguf.KV {
	return func(s Spec) []gguf.KV {
		return append(withExperts(meta)(s), gguf.KV{Key: "expert_feed_forward_length", Value: uint32(s.FF)})
	}
}

// Mixtures of experts.
func init() {
	architectures["qwen3moe"] = architecture{
		meta: withExpertWidth(llamaMeta), norm: (*list).rmsNorm,
		layer: func(l *list, prefix string) {
			l.vector(prefix+"attn_q_norm.weight", l.HeadDim, 1, 0.1)
			l.vector(prefix+"attn_k_norm.weight", l.HeadDim, 1, 0.1)
			l.rmsNorm(prefix + "attn_norm")
			l.attention(prefix, false)
			l.rmsNorm(prefix + "ffn_norm")
			l.experts(prefix, false)
		},
	}
	architectures["olmoe"] = architecture{
		meta: withExperts(llamaMeta), norm: (*list).rmsNorm,
		defaults: func(s *Spec) { s.Untied, s.KVHeads = true, s.Heads },
		layer: func(l *list, prefix string) {
			l.vector(prefix+"attn_q_norm.weight", l.Heads*l.HeadDim, 1, 0.1)
			l.vector(prefix+"attn_k_norm.weight", l.KVHeads*l.HeadDim, 1, 0.1)
			l.rmsNorm(prefix + "attn_norm")
			l.attention(prefix, false)
			l.rmsNorm(prefix + "ffn_norm")
			l.experts(prefix, false)
		},
	}
	architectures["granitemoe"] = architecture{
		meta: withExperts(graniteMeta), norm: (*list).rmsNorm,
		layer: func(l *list, prefix string) {
			l.rmsNorm(prefix + "attn_norm")
			l.attention(prefix, false)
			l.rmsNorm(prefix + "ffn_norm")
			l.experts(prefix, false)
		},
	}
}

// experts adds the matrices of a mixture of experts, with biases or without.
func (l *list) experts(prefix string, biases bool) {
	l.all = append(l.all, weights{prefix + "ffn_gate_inp.weight", npu.F32, l.Experts, l.Dim, 0, 1 / math.Sqrt(float64(l.Dim))})
	for _, m := range []struct {
		name       string
		rows, cols int
	}{{"ffn_gate_exps", l.FF, l.Dim}, {"ffn_up_exps", l.FF, l.Dim}, {"ffn_down_exps", l.Dim, l.FF}} {
		l.all = append(l.all, weights{prefix + m.name + ".weight", *l.Expert, l.Experts * m.rows, m.cols, 0, l.Gain / math.Sqrt(float64(m.cols))})
		if biases {
			l.all = append(l.all, weights{prefix + m.name + ".bias", npu.F32, l.Experts, m.rows, 0, 0.5})
		}
	}
	if biases {
		l.vector(prefix+"ffn_gate_inp.bias", l.Experts, 0, 0.5)
	}
}
