package convert

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// Gemma, Gemma 2 and the text part of Gemma 3.
func init() {
	families["gemma"] = &family{
		arch: "gemma", tied: true,
		config:  func(c *hfConfig, raw []byte) error { return readGemma(c, raw, 1) },
		meta:    llamaMeta,
		tensors: func(p *plan) { p.gemma(1) },
	}
	families["gemma2"] = &family{
		arch: "gemma2", tied: true,
		config: func(c *hfConfig, raw []byte) error { return readGemma(c, raw, 2) },
		meta: func(c *hfConfig) []gguf.KV {
			return append(llamaMeta(c), gguf.KV{Key: "attention.sliding_window", Value: c.window()},
				gguf.KV{Key: "attn_logit_softcapping", Value: float32(c.gemma.ScoreCap)}, gguf.KV{Key: "final_logit_softcapping", Value: float32(c.gemma.LogitCap)})
		},
		tensors: func(p *plan) { p.gemma(2) },
	}
	three := &family{
		arch: "gemma3", tied: true,
		config: func(c *hfConfig, raw []byte) error { return readGemma(c, raw, 3) },
		meta: func(c *hfConfig) []gguf.KV {
			list := append(llamaMeta(c), gguf.KV{Key: "attention.sliding_window", Value: c.window()}, gguf.KV{Key: "rope.freq_base_swa", Value: float32(c.gemma.Local)})
			if c.gemma.LogitCap != 0 {
				list = append(list, gguf.KV{Key: "final_logit_softcapping", Value: float32(c.gemma.LogitCap)})
			}
			return list
		},
		tensors: func(p *plan) { p.gemma(3) },
	}
	families["gemma3_text"], families["gemma3"] = three, three
}

// gemmaConfig holds what Gemma's configurations have besides Llama's sizes.
type gemmaConfig struct {
	Act      string   `json:"hidden_activation"`
	Scale    float64  `json:"query_pre_attn_scalar"`
	ScoreCap float64  `json:"attn_logit_softcapping"` // 0 for none
	LogitCap float64  `json:"final_logit_softcapping"`
	Local    float64  `json:"rope_local_base_freq"` // of layers with a window
	Pattern  int      `json:"sliding_window_pattern"`
	Layers   []string `json:"layer_types"`
	BothWays bool     `json:"use_bidirectional_attention"`
	Rope     struct {
		Full  *ropeScaling `json:"full_attention"`
		Local *ropeScaling `json:"sliding_attention"`
	} `json:"rope_parameters"`
}

// readGemma reads the configuration of the first, second or third Gemma. What a file lacks is as the hub's library has it.
func readGemma(c *hfConfig, raw []byte, version int) error {
	g := &c.gemma
	*g = gemmaConfig{Scale: 256, Local: 10000, Pattern: 6}
	if version == 2 {
		g.ScoreCap, g.LogitCap = 50, 30
	}
	if err := json.Unmarshal(raw, g); err != nil {
		return err
	}
	if version == 3 {
		g.defaults(c)
	}
	if c.HeadDim == 0 {
		c.HeadDim = 256
	}
	if g.Act == "" {
		g.Act = c.Act
	}
	// The first Gemma's files say gelu and mean its approximation by tanh.
	if g.Act != "" && g.Act != "gelu_pytorch_tanh" && (version > 1 || g.Act != "gelu") {
		return fmt.Errorf("hidden_activation %.100q is not supported: want gelu_pytorch_tanh", g.Act)
	}
	if version > 1 {
		if err := g.check(c, version, raw); err != nil {
			return err
		}
	}
	return c.checkRope()
}

// defaults sets the sizes that files of Gemma 3 with vision leave out, and reads the newer form of the two rotations.
func (g *gemmaConfig) defaults(c *hfConfig) {
	for to, n := range map[*uint32]uint32{&c.Heads: 8, &c.KVHeads: 4, &c.Vocab: 262208, &c.Positions: 131072} {
		if *to == 0 {
			*to = n
		}
	}
	if g.Rope.Full != nil {
		c.Rope = g.Rope.Full
	}
	if r := g.Rope.Local; r != nil && r.Theta != nil {
		g.Local = *r.Theta
	}
	if c.Theta == nil && (c.Rope == nil || c.Rope.Theta == nil) {
		theta := 1e6
		c.Theta = &theta
	}
}

// check refuses what a GGUF file of the architecture cannot say: other layers with windows, and another scale of the scores.
func (g *gemmaConfig) check(c *hfConfig, version int, raw []byte) error {
	windowed := func(layer int) bool { return layer%2 == 0 }
	most := uint32(46) // layers of 27B, which scales by the width of the residual stream
	if version == 3 {
		windowed, most = func(layer int) bool { return layer%6 < 5 }, 62
		if g.Pattern != 6 {
			return fmt.Errorf("sliding_window_pattern %d is not supported: want 6", g.Pattern)
		}
	}
	if err := checkLayers(g.Layers, "sliding_attention", windowed); err != nil {
		return err
	}
	want := float64(c.HeadDim)
	if c.Layers == most && c.Heads > 0 {
		want = float64(c.Hidden) / float64(c.Heads)
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	none := func(key string) bool { return string(given[key]) == "null" }
	switch {
	case g.Scale != want:
		return fmt.Errorf("query_pre_attn_scalar %v is not supported: in this architecture's files it is %v", g.Scale, want)
	case version == 2 && (none("attn_logit_softcapping") || none("final_logit_softcapping") || !(g.ScoreCap > 0) || !(g.LogitCap > 0)):
		return fmt.Errorf("a configuration without attn_logit_softcapping and final_logit_softcapping is not supported with Gemma 2")
	case version == 3 && g.ScoreCap != 0:
		return fmt.Errorf("attn_logit_softcapping %v is not supported in Gemma 3", g.ScoreCap)
	case g.LogitCap < 0 || g.LogitCap > math.MaxFloat32:
		return fmt.Errorf("final_logit_softcapping %v is out of range", g.LogitCap)
	case version == 3 && !(g.Local > 1):
		return fmt.Errorf("rope_local_base_freq %v is out of range", g.Local)
	case g.BothWays:
		return fmt.Errorf("use_bidirectional_attention is not supported: that model is an encoder")
	}
	return nil
}

// checkLayers returns an error unless the layers of a type are those for which is says so. An empty list says nothing.
func checkLayers(types []string, typ string, is func(layer int) bool) error {
	for i, t := range types {
		if (t == typ) != is(i) {
			return fmt.Errorf("layer_types: layer %d is %.100q, which is not the order that the architecture's files have", i, t)
		}
	}
	return nil
}

// gemma takes the tensors of a version of Gemma.
func (p *plan) gemma(version int) {
	c := p.config
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
	for i := 0; i < int(c.Layers) && p.err == nil; i++ {
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
		norm := func(name, stored string, n uint32) { p.normPlusOne(to+name, from+stored, n) }
		norm("attn_norm.weight", "input_layernorm.weight", c.Hidden)
		p.attention(to, from+"self_attn.", "o_proj", q, kv)
		if version == 3 {
			norm("attn_q_norm.weight", "self_attn.q_norm.weight", c.HeadDim)
			norm("attn_k_norm.weight", "self_attn.k_norm.weight", c.HeadDim)
		}
		if version == 1 {
			norm("ffn_norm.weight", "post_attention_layernorm.weight", c.Hidden)
		} else {
			norm("post_attention_norm.weight", "post_attention_layernorm.weight", c.Hidden)
			norm("ffn_norm.weight", "pre_feedforward_layernorm.weight", c.Hidden)
			norm("post_ffw_norm.weight", "post_feedforward_layernorm.weight", c.Hidden)
		}
		p.feed(to, from)
	}
	p.normPlusOne("output_norm.weight", "model.norm.weight", c.Hidden)
	p.output()
}

// normPlusOne takes the weights of a norm that the hub's files store less one.
func (p *plan) normPlusOne(name, from string, n uint32) {
	t := p.take(name, from, n)
	if p.err != nil {
		return
	}
	values := make([]float32, n)
	if err := quant.Dequantize(t.typ, values, t.data); err != nil {
		p.err = err
		return
	}
	t.typ, t.data = npu.F32, make([]byte, 0, 4*len(values))
	for _, v := range values {
		t.data = binary.LittleEndian.AppendUint32(t.data, math.Float32bits(v+1))
	}
}
