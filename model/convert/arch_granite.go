package convert

import (
	"encoding/json"
	"fmt"
	"math"

	"tandem/model/gguf"
)

func init() {
	families["granite"] = &family{
		arch:    "granite",
		config:  readGranite,
		meta:    graniteMeta,
		tensors: func(p *plan) { p.llama(true) },
	}
}

// graniteFactors are the factors that Granite's models have besides Llama's sizes. Those that config.json lacks are 1.
type graniteFactors struct {
	Embedding float64 `json:"embedding_multiplier"`
	Residual  float64 `json:"residual_multiplier"`
	Attention float64 `json:"attention_multiplier"`
	Logits    float64 `json:"logits_scaling"`
}

func readGranite(c *hfConfig, raw []byte) error {
	c.granite = graniteFactors{1, 1, 1, 1}
	if err := json.Unmarshal(raw, &c.granite); err != nil {
		return err
	}
	for _, f := range []float64{c.granite.Embedding, c.granite.Residual, c.granite.Attention, c.granite.Logits} {
		if !(f > 0 && f <= math.MaxFloat32) {
			return fmt.Errorf("the multipliers and logits_scaling must be positive numbers, but one is %v", f)
		}
	}
	return readLlama(c, raw)
}

func graniteMeta(c *hfConfig) []gguf.KV {
	f := c.granite
	return append(llamaMeta(c), gguf.KV{Key: "embedding_scale", Value: float32(f.Embedding)}, gguf.KV{Key: "residual_scale", Value: float32(f.Residual)},
		gguf.KV{Key: "attention.scale", Value: float32(f.Attention)}, gguf.KV{Key: "logit_scale", Value: float32(f.Logits)})
}
