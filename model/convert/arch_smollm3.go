package convert

import (
	"encoding/json"
	"fmt"
)

func init() {
	families["smollm3"] = &family{
		arch:    "smollm3",
		tied:    true,
		config:  readSmolLM3,
		meta:    llamaMeta,
		tensors: func(p *plan) { p.llama(true) },
	}
}

// readSmolLM3 refuses other layers without positions than every fourth, which a GGUF file cannot tell.
func readSmolLM3(c *hfConfig, raw []byte) error {
	var positions struct {
		Interval *int  `json:"no_rope_layer_interval"`
		Layers   []int `json:"no_rope_layers"` // 0 for a layer without
	}
	if err := json.Unmarshal(raw, &positions); err != nil {
		return err
	}
	if n := positions.Interval; n != nil && *n != 4 && positions.Layers == nil {
		return fmt.Errorf("no_rope_layer_interval %d is not supported: want 4", *n)
	}
	for i, rotates := range positions.Layers {
		if (rotates == 0) != (i%4 == 3) {
			return fmt.Errorf("no_rope_layers: layer %d does not follow the order that is supported, every fourth layer without positions", i)
		}
	}
	return readLlama(c, raw)
}
