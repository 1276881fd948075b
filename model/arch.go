package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/npu"
)

// An architecture is a family of transformers: what their files say that others do not, and how they compute.
// Each has its own file, arch_*.go, which registers it; nothing else in the package names one.
//
// The functions that describe blocks name each tensor and its size where they use it, so they are also the list
// of the tensors that a file must have.
type architecture struct {
	name   string                                             // as the metadata key general.architecture has it
	moe    bool                                               // whether its feed-forward layers may be mixtures of experts
	long   bool                                               // whether LongRoPE may rotate its positions
	conv   bool                                               // whether layers may have short convolutions instead of attention
	config func(r *metaReader, c *Config)                     // reads the keys that not all architectures have
	embed  func(b *block) npu.Value                           // tokens to the residual stream
	layer  func(b *block, x npu.Value) npu.Value              // one layer of the residual stream
	norm   func(b *block, x npu.Value, name string) npu.Value // before the output matrix or, in encoders, pooling; nil for none
}

var architectures = map[string]*architecture{}

// register adds an architecture; the init functions of the files arch_*.go call it.
func register(a architecture) { architectures[a.name] = &a }

// Architectures returns the names of the architectures that Open knows, sorted.
func Architectures() []string { return slices.Sorted(maps.Keys(architectures)) }

// architecturesWith returns the names of the architectures that a function picks, for an error.
func architecturesWith(is func(*architecture) bool) string {
	return strings.Join(slices.DeleteFunc(Architectures(), func(name string) bool { return !is(architectures[name]) }), ", ")
}

// recurrent names architectures with layers whose state is no cache of positions.
var recurrent = map[string]string{
	"mamba": "Mamba", "mamba2": "Mamba", "jamba": "Mamba", "falcon-h1": "Mamba", "granitehybrid": "Mamba", "nemotron_h": "Mamba",
	"nemotron_h_moe": "Mamba", "plamo2": "Mamba", "qwen3next": "DeltaNet", "qwen35": "DeltaNet", "qwen35moe": "DeltaNet", "kimi-linear": "DeltaNet",
	"rwkv6": "RWKV", "rwkv6qwen2": "RWKV", "rwkv7": "RWKV", "arwkv7": "RWKV",
}

// architectureOf finds an architecture by its name.
func architectureOf(name string) (*architecture, error) {
	if a := architectures[name]; a != nil {
		return a, nil
	}
	if what := recurrent[name]; what != "" {
		return nil, fmt.Errorf("architecture %q is not supported, because some of its layers are %s, whose state cannot be rolled back: use a model of architecture %s",
			name, what, strings.Join(Architectures(), ", "))
	}
	if name == "llada-moe" {
		return nil, fmt.Errorf("architecture %q is not supported, because it is a mixture of experts: use a dense model of architecture llada, such as LLaDA-8B, or of dream", name)
	}
	return nil, fmt.Errorf("architecture %q is not supported: use a model of architecture %s", name, strings.Join(Architectures(), ", "))
}
