package tinymodel

func init() {
	architectures["smollm3"] = architecture{
		defaults: func(s *Spec) {
			if s.Layers == 0 {
				s.Layers = 5 // the fourth has no positions
			}
		},
		meta: llamaMeta, layer: llamaLayer, norm: (*list).rmsNorm,
	}
}
