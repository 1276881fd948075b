package convert

import (
	"encoding/json"
	"fmt"

	"tandem/model/gguf"
)

func init() {
	families["opt"] = &family{
		arch:   "opt",
		tied:   true,
		config: readOPT,
		meta: func(*hfConfig) []gguf.KV {
			return []gguf.KV{{Key: "attention.layer_norm_epsilon", Value: float32(1e-5)}}
		},
		tensors: optTensors,
	}
}

// readOPT reads OPT's own keys.
func readOPT(c *hfConfig, raw []byte) error {
	var own struct {
		FF          uint32 `json:"ffn_dim"`
		WordDim     uint32 `json:"word_embed_proj_dim"`
		NormBefore  *bool  `json:"do_layer_norm_before"`
		NoFinalNorm bool   `json:"_remove_final_layer_norm"`
		Act         string `json:"activation_function"`
		Bias        *bool  `json:"enable_bias"`
	}
	if err := json.Unmarshal(raw, &own); err != nil {
		return err
	}
	c.FF = own.FF
	switch {
	case own.Act != "relu":
		return fmt.Errorf("activation_function %.100q is not supported: want relu", own.Act)
	case own.WordDim != 0 && own.WordDim != c.Hidden:
		return fmt.Errorf("word_embed_proj_dim %d differs from hidden_size %d: OPT-350M is built that way, and not supported: use another size", own.WordDim, c.Hidden)
	case own.NormBefore != nil && !*own.NormBefore, own.NoFinalNorm:
		return fmt.Errorf("norms after the layers (do_layer_norm_before false) are not supported: use another size of OPT")
	case own.Bias != nil && !*own.Bias:
		return fmt.Errorf("enable_bias false is not supported")
	}
	return nil
}

// optTensors takes OPT's tensors. The first two learned positions are padding's and are left out.
func optTensors(p *plan) {
	c := p.config
	root := "model.decoder."
	if !p.has(root + "embed_tokens.weight") {
		root = "decoder."
	}
	p.take("token_embd.weight", root+"embed_tokens.weight", c.Vocab, c.Hidden)
	if t := p.take("position_embd.weight", root+"embed_positions.weight", c.Positions+2, c.Hidden); p.err == nil {
		t.data, t.shape[1] = t.data[2*t.typ.RowBytes(int(c.Hidden)):], uint64(c.Positions)
	}
	for i := range c.Layers {
		if p.err != nil {
			return
		}
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("%slayers.%d.", root, i)
		p.pair(to+"attn_norm", from+"self_attn_layer_norm", true, c.Hidden)
		p.pair(to+"attn_q", from+"self_attn.q_proj", true, c.Hidden, c.Hidden)
		p.pair(to+"attn_k", from+"self_attn.k_proj", true, c.Hidden, c.Hidden)
		p.pair(to+"attn_v", from+"self_attn.v_proj", true, c.Hidden, c.Hidden)
		p.pair(to+"attn_output", from+"self_attn.out_proj", true, c.Hidden, c.Hidden)
		p.pair(to+"ffn_norm", from+"final_layer_norm", true, c.Hidden)
		p.pair(to+"ffn_up", from+"fc1", true, c.FF, c.Hidden)
		p.pair(to+"ffn_down", from+"fc2", true, c.Hidden, c.FF)
	}
	p.pair("output_norm", root+"final_layer_norm", true, c.Hidden)
	p.output()
}
