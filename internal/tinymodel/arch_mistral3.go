package tinymodel

import "tandem/model/gguf"

func init() {
	architectures["mistral3"] = architecture{
		meta: func(s Spec) []gguf.KV {
			list := llamaMeta(s)
			if s.YaRN != 0 {
				list = append(list, gguf.KV{Key: "attention.temperature_scale", Value: float32(0.1)},
					gguf.KV{Key: "rope.scaling.yarn_log_multiplier", Value: float32(1)})
			}
			return list
		},
		layer: llamaLayer, norm: (*list).rmsNorm,
	}
}
