package tinymodel

import "tandem/model/gguf"

func init() {
	layer := func(post, heads bool) func(l *list, prefix string) {
		return func(l *list, prefix string) {
			if heads {
				l.vector(prefix+"attn_q_norm.weight", l.HeadDim, 1, 0.1)
				l.vector(prefix+"attn_k_norm.weight", l.HeadDim, 1, 0.1)
			}
			llamaLayer(l, prefix)
			if post {
				l.rmsNorm(prefix + "post_attention_norm")
				l.rmsNorm(prefix + "post_ffw_norm")
			}
		}
	}
	window := func(s Spec) []gguf.KV {
		if s.Window == 0 {
			s.Window = 12
		}
		return append(llamaMeta(s), gguf.KV{Key: "attention.sliding_window", Value: uint32(s.Window)})
	}
	tied := func(s *Spec) { s.Untied = false } // llama.cpp knows no output matrix
	architectures["gemma"] = architecture{defaults: tied, meta: llamaMeta, layer: layer(false, false), norm: (*list).rmsNorm}
	architectures["gemma2"] = architecture{
		defaults: tied,
		meta: func(s Spec) []gguf.KV {
			return append(window(s), gguf.KV{Key: "attn_logit_softcapping", Value: float32(5)}, gguf.KV{Key: "final_logit_softcapping", Value: float32(3)})
		},
		layer: layer(true, false), norm: (*list).rmsNorm,
	}
	architectures["gemma3"] = architecture{
		defaults: func(s *Spec) {
			tied(s)
			if s.Layers == 0 {
				s.Layers = 6 // the last has no window
			}
		},
		meta: window, layer: layer(true, true), norm: (*list).rmsNorm,
	}
}
