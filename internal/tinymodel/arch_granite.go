package tinymodel

import "tandem/model/gguf"

func init() {
	architectures["granite"] = architecture{meta: graniteMeta, layer: llamaLayer, norm: (*list).rmsNorm}
}

func graniteMeta(s Spec) []gguf.KV {
	return append(llamaMeta(s), gguf.KV{Key: "embedding_scale", Value: float32(12)}, gguf.KV{Key: "residual_scale", Value: float32(0.22)},
		gguf.KV{Key: "attention.scale", Value: float32(0.09)}, gguf.KV{Key: "logit_scale", Value: float32(8)})
}
