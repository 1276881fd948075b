package convert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tandem/model/gguf"
	"tandem/npu"
)

// Convert makes a GGUF file at out of the Hugging Face model in dir. A
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
		p.err = fmt.Errorf("tensor %q has the shape %d, the configuration requires %d", from, stored.shape, shape)
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
	p.config.family.tensors(p)
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

// output takes the output matrix, if it is not the embedding.
func (p *plan) output() {
	if c := p.config; !c.tied() {
		p.take("output.weight", "lm_head.weight", c.Vocab, c.Hidden)
	}
}
