package tinymodel

import (
	"math"

	"tandem/model/gguf"
	"tandem/npu"
)

// lfm2Positions is how many positions a short convolution takes.
const lfm2Positions = 3

func init() {
	convolves := func(layer int) bool { return layer%3 != 1 }
	architectures["lfm2"] = architecture{
		convolves: convolves,
		meta: func(s Spec) []gguf.KV {
			return append(llamaMeta(s), gguf.KV{Key: "shortconv.l_cache", Value: uint32(lfm2Positions)})
		},
		norm: func(l *list, _ string) { l.rmsNorm("token_embd_norm") },
		layer: func(l *list, prefix string) {
			l.rmsNorm(prefix + "attn_norm")
			if convolves(l.index) {
				l.all = append(l.all, weights{prefix + "shortconv.conv.weight", npu.F32, l.Dim, lfm2Positions, 0, 1 / math.Sqrt(lfm2Positions)})
				l.matrix(prefix+"shortconv.in_proj.weight", 3*l.Dim, l.Dim)
				l.matrix(prefix+"shortconv.out_proj.weight", l.Dim, l.Dim)
			} else {
				l.attention(prefix, false)
				l.vector(prefix+"attn_q_norm.weight", l.HeadDim, 1, 0.1)
				l.vector(prefix+"attn_k_norm.weight", l.HeadDim, 1, 0.1)
			}
			l.rmsNorm(prefix + "ffn_norm")
			l.feed(prefix)
		},
	}
}
