package convert

import (
	"encoding/json"
	"fmt"
	"math"

	"tandem/model/gguf"
)

// Phi-3, Phi-3.5 and Phi-4-mini. Their window limits the context, as Mistral's does.
func init() {
	families["phi3"] = &family{
		arch: "phi3", windowed: true,
		config:  readPhi3,
		meta:    phi3Meta,
		tensors: phi3Tensors,
	}
}

// phi3Config holds LongRoPE's two sets of factors, for contexts of the first training's length and for longer ones.
type phi3Config struct {
	Partial  *float64 `json:"partial_rotary_factor"`
	Original float64  `json:"original_max_position_embeddings"`
	Scaling  *struct {
		ropeScaling
		Short []float32 `json:"short_factor"`
		Long  []float32 `json:"long_factor"`
	} `json:"rope_scaling"`
}

func readPhi3(c *hfConfig, raw []byte) error {
	f := &c.phi3
	if err := json.Unmarshal(raw, f); err != nil {
		return err
	}
	if c.HeadDim == 0 && c.Heads > 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	c.rotary = c.HeadDim
	if f.Partial != nil {
		if !(*f.Partial > 0 && *f.Partial <= 1) {
			return fmt.Errorf("partial_rotary_factor %v is out of range", *f.Partial)
		}
		if c.rotary = uint32(float64(c.HeadDim) * *f.Partial); c.rotary == 0 || c.rotary%2 != 0 {
			return fmt.Errorf("partial_rotary_factor %v rotates %d elements of a head: they must be pairs", *f.Partial, c.rotary)
		}
	}
	if f.Scaling == nil {
		return readLlama(c, raw)
	}
	switch kind := f.Scaling.kind(); kind {
	case "longrope", "su": // two names of one
	default:
		return fmt.Errorf("rope_scaling of type %.100q is not supported with Phi-3: want longrope", kind)
	}
	if f.Scaling.Original != 0 {
		f.Original = f.Scaling.Original
	}
	c.Scaling = nil
	switch n := int(c.rotary / 2); {
	case len(f.Scaling.Short) != n || len(f.Scaling.Long) != n:
		return fmt.Errorf("rope_scaling has %d and %d factors, but heads have %d rotated pairs", len(f.Scaling.Short), len(f.Scaling.Long), n)
	case !(f.Original >= 2 && f.Original <= 1<<24) || f.Original != math.Trunc(f.Original):
		return fmt.Errorf("original_max_position_embeddings %v is out of range", f.Original)
	}
	for _, list := range [][]float32{f.Scaling.Short, f.Scaling.Long} {
		for _, v := range list {
			if !(v > 0) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("rope_scaling: a factor is %v", v)
			}
		}
	}
	return readLlama(c, raw)
}

func phi3Meta(c *hfConfig) []gguf.KV {
	f, list := c.phi3, llamaMeta(c)
	if f.Scaling == nil {
		return list
	}
	magnitude := 1.0
	if by := float64(c.Positions) / f.Original; f.Scaling.Magnitude != nil {
		magnitude = *f.Scaling.Magnitude
	} else if by > 1 {
		magnitude = math.Sqrt(1 + math.Log(by)/math.Log(f.Original))
	}
	return append(list, gguf.KV{Key: "rope.scaling.type", Value: "longrope"}, gguf.KV{Key: "rope.scaling.attn_factor", Value: float32(magnitude)},
		gguf.KV{Key: "rope.scaling.original_context_length", Value: uint32(f.Original)})
}

// phi3Tensors takes Phi-3's tensors: one matrix holds queries, keys and values, and one the gate and what it lets through.
func phi3Tensors(p *plan) {
	c := p.config
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
	if s := c.phi3.Scaling; s != nil {
		p.factors("rope_factors_long.weight", s.Long)
		p.factors("rope_factors_short.weight", s.Short)
	}
	for i := 0; i < int(c.Layers) && p.err == nil; i++ {
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
		p.take(to+"attn_norm.weight", from+"input_layernorm.weight", c.Hidden)
		p.take(to+"attn_qkv.weight", from+"self_attn.qkv_proj.weight", q+2*kv, c.Hidden)
		p.take(to+"attn_output.weight", from+"self_attn.o_proj.weight", c.Hidden, q)
		p.take(to+"ffn_norm.weight", from+"post_attention_layernorm.weight", c.Hidden)
		p.take(to+"ffn_up.weight", from+"mlp.gate_up_proj.weight", 2*c.FF, c.Hidden)
		p.take(to+"ffn_down.weight", from+"mlp.down_proj.weight", c.Hidden, c.FF)
	}
	p.take("output_norm.weight", "model.norm.weight", c.Hidden)
	p.output()
}
