package model

import (
	"encoding/binary"
	"fmt"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// The tensors of LongRoPE's factors, for contexts longer than the first training's and for others.
const (
	longFactors  = "rope_factors_long.weight"
	shortFactors = "rope_factors_short.weight"
)

// tensors finds a file's tensors by name, checks their types and shapes, and keeps them: the blocks of all chunk
// sizes share them. It keeps the first error, too.
type tensors struct {
	file  *gguf.File
	found map[string]*npu.Tensor
	err   error

	parts map[string]*npu.Tensor // rows of others
	rank  *rankHead              // of a cross-encoder
}

// readTransformer reads the hyper-parameters and tensors of a file. It refuses a tensor that the architecture does
// not use: ignoring it would compute another model.
func readTransformer(f *gguf.File) (Config, *tensors, error) {
	c, err := readConfig(f)
	if err != nil {
		return c, nil, err
	}
	t := &tensors{file: f, found: map[string]*npu.Tensor{}, parts: map[string]*npu.Tensor{}}
	embedding, err := f.Tensor("token_embd.weight")
	if err != nil {
		return c, nil, err
	}
	if c.Vocab = embedding.Rows; c.Diffusion && int(c.Mask) >= c.Vocab {
		return c, nil, fmt.Errorf("%s: tokenizer.ggml.mask_token_id is %d, outside the vocabulary of %d: convert the model again", f.Name, c.Mask, c.Vocab)
	}
	if c.Rope.Dims > 0 {
		if factors := t.ropeFactors("rope_freqs.weight", c.Rope.Dims/2); factors != nil {
			c.Rope.Factors = factors
		}
		long := t.ropeFactors(longFactors, c.Rope.Dims/2)
		if c.long != nil {
			c.long.rope.Factors = long
		}
		if factors := t.ropeFactors(shortFactors, c.Rope.Dims/2); factors != nil {
			c.Rope.Factors = factors
		}
	}
	c.blocks(t, 1) // it stops at the first error: a file need not have as many layers as it claims
	if c.Pooling == RankPooling {
		t.rank = t.rankHead(&c)
	}
	if t.err != nil {
		return c, nil, t.err
	}
	for _, info := range f.Tensors {
		if t.found[info.Name] == nil {
			return c, nil, fmt.Errorf("%s: unexpected tensor %q in a %s model with %d layers", f.Name, info.Name, c.Arch, c.Layers)
		}
	}
	return c, t, nil
}

func (t *tensors) embedding(c *Config) *npu.Tensor {
	return t.matrix("token_embd.weight", c.Vocab, c.Dim)
}

// floats writes a tensor's numbers to x, as many as the file has.
func (t *tensors) floats(m *npu.Tensor, x []float32) {
	if len(m.Data) == 0 {
		return
	}
	if err := quant.Dequantize(m.Type, x, m.Data); err != nil {
		t.fail(fmt.Errorf("%s: tensor %q: %w", t.file.Name, m.Name, err))
	}
}

// output is the output matrix: the embedding where the file has no other.
func (t *tensors) output(c *Config) *npu.Tensor {
	if !t.file.Has("output.weight") {
		return t.embedding(c)
	}
	return t.matrix("output.weight", c.Vocab, c.Dim)
}

// ropeFactors returns the frequency factors of n pairs, nil if the file has none under that name.
func (t *tensors) ropeFactors(name string, n int) []float32 {
	w := t.optional(name, n)
	if w == nil || t.err != nil || t.file.HeaderOnly() {
		return nil
	}
	factors := make([]float32, n)
	if _, err := binary.Decode(w.Data, binary.LittleEndian, factors); err != nil {
		t.fail(fmt.Errorf("%s: tensor %q: %w", t.file.Name, w.Name, err))
	}
	for i, v := range factors {
		if !(v > 1e-6 && v < 1e6) {
			t.fail(fmt.Errorf("%s: tensor %s: factor %d is %v: it must lie between 1e-6 and 1e6", t.file.Name, w.Name, i, v))
		}
	}
	return factors
}

func (t *tensors) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// matrix returns a tensor of the given shape. If it cannot, it keeps the error and returns an empty one of that
// shape, with which a graph can be built but not computed.
func (t *tensors) matrix(name string, rows, cols int) *npu.Tensor {
	return t.find(name, rows, cols, func(m npu.Tensor) (npu.Tensor, error) { return m, nil })
}

// vector returns a norm's weights or a bias, widened to F32.
func (t *tensors) vector(name string, n int) *npu.Tensor { return t.wide(name, 1, n) }

// zeros returns a vector of zeros.
func (t *tensors) zeros(n int) *npu.Tensor {
	const name = "zeros"
	if m := t.parts[name]; m != nil && m.Cols == n {
		return m
	}
	t.parts[name] = &npu.Tensor{Name: name, Type: npu.F32, Rows: 1, Cols: n, Data: make([]byte, 4*n)}
	return t.parts[name]
}

// wide returns a tensor of the given shape, widened to F32.
func (t *tensors) wide(name string, rows, cols int) *npu.Tensor {
	return t.find(name, rows, cols, func(m npu.Tensor) (npu.Tensor, error) {
		v := make([]float32, rows*cols)
		wide := npu.Tensor{Name: name, Type: npu.F32, Cols: cols, Rows: rows, Data: make([]byte, 4*len(v))}
		if err := quant.Dequantize(m.Type, v, m.Data); err != nil {
			return wide, fmt.Errorf("tensor %q: %w", name, err)
		}
		return wide, quant.Quantize(npu.F32, wide.Data, v)
	})
}

// optional is vector, or nil if the file has no such tensor.
func (t *tensors) optional(name string, n int) *npu.Tensor {
	if !t.file.Has(name) {
		return nil
	}
	return t.vector(name, n)
}

// find returns what has been found under a name, or reads, checks and converts it.
func (t *tensors) find(name string, rows, cols int, convert func(npu.Tensor) (npu.Tensor, error)) *npu.Tensor {
	if m := t.found[name]; m != nil && m.Rows == rows && m.Cols == cols {
		return m
	}
	m, err := t.file.Tensor(name)
	switch {
	case err != nil: // it names the file and the tensor
	case m.Rows != rows || m.Cols != cols:
		err = fmt.Errorf("%s: tensor %q is %d×%d, but the metadata requires %d×%d", t.file.Name, name, m.Rows, m.Cols, rows, cols)
	case t.file.HeaderOnly(): // its name, type and shape are all that there is to check
	default:
		if err = m.Check(); err == nil {
			m, err = convert(m)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", t.file.Name, err)
		}
	}
	if err != nil {
		t.fail(err)
		return &npu.Tensor{Name: name, Type: npu.F32, Rows: rows, Cols: cols}
	}
	t.found[name] = &m
	return &m
}
