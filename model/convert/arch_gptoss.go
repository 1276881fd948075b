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

func init() {
	families["gpt_oss"] = &family{
		arch:   "gpt-oss",
		config: readGPTOSS,
		meta: func(c *hfConfig) []gguf.KV {
			return append(llamaMeta(c), gguf.KV{Key: "expert_count", Value: c.oss.Experts}, gguf.KV{Key: "expert_used_count", Value: c.oss.used()},
				gguf.KV{Key: "expert_feed_forward_length", Value: c.FF}, gguf.KV{Key: "attention.sliding_window", Value: c.window()})
		},
		tensors: gptOSSTensors,
	}
}

// gptOSSConfig holds what gpt-oss's configurations have besides Llama's sizes.
type gptOSSConfig struct {
	Experts uint32   `json:"num_local_experts"`
	Used    uint32   `json:"num_experts_per_tok"`
	OldUsed uint32   `json:"experts_per_token"`
	Layers  []string `json:"layer_types"`
	Limit   *float64 `json:"swiglu_limit"`
}

func (f *gptOSSConfig) used() uint32 {
	if f.Used == 0 {
		return f.OldUsed
	}
	return f.Used
}

func readGPTOSS(c *hfConfig, raw []byte) error {
	f := &c.oss
	if err := json.Unmarshal(raw, f); err != nil {
		return err
	}
	if c.HeadDim == 0 {
		c.HeadDim = 64
	}
	switch {
	case f.Experts == 0 || f.Experts > 4096 || f.used() == 0 || f.used() > f.Experts:
		return fmt.Errorf("%d of %d experts for a token: out of range", f.used(), f.Experts)
	case uint64(f.Experts)*uint64(c.FF) > 1<<30 || uint64(f.Experts)*uint64(c.Hidden) > 1<<30:
		return fmt.Errorf("%d experts of width %d are too many", f.Experts, c.FF)
	case f.Limit != nil && *f.Limit != 7:
		return fmt.Errorf("swiglu_limit %v is not supported: want 7", *f.Limit)
	case c.Window == nil || *c.Window == 0:
		return fmt.Errorf("sliding_window is missing")
	}
	if err := checkLayers(f.Layers, "sliding_attention", func(layer int) bool { return layer%2 == 0 }); err != nil {
		return err
	}
	return readLlama(c, raw)
}

// gptOSSTensors takes gpt-oss's tensors. The files hold the experts' matrices in MXFP4, or in 16 bits with rows and columns
// exchanged. Rows of the gate and of what it lets through alternate.
func gptOSSTensors(p *plan) {
	c, n := p.config, p.config.oss.Experts
	p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
	for i := 0; i < int(c.Layers) && p.err == nil; i++ {
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
		p.take(to+"attn_norm.weight", from+"input_layernorm.weight", c.Hidden)
		p.attention(to, from+"self_attn.", "o_proj", c.Heads*c.HeadDim, c.KVHeads*c.HeadDim)
		p.take(to+"attn_sinks.weight", from+"self_attn.sinks", c.Heads)
		p.take(to+"post_attention_norm.weight", from+"post_attention_layernorm.weight", c.Hidden)
		p.pair(to+"ffn_gate_inp", from+"mlp.router", true, n, c.Hidden)
		from += "mlp.experts."
		p.experts(to+"ffn_gate_exps", from+"gate_up_proj", 2, 0, c.FF, c.Hidden)
		p.experts(to+"ffn_up_exps", from+"gate_up_proj", 2, 1, c.FF, c.Hidden)
		p.experts(to+"ffn_down_exps", from+"down_proj", 1, 0, c.Hidden, c.FF)
	}
	p.take("output_norm.weight", "model.norm.weight", c.Hidden)
	p.output()
}

// experts takes every step-th row, from first on, of all experts' matrices [rows·step × cols], and of their biases.
func (p *plan) experts(name, from string, step, first int, rows, cols uint32) {
	n, all := p.config.oss.Experts, rows*uint32(step)
	at := func(row int) (expert, stored int) { return row / int(rows), row%int(rows)*step + first }
	if p.has(from + "_blocks") {
		p.mxfp4(name+".weight", from, all, cols, at)
	} else {
		t := p.take(name+".weight", from, n, cols, all)
		typ, data := t.typ, t.data
		t.data, t.values = nil, func(dst []float32, row int) error {
			expert, column := at(row)
			size := typ.RowBytes(1)
			for i := range dst {
				if err := quant.Dequantize(typ, dst[i:i+1], data[((expert*int(cols)+i)*int(all)+column)*size:][:size]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	p.list[len(p.list)-1].shape = []uint64{uint64(cols), uint64(rows), uint64(n)}
	t := p.take(name+".bias", from+"_bias", n, all)
	if p.err != nil {
		return
	}
	bias := make([]float32, n*all)
	if err := quant.Dequantize(t.typ, bias, t.data); err != nil {
		p.err = err
		return
	}
	t.typ, t.data, t.shape = npu.F32, make([]byte, 0, 4*n*rows), []uint64{uint64(rows), uint64(n)}
	for row := range int(n * rows) {
		expert, stored := at(row)
		t.data = binary.LittleEndian.AppendUint32(t.data, math.Float32bits(bias[expert*int(all)+stored]))
	}
}

// mxfp4 takes matrices in blocks of 32 four-bit floats with an exponent each. A byte of the hub's files holds two neighbours, and
// one of GGUF's file numbers that are half a block apart.
func (p *plan) mxfp4(name, from string, rows, cols uint32, at func(row int) (expert, stored int)) {
	const block, half = 32, 16
	n, blocks := p.config.oss.Experts, cols/block
	if cols%block != 0 && p.err == nil {
		p.err = fmt.Errorf("tensor %q: rows of %d are not whole blocks of %d", from, cols, block)
	}
	values, scales := p.bytes(from+"_blocks", n, rows, blocks, half), p.bytes(from+"_scales", n, rows, blocks)
	p.list = append(p.list, tensor{name: name, typ: npu.MXFP4, blocks: func(out []byte, row int) {
		expert, stored := at(row)
		first := (expert*int(rows) + stored) * int(blocks)
		for b := range int(blocks) {
			out[0] = scales[first+b]
			in := values[(first+b)*half:][:half]
			for i := range half {
				out[1+i] = nibble(in, i) | nibble(in, i+half)<<4
			}
			out = out[1+half:]
		}
	}})
}

// nibble returns number i of bytes that hold two each, the lower bits first.
func nibble(b []byte, i int) byte { return b[i/2] >> (4 * (i % 2)) & 15 }

// bytes returns the data of a stored tensor of bytes, which must have the given shape.
func (p *plan) bytes(from string, shape ...uint32) []byte {
	stored, ok := p.shards.tensors[from]
	p.used[from] = true
	size := 1
	matches := len(stored.Shape) == len(shape)
	for i, n := range shape {
		size *= int(n)
		matches = matches && stored.Shape[i] == uint64(n)
	}
	switch {
	case p.err != nil:
	case !ok:
		p.err = fmt.Errorf("tensor %q is missing", from)
	case !matches || len(stored.Data) != size:
		p.err = fmt.Errorf("tensor %q has shape %d and %d bytes, but the configuration requires bytes in shape %d", from, stored.Shape, len(stored.Data), shape)
	}
	return stored.Data
}
