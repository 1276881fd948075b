package convert

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"tandem/model/gguf"
	"tandem/npu"
)

func init() {
	llama := family{
		arch:   "llama",
		config: readLlama,
		meta: func(c *hfConfig) []gguf.KV {
			return append(llamaMeta(c), gguf.KV{Key: "vocab_size", Value: c.Vocab})
		},
		tensors: func(p *plan) { p.llama(true) },
	}
	families["llama"] = &llama

	mistral := llama
	mistral.windowed = true
	families["mistral"] = &mistral
}

// readLlama reads what Llama and its relatives share.
func readLlama(c *hfConfig, _ []byte) error {
	if c.Act != "silu" && c.Act != "" {
		return fmt.Errorf("hidden_act %.100q is not supported: want silu", c.Act)
	}
	return c.checkRope()
}

func llamaMeta(c *hfConfig) []gguf.KV {
	eps := 1e-6
	if c.RMSEps != nil {
		eps = *c.RMSEps
	}
	list := []gguf.KV{
		{Key: "attention.layer_norm_rms_epsilon", Value: float32(eps)},
		{Key: "rope.freq_base", Value: float32(c.theta())},
		{Key: "rope.dimension_count", Value: cmp.Or(c.rotary, c.HeadDim)},
	}
	if c.HeadDim*c.Heads != c.Hidden {
		list = append(list, gguf.KV{Key: "attention.key_length", Value: c.HeadDim}, gguf.KV{Key: "attention.value_length", Value: c.HeadDim})
	}
	return append(list, c.scalingMeta()...)
}

// llama takes the tensors of Llama and its relatives. In the hub's files all of them rotate element i of a head
// with i+n/2; with adjacent, the GGUF file's architecture rotates 2i with 2i+1, and the rows are reordered.
func (p *plan) llama(adjacent bool) {
	c := p.config
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	rotated := func(name, from string, heads uint32) {
		w, bias := p.pair(name, from, false, heads*c.HeadDim, c.Hidden)
		if adjacent {
			p.adjacent(w, bias)
		}
	}
	p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
	p.ropeFactors()
	for i := range c.Layers {
		if p.err != nil {
			return // a configuration with more layers than the files ends here
		}
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
		p.take(to+"attn_norm.weight", from+"input_layernorm.weight", c.Hidden)
		rotated(to+"attn_q", from+"self_attn.q_proj", c.Heads)
		rotated(to+"attn_k", from+"self_attn.k_proj", c.KVHeads)
		p.pair(to+"attn_v", from+"self_attn.v_proj", false, kv, c.Hidden)
		p.pair(to+"attn_output", from+"self_attn.o_proj", false, c.Hidden, q)
		p.take(to+"ffn_norm.weight", from+"post_attention_layernorm.weight", c.Hidden)
		p.feed(to, from)
	}
	p.take("output_norm.weight", "model.norm.weight", c.Hidden)
	p.output()
}

// attention takes the matrices of a layer's attention, q and kv elements wide, whose rows stay in the order of the hub's files.
func (p *plan) attention(to, from, output string, q, kv uint32) {
	p.pair(to+"attn_q", from+"q_proj", false, q, p.config.Hidden)
	p.pair(to+"attn_k", from+"k_proj", false, kv, p.config.Hidden)
	p.pair(to+"attn_v", from+"v_proj", false, kv, p.config.Hidden)
	p.pair(to+"attn_output", from+output, false, p.config.Hidden, q)
}

// feed takes the matrices of a layer's feed-forward part.
func (p *plan) feed(to, from string) {
	c := p.config
	p.take(to+"ffn_gate.weight", from+"mlp.gate_proj.weight", c.FF, c.Hidden)
	p.take(to+"ffn_up.weight", from+"mlp.up_proj.weight", c.FF, c.Hidden)
	p.take(to+"ffn_down.weight", from+"mlp.down_proj.weight", c.Hidden, c.FF)
}

// ropeFactors adds what the frequencies of Llama 3's scaling are divided by, if the model has it.
func (p *plan) ropeFactors() {
	if factors := p.config.ropeFactors(); factors != nil {
		p.factors("rope_freqs.weight", factors)
	}
}

// factors adds what frequencies are divided by.
func (p *plan) factors(name string, factors []float32) {
	b := make([]byte, 4*len(factors))
	for i, f := range factors {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(f))
	}
	p.list = append(p.list, tensor{name: name, shape: []uint64{uint64(len(factors))}, typ: npu.F32, data: b})
}

// adjacent reorders the rows of half-split heads to adjacent ones.
func (p *plan) adjacent(tensors ...*tensor) {
	size := int(p.config.HeadDim)
	for _, t := range tensors {
		switch {
		case t == nil || p.err != nil:
		case len(t.shape) == 1:
			t.data = reorder(t.data, t.typ.RowBytes(1), size)
		default:
			t.row = func(row int) int { return HalfSplit(row, size) }
		}
	}
}

// HalfSplit returns the row of a matrix with half-split heads, the order of the hub's files, that belongs at the given row of
// the same matrix with adjacent rotary pairs, the order of llama's GGUF files. size is the width of a head.
func HalfSplit(row, size int) int {
	head, at := row/size*size, row%size
	return head + at%2*(size/2) + at/2
}

// reorder does the same with the elements of a vector.
func reorder(data []byte, width, size int) []byte {
	out := make([]byte, 0, len(data))
	for i := range len(data) / width {
		out = append(out, data[HalfSplit(i, size)*width:][:width]...)
	}
	return out
}
