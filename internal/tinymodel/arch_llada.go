package tinymodel

import "tandem/model/gguf"

func init() {
	architectures["llada"] = architecture{
		defaults: ownKeys,
		meta: func(s Spec) []gguf.KV {
			return append(llamaMeta(s), gguf.KV{Key: "attention.causal", Value: false})
		},
		layer: llamaLayer, norm: (*list).rmsNorm, diffusion: true,
	}
}
