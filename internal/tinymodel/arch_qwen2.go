package tinymodel

func init() {
	architectures["qwen2"] = architecture{
		defaults: func(s *Spec) { s.Bias = true },
		meta:     llamaMeta, layer: llamaLayer, norm: (*list).rmsNorm,
	}
}
