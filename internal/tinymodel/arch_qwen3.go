package tinymodel

func init() {
	architectures["qwen3"] = architecture{
		meta: llamaMeta, norm: (*list).rmsNorm,
		layer: func(l *list, prefix string) {
			l.vector(prefix+"attn_q_norm.weight", l.HeadDim, 1, 0.1)
			l.vector(prefix+"attn_k_norm.weight", l.HeadDim, 1, 0.1)
			llamaLayer(l, prefix)
		},
	}
}
