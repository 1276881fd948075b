package convert

import "fmt"

func init() {
	families["qwen3"] = &family{
		arch:    "qwen3",
		pattern: qwenStages,
		config: func(c *hfConfig, raw []byte) error {
			if c.HeadDim == 0 {
				c.HeadDim = 128 // whatever the width
			}
			return readLlama(c, raw)
		},
		meta: llamaMeta,
		tensors: func(p *plan) {
			p.llama(false)
			for i := 0; i < int(p.config.Layers) && p.err == nil; i++ {
				to, from := fmt.Sprintf("blk.%d.attn_", i), fmt.Sprintf("model.layers.%d.self_attn.", i)
				p.take(to+"q_norm.weight", from+"q_norm.weight", p.config.HeadDim)
				p.take(to+"k_norm.weight", from+"k_norm.weight", p.config.HeadDim)
			}
		},
	}
}
