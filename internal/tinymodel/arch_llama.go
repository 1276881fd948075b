package tinymodel

import "tandem/model/gguf"

func init() {
	architectures["llama"] = architecture{meta: llamaMeta, layer: llamaLayer, norm: (*list).rmsNorm}
}

func llamaMeta(s Spec) []gguf.KV {
	return []gguf.KV{
		{Key: "attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "rope.freq_base", Value: float32(s.RopeBase)},
	}
}

func llamaLayer(l *list, prefix string) {
	l.rmsNorm(prefix + "attn_norm")
	l.attention(prefix, l.Bias)
	l.rmsNorm(prefix + "ffn_norm")
	l.feed(prefix)
}

// feed adds the matrices of a gated feed-forward layer.
func (l *list) feed(prefix string) {
	l.matrix(prefix+"ffn_gate.weight", l.FF, l.Dim)
	l.matrix(prefix+"ffn_up.weight", l.FF, l.Dim)
	l.matrix(prefix+"ffn_down.weight", l.Dim, l.FF)
}
