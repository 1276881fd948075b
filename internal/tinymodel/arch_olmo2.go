package tinymodel

func init() {
	architectures["olmo2"] = architecture{
		defaults: func(s *Spec) { s.Untied = true }, // llama.cpp needs the output matrix
		meta:     llamaMeta, norm: (*list).rmsNorm,
		layer: func(l *list, prefix string) {
			l.vector(prefix+"attn_q_norm.weight", l.Heads*l.HeadDim, 1, 0.1)
			l.vector(prefix+"attn_k_norm.weight", l.KVHeads*l.HeadDim, 1, 0.1)
			l.attention(prefix, l.Bias)
			l.rmsNorm(prefix + "post_attention_norm")
			l.feed(prefix)
			l.rmsNorm(prefix + "post_ffw_norm")
		},
	}
}
