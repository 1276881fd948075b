package tinymodel

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"tandem/model/gguf"
	"tandem/npu"
)

// architecture describes the model files of one architecture. Each has its own source file, arch_*.go. The order of the
// tensors determines their random numbers, so it must not change.
type architecture struct {
	defaults func(s *Spec)                // sets zero fields; may be nil
	meta     func(s Spec) []gguf.KV       // keys other than the sizes, without the architecture's prefix
	embed    func(l *list)                // tensors after the embedding; may be nil
	layer    func(l *list, prefix string) // tensors of a layer
	norm     func(l *list, name string)   // tensors of the norm before the output matrix; may be nil

	convolves func(layer int) bool // layers without attention; may be nil

	title     string        // general.name, if it is not tiny- and the architecture
	longRope  bool          // frequency factors are two sets, for long contexts and for short ones
	dense     func(l *list) // the layer of a classification head before its output; may be nil
	encoder   bool          // it has no output matrix, and types of tokens
	diffusion bool          // it has a mask token
	shifted   bool          // its rows guess the next position
}

// ownKeys gives each head keys and values of its own.
func ownKeys(s *Spec) {
	if s.KVHeads == 0 {
		s.KVHeads = s.Heads
	}
}

var architectures = map[string]architecture{}

// Architectures returns the names that Spec.Arch may have, sorted.
func Architectures() []string { return slices.Sorted(maps.Keys(architectures)) }

// Diffusion reports whether models of an architecture denoise: their vocabulary has a mask.
func Diffusion(arch string) bool { return architectures[arch].diffusion }

// weights describe a tensor of random numbers with a mean and a standard deviation.
type weights struct {
	name         string
	typ          npu.DType
	rows, cols   int
	mean, spread float64
}

// list holds a model's tensors in the file's order.
type list struct {
	Spec
	index int // of the layer
	all   []weights
}

// weights lists the tensors of the model.
func (s Spec) weights(vocab int) []weights {
	arch := architectures[s.Arch]
	l := list{Spec: s, all: []weights{{"token_embd.weight", *s.Embed, vocab, s.Dim, 0, 0.5}}}
	switch {
	case s.Factors && arch.longRope:
		l.vector("rope_factors_long.weight", s.HeadDim/2, 6, 0.3)
		l.vector("rope_factors_short.weight", s.HeadDim/2, 2, 0.3)
	case s.Factors:
		l.vector("rope_freqs.weight", s.HeadDim/2, 2, 0.3)
	}
	if arch.embed != nil {
		arch.embed(&l)
	}
	for i := range s.Layers {
		l.index = i
		arch.layer(&l, fmt.Sprintf("blk.%d.", i))
	}
	if arch.norm != nil {
		arch.norm(&l, "output_norm")
	}
	if len(s.Labels) > 0 {
		l.classifier(arch.dense)
	}
	if s.Untied {
		l.matrix("output.weight", vocab, s.Dim)
	}
	return l.all
}

// mixed lists the tensors with the types that Mix gives them.
func (s Spec) mixed(meta []gguf.KV, vocab int) []weights {
	list := s.weights(vocab)
	if s.Mix == nil {
		return list
	}
	infos := make([]gguf.TensorInfo, len(list))
	for i, w := range list {
		infos[i] = gguf.TensorInfo{Name: w.name, Type: w.typ, Shape: gguf.Shape(meta, w.name, w.cols, w.rows)}
	}
	s.Mix(infos)
	for i := range list {
		list[i].typ = infos[i].Type
	}
	return list
}

// classifier adds the head of a cross-encoder.
func (l *list) classifier(dense func(l *list)) {
	if dense != nil {
		dense(l)
	}
	l.matrix("cls.output.weight", len(l.Labels), l.Dim)
	l.vector("cls.output.bias", len(l.Labels), 0, 0.1)
}

func (l *list) matrix(name string, rows, cols int) {
	l.all = append(l.all, weights{name, l.Type, rows, cols, 0, l.Gain / math.Sqrt(float64(cols))})
}

func (l *list) vector(name string, n int, mean, spread float64) {
	l.all = append(l.all, weights{name, npu.F32, 1, n, mean, spread})
}

// rmsNorm adds the weights of a norm.
func (l *list) rmsNorm(name string) { l.vector(name+".weight", l.Dim, 1, 0.1) }

// layerNorm adds the weights and the biases of a norm.
func (l *list) layerNorm(name string) {
	l.rmsNorm(name)
	l.vector(name+".bias", l.Dim, 0, 0.1)
}

// attention adds the matrices of queries, keys and values, with biases or without, and that of the output.
func (l *list) attention(prefix string, bias bool) {
	q, kv := l.Heads*l.HeadDim, l.KVHeads*l.HeadDim
	l.matrix(prefix+"attn_q.weight", q, l.Dim)
	l.matrix(prefix+"attn_k.weight", kv, l.Dim)
	l.matrix(prefix+"attn_v.weight", kv, l.Dim)
	if bias {
		l.vector(prefix+"attn_q.bias", q, 0, 0.5)
		l.vector(prefix+"attn_k.bias", kv, 0, 0.5)
		l.vector(prefix+"attn_v.bias", kv, 0, 0.5)
	}
	l.matrix(prefix+"attn_output.weight", l.Dim, q)
}
