package convert

import (
	"fmt"

	"tandem/model/gguf"
)

// Mistral 3 and Ministral 3, of which the text part is converted.
func init() {
	three := &family{
		arch:   "mistral3",
		config: readMistral3,
		meta: func(c *hfConfig) []gguf.KV {
			list := append(llamaMeta(c), gguf.KV{Key: "vocab_size", Value: c.Vocab})
			if s := c.Scaling; s.kind() == "yarn" && s.Temperature != 0 {
				list = append(list, gguf.KV{Key: "attention.temperature_scale", Value: float32(s.Temperature)})
			}
			return list
		},
		tensors: func(p *plan) { p.llama(true) },
	}
	families["mistral3"], families["ministral3"] = three, three
}

func readMistral3(c *hfConfig, raw []byte) error {
	if err := readLlama(c, raw); err != nil {
		return err
	}
	s := c.Scaling
	if s.kind() != "yarn" {
		if s != nil && s.Temperature != 0 {
			return fmt.Errorf("rope_parameters: llama_4_scaling_beta %v without yarn is not supported", s.Temperature)
		}
		return nil
	}
	if s.Temperature < 0 || s.Temperature > 1e6 {
		return fmt.Errorf("rope_parameters: llama_4_scaling_beta %v is out of range", s.Temperature)
	}
	return nil
}
