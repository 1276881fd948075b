package tinymodel

import "tandem/model/gguf"

// A mixture of experts with biases, and with sinks in its attention.
func init() {
	architectures["gpt-oss"] = architecture{
		defaults: func(s *Spec) {
			s.Untied = true
			if s.Window == 0 {
				s.Window = 12
			}
		},
		meta: func(s Spec) []gguf.KV {
			return append(withExpertWidth(llamaMeta)(s), gguf.KV{Key: "attention.sliding_window", Value: uint32(s.Window)})
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
