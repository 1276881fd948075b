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

// Convert converts the Hugging Face model in dir to a GGUF file at out. The zero Scheme stores matrices as F32, F16 or
// BF16, whichever most of them have.
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
	if c.nested {
		s.text()
	}
	p := plan{config: c, shards: s, used: map[string]bool{}}
	tensors, err := p.tensors()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	name, err := nameOf(dir)
	if err != nil {
		return nil, err
	}
	meta := append(c.meta(name), vocabulary...)
	if opt.Scheme.name == "" {
		opt.Scheme = asStored(tensors)
	}
	opt.Scheme.choose(tensors)
	return writeFile(ctx, out, setScheme(meta, opt.Scheme), tensors, opt.Progress)
}

// nameOf returns the name of the model in a folder: that of the repository if the folder is in the hub's cache, where
// it is called after a commit, or else the folder's.
func nameOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	snapshots := filepath.Dir(dir)
	repo, cached := strings.CutPrefix(filepath.Base(filepath.Dir(snapshots)), "models--")
	if _, name, ok := strings.Cut(repo, "--"); ok && cached && filepath.Base(snapshots) == "snapshots" {
		return name, nil
	}
	return filepath.Base(dir), nil
}

// asStored returns the unquantised scheme of the type that most matrices have.
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

// A plan collects the tensors that an architecture needs from the stored ones. It keeps the first error.
type plan struct {
	config *hfConfig
	shards *shards
	used   map[string]bool
	list   []tensor
	err    error
}

// take adds the stored tensor from under a new name. It must have the given shape, rows first.
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
	case !slices.Equal(stored.Shape, wide):
		p.err = fmt.Errorf("tensor %q has shape %d, but the configuration requires %d", from, stored.Shape, shape)
	case stored.Type == notFloat:
		p.err = fmt.Errorf("tensor %q has an unsupported type: F32, F16 and BF16 can be converted", from)
	}
	t.typ, t.data = stored.Type, stored.Data
	p.list = append(p.list, t)
	return &p.list[len(p.list)-1]
}

func (p *plan) has(from string) bool {
	_, ok := p.shards.tensors[from]
	return ok
}

// pair takes a weight, and its bias if it has one. If bias is true, the bias is required.
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
			return nil, fmt.Errorf("unexpected tensor %q in a %s model", name, p.config.Type)
		}
	}
	return p.list, nil
}

// output takes the output matrix unless it is tied to the embedding.
func (p *plan) output() {
	if c := p.config; !c.tied() {
		p.take("output.weight", "lm_head.weight", c.Vocab, c.Hidden)
	}
}
