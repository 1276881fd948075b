package convert

import (
	"encoding/json"
	"fmt"
	"slices"

	"tandem/model/gguf"
)

func init() {
	families["lfm2"] = &family{
		arch: "lfm2", tied: true,
		config: readLFM2,
		meta: func(c *hfConfig) []gguf.KV {
			return append(llamaMeta(c), gguf.KV{Key: "shortconv.l_cache", Value: c.lfm2.Positions}, gguf.KV{Key: "vocab_size", Value: c.Vocab})
		},
		tensors: lfm2Tensors,
	}
}

// lfm2Config holds what LFM2's configurations have besides Llama's sizes.
type lfm2Config struct {
	FF         uint32   `json:"block_ff_dim"`
	Multiple   uint32   `json:"block_multiple_of"`
	Multiplier *float64 `json:"block_ffn_dim_multiplier"`
	Adjust     *bool    `json:"block_auto_adjust_ff_dim"`
	Positions  uint32   `json:"conv_L_cache"`
	Bias       bool     `json:"conv_bias"`
	Eps        *float64 `json:"norm_eps"`
	Layers     []string `json:"layer_types"`
	Attends    []int    `json:"full_attn_idxs"` // in older files, instead of layer_types
}

func readLFM2(c *hfConfig, raw []byte) error {
	f := &c.lfm2
	*f = lfm2Config{Multiple: 256, Positions: 3}
	if err := json.Unmarshal(raw, f); err != nil {
		return err
	}
	if f.Eps != nil {
		c.RMSEps = f.Eps
	}
	if c.Theta == nil && c.Rope == nil {
		theta := 1e6
		c.Theta = &theta
	}
	if f.FF != 0 {
		c.FF = f.FF
	}
	if f.Bias || f.Positions < 2 || f.Positions > 16 || f.Multiple == 0 || f.Multiple > maxDim || c.FF > maxDim || c.Layers > maxDim {
		return fmt.Errorf("conv_bias %v, conv_L_cache %d, block_multiple_of %d or block_ff_dim %d is not supported", f.Bias, f.Positions, f.Multiple, c.FF)
	}
	if f.Adjust == nil || *f.Adjust {
		width := float64(2 * c.FF / 3)
		if f.Multiplier != nil {
			width = float64(uint64(max(0, min(*f.Multiplier*width, maxDim))))
		}
		c.FF = (uint32(width) + f.Multiple - 1) / f.Multiple * f.Multiple
	}
	c.convolved = make([]bool, min(c.Layers, 1024)) // models have no more layers
	for i := range c.convolved {
		switch {
		case f.Layers == nil:
			c.convolved[i] = !slices.Contains(f.Attends, i)
		case i >= len(f.Layers) || f.Layers[i] != "conv" && f.Layers[i] != "full_attention":
			return fmt.Errorf("layer_types does not say of layer %d whether it is conv or full_attention", i)
		default:
			c.convolved[i] = f.Layers[i] == "conv"
		}
	}
	if int(c.Layers) > len(c.convolved) || !slices.Contains(c.convolved, false) {
		return fmt.Errorf("%d layers, none of which attends, are not supported", c.Layers)
	}
	return c.checkRope()
}

func lfm2Tensors(p *plan) {
	c := p.config
	p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
	for i := 0; i < int(c.Layers) && p.err == nil; i++ {
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
		p.take(to+"attn_norm.weight", from+"operator_norm.weight", c.Hidden)
		if c.convolved[i] {
			kernel := p.take(to+"shortconv.conv.weight", from+"conv.conv.weight", c.Hidden, 1, c.lfm2.Positions)
			kernel.shape = []uint64{uint64(c.lfm2.Positions), uint64(c.Hidden)}
			p.take(to+"shortconv.in_proj.weight", from+"conv.in_proj.weight", 3*c.Hidden, c.Hidden)
			p.take(to+"shortconv.out_proj.weight", from+"conv.out_proj.weight", c.Hidden, c.Hidden)
		} else {
			p.attention(to, from+"self_attn.", "out_proj", c.Heads*c.HeadDim, c.KVHeads*c.HeadDim)
			p.take(to+"attn_q_norm.weight", from+"self_attn.q_layernorm.weight", c.HeadDim)
			p.take(to+"attn_k_norm.weight", from+"self_attn.k_layernorm.weight", c.HeadDim)
		}
		p.take(to+"ffn_norm.weight", from+"ffn_norm.weight", c.Hidden)
		p.take(to+"ffn_gate.weight", from+"feed_forward.w1.weight", c.FF, c.Hidden)
		p.take(to+"ffn_down.weight", from+"feed_forward.w2.weight", c.Hidden, c.FF)
		p.take(to+"ffn_up.weight", from+"feed_forward.w3.weight", c.FF, c.Hidden)
	}
	p.take("token_embd_norm.weight", "model.embedding_norm.weight", c.Hidden)
	p.output()
}
