package convert

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
)

// Schemes give each tensor the type that llama.cpp's quantiser gives it: with fused matrices, experts, layers without
// attention, an output matrix of its own, and rows that are not whole blocks of 256.
func TestSchemesAreLlamaCpps(t *testing.T) {
	lib := llamacpp.Need(t)
	for name, spec := range map[string]tinymodel.Spec{
		"llama":      {Arch: "llama", Dim: 256, FF: 512, Layers: 11, Untied: true},
		"tied":       {Arch: "llama", Dim: 256, FF: 512, Layers: 8},
		"phi3":       {Arch: "phi3", Dim: 256, FF: 512, Layers: 9},
		"lfm2":       {Arch: "lfm2", Dim: 256, FF: 512, Layers: 16},
		"gemma3":     {Arch: "gemma3", Dim: 288, HeadDim: 64, FF: 512, Layers: 12},
		"qwen3moe":   {Arch: "qwen3moe", Dim: 256, FF: 256, Layers: 8},
		"granitemoe": {Arch: "granitemoe", Dim: 256, FF: 512, Layers: 10},
		"gpt-oss":    {Arch: "gpt-oss", Dim: 288, HeadDim: 64, FF: 288, Layers: 8},
	} {
		t.Run(name, func(t *testing.T) {
			in, out := filepath.Join(t.TempDir(), "in.gguf"), filepath.Join(t.TempDir(), "out.gguf")
			f, err := os.Create(in)
			if err := errors.Join(err, tinymodel.Stream(f, spec, nil), f.Close()); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"q4_k_s", "q4_k_m", "q5_k_m", "q8_0"} {
				s := scheme(t, name)
				if err := lib.QuantizeFile(in, out, s.number); err != nil {
					t.Fatal(err)
				}
				compareTypes(t, s, in, out)
			}
		})
	}
}

// compareTypes compares the types of the tensors of a file that llama.cpp has quantised with those that a scheme gives them.
func compareTypes(t *testing.T, s Scheme, in, out string) {
	t.Helper()
	from, err := gguf.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	theirs, err := gguf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	types := map[string]npu.DType{}
	for _, info := range theirs.Tensors {
		types[info.Name] = info.Type
	}
	s.Choose(from.Tensors)
	for _, info := range from.Tensors {
		if want := types[info.Name]; info.Type != want {
			t.Errorf("%s: %s is %v, and %v in llama.cpp", s.name, info.Name, info.Type, want)
		}
	}
}
