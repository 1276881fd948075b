package convert

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"tandem/model/gguf"
	"tandem/npu"
)

// Convert makes a GGUF file at out of the Hugging Face model in dir: Llama (and Mistral), Qwen2 or OPT. A
// Scheme without a name keeps the types of the weights as they are.
func Convert(ctx context.Context, dir, out string, opt Options) (*Report, error) {
	c, err := readHFConfig(dir)
	if err != nil {
		return nil, err
	}
	vocabulary, err := readTokenizer(dir, c)
	if err != nil {
		return nil, err
	}
	s, err := openShards(dir)
	if err != nil {
		return nil, err
	}
	r, err := convert(ctx, dir, out, c, vocabulary, s, opt)
	return r, errors.Join(err, s.close())
}

func convert(ctx context.Context, dir, out string, c *hfConfig, vocabulary []gguf.KV, s *shards, opt Options) (*Report, error) {
	p := plan{config: c, shards: s, used: map[string]bool{}}
	tensors, err := p.tensors()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	meta := append(c.meta(filepath.Base(absolute)), vocabulary...)
	if opt.Scheme.name == "" {
		opt.Scheme = asStored(tensors)
	}
	opt.Scheme.choose(tensors)
	return writeFile(ctx, out, setScheme(meta, opt.Scheme), tensors, opt.Progress)
}

// asStored returns the scheme of the type that most matrices have.
func asStored(tensors []tensor) Scheme {
	count := map[npu.DType]int{}
	for _, t := range tensors {
		if len(t.shape) > 1 {
			count[t.typ]++
		}
	}
	best := schemes[0]
	for _, s := range schemes {
		if s.floats() && count[s.matrix] > count[best.matrix] {
			best = s
		}
	}
	return best
}

// A plan finds the tensors of an architecture among the stored ones and keeps the first error.
type plan struct {
	config *hfConfig
	shards *shards
	used   map[string]bool
	list   []tensor
	err    error
}

// take adds the stored tensor `from`, which must have the given shape (slowest size first), under its new
// name.
func (p *plan) take(name, from string, shape ...uint32) *tensor {
	t := tensor{name: name}
	stored, ok := p.shards.tensors[from]
	p.used[from] = true
	wide := make([]uint64, len(shape))
	for i, n := range shape {
		wide[i] = uint64(n)
		t.shape = append([]uint64{uint64(n)}, t.shape...)
	}
	switch {
	case p.err != nil:
	case !ok:
		p.err = fmt.Errorf("tensor %q is missing", from)
	case !slices.Equal(stored.shape, wide):
		p.err = fmt.Errorf("tensor %q has the shape %d, the configuration wants %d", from, stored.shape, shape)
	case stored.typ == notFloat:
		p.err = fmt.Errorf("tensor %q is quantised or no number with a fraction: F32, F16 and BF16 can be converted", from)
	}
	t.typ, t.data = stored.typ, stored.data
	p.list = append(p.list, t)
	return &p.list[len(p.list)-1]
}

func (p *plan) has(from string) bool {
	_, ok := p.shards.tensors[from]
	return ok
}

// pair takes a weight and, if there is one or if there must be one, its bias.
func (p *plan) pair(name, from string, bias bool, shape ...uint32) (weight, maybe *tensor) {
	n := len(p.list)
	p.take(name+".weight", from+".weight", shape...)
	if bias || p.has(from+".bias") {
		p.take(name+".bias", from+".bias", shape[0])
		return &p.list[n], &p.list[n+1]
	}
	return &p.list[n], nil
}

func (p *plan) tensors() ([]tensor, error) {
	if p.config.Type == "opt" {
		p.opt()
	} else {
		p.llama()
	}
	if p.err != nil {
		return nil, p.err
	}
	for _, name := range slices.Sorted(maps.Keys(p.shards.tensors)) {
		harmless := strings.HasSuffix(name, ".rotary_emb.inv_freq") || p.config.tied() && name == "lm_head.weight"
		if !p.used[name] && !harmless {
			return nil, fmt.Errorf("tensor %q is not part of a %s model as this program knows it", name, p.config.Type)
		}
	}
	return p.list, nil
}

// llama plans Llama's and Qwen2's tensors.
func (p *plan) llama() {
	c := p.config
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
	if factors := c.ropeFactors(); factors != nil {
		b := make([]byte, 4*len(factors))
		for i, f := range factors {
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(f))
		}
		p.list = append(p.list, tensor{name: "rope_freqs.weight", shape: []uint64{uint64(len(factors))}, typ: npu.F32, data: b})
	}
	for i := range c.Layers {
		if p.err != nil {
			return // a configuration with more layers than the files ends here
		}
		to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
		p.take(to+"attn_norm.weight", from+"input_layernorm.weight", c.Hidden)
		qw, qb := p.pair(to+"attn_q", from+"self_attn.q_proj", false, q, c.Hidden)
		p.adjacent(c.Heads, qw, qb)
		kw, kb := p.pair(to+"attn_k", from+"self_attn.k_proj", false, kv, c.Hidden)
		p.adjacent(c.KVHeads, kw, kb)
		p.pair(to+"attn_v", from+"self_attn.v_proj", false, kv, c.Hidden)
		p.pair(to+"attn_output", from+"self_attn.o_proj", false, c.Hidden, q)
		p.take(to+"ffn_norm.weight", from+"post_attention_layernorm.weight", c.Hidden)
		p.take(to+"ffn_gate.weight", from+"mlp.gate_proj.weight", c.FF, c.Hidden)
		p.take(to+"ffn_up.weight", from+"mlp.up_proj.weight", c.FF, c.Hidden)
		p.take(to+"ffn_down.weight", from+"mlp.down_proj.weight", c.Hidden, c.FF)
	}
	p.take("output_norm.weight", "model.norm.weight", c.Hidden)
	if !c.tied() {
		p.take("output.weight", "lm_head.weight", c.Vocab, c.Hidden)
	}
}

// adjacent reorders the rows of Llama's queries and keys: the hub's files rotate element i of a head with
// i+n/2, GGUF's llama 2i with 2i+1. (Qwen2 is half-split in both.)
func (p *plan) adjacent(heads uint32, tensors ...*tensor) {
	if p.config.arch() != "llama" {
		return
	}
	size := int(p.config.HeadDim)
	for _, t := range tensors {
		switch {
		case t == nil || p.err != nil:
		case len(t.shape) == 1:
			t.data = reorder(t.data, t.typ.RowBytes(1), size)
		default:
			t.row = func(row int) int { return halfSplit(row, size) }
		}
	}
}

// halfSplit returns which row of half-split heads stands at the given row of adjacent ones.
func halfSplit(row, size int) int {
	head, at := row/size*size, row%size
	return head + at%2*(size/2) + at/2
}

// reorder does the same with the elements of a vector.
func reorder(data []byte, width, size int) []byte {
	out := make([]byte, 0, len(data))
	for i := range len(data) / width {
		out = append(out, data[halfSplit(i, size)*width:][:width]...)
	}
	return out
}

// opt plans OPT's tensors. The first two learned positions are padding's and are left out.
func (p *plan) opt() {
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
	if !c.tied() {
		p.take("output.weight", "lm_head.weight", c.Vocab, c.Hidden)
	}
}
