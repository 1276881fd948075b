package tinymodel

import (
	"math"

	"tandem/model/gguf"
	"tandem/npu"
)

// Mixtures of experts. Those of gpt-oss have biases, and its attention sinks.
func init() {
	withExperts := func(meta func(s Spec) []gguf.KV) func(s Spec) []gguf.KV {
		return func(s Spec) []gguf.KV {
			return append(meta(s), gguf.KV{Key: "expert_count", Value: uint32(s.Experts)}, gguf.KV{Key: "expert_used_count", Value: uint32(s.Used)})
		}
	}
	withWidth := func(meta func(s Spec) []gguf.KV) func(s Spec) []gguf.KV {
		return func(s Spec) []gguf.KV {
			return append(withExperts(meta)(s), gguf.KV{Key: "expert_feed_forward_length", Value: uint32(s.FF)})
		}
	}
	architectures["qwen3moe"] = architecture{
		meta: withWidth(llamaMeta), norm: (*list).rmsNorm,
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
	architectures["gpt-oss"] = architecture{
		defaults: func(s *Spec) {
			s.Untied = true
			if s.Window == 0 {
				s.Window = 12
			}
		},
		meta: func(s Spec) []gguf.KV {
			return append(withWidth(llamaMeta)(s), gguf.KV{Key: "attention.sliding_window", Value: uint32(s.Window)})
		},
		norm: (*list).rmsNorm,
		layer: func(l *list, prefix string) {
			l.rmsNorm(prefix + "attn_norm")
			l.attention(prefix, true)
			l.vector(prefix+"attn_output.bias", l.Dim, 0, 0.5)
			l.vector(prefix+"attn_sinks.weight", l.Heads, 0, 1)
			l.rmsNorm(prefix + "post_attention_norm")
			l.experts(prefix, true)
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
