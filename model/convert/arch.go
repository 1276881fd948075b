package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/model/gguf"
)

// A family is what the Hugging Face models of one model_type have that others do not. Those of one architecture
// stand in a file arch_*.go, which registers them; nothing else in the package names one.
type family struct {
	arch     string // general.architecture in the GGUF file
	tied     bool   // the embedding is the output matrix, unless config.json says otherwise
	windowed bool   // sliding_window holds without use_sliding_window
	pattern  string // the pre-tokenizer of vocab.json and merges.txt; empty for GPT-2's

	config  func(c *hfConfig, raw []byte) error // reads more of config.json, which raw is, and checks it
	meta    func(c *hfConfig) []gguf.KV         // keys other than the sizes, without the architecture's prefix
	tensors func(p *plan)                       // takes every tensor
}

// families are all by their model_type.
var families = map[string]*family{}

func familyOf(modelType string) (*family, error) {
	if f := families[modelType]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("model_type %.100q is not supported: use one of %s", modelType, strings.Join(slices.Sorted(maps.Keys(families)), ", "))
}
