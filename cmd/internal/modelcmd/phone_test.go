package modelcmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
)

// With a simulated phone, or a bound of its memory, every model computes what it computes without, but with such a bound mixtures
// of experts are refused with the way out.
func TestArchitecturesOnPhones(t *testing.T) {
	mixtures := []string{"gpt-oss", "granitemoe", "olmoe", "qwen3moe"}
	path := filepath.Join(t.TempDir(), "m.gguf")
	for _, arch := range model.Architectures() {
		if err := os.WriteFile(path, tinymodel.GGUF(tinymodel.Spec{Arch: arch}), 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := someNumbers(t.Context(), ModelFlags{Threads: 1}, path)
		if err != nil {
			t.Fatal(err)
		}
		for flag, f := range map[string]ModelFlags{"--soc": {Chip: "sm8750"}, "--npu-memory": {Memory: 64}} {
			got, err := someNumbers(t.Context(), f, path)
			if flag == "--npu-memory" && slices.Contains(mixtures, arch) {
				if err == nil || !strings.Contains(err.Error(), "mixture of experts") || !strings.Contains(err.Error(), "leave out "+flag) {
					t.Errorf("%s with %s: error %v", arch, flag, err)
				}
				continue
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s with %s: %v; other numbers than without: %v", arch, flag, err, !slices.Equal(got, want))
			}
		}
	}
}

// someNumbers returns what the model in a file computes of three tokens; nil for a model that denoises.
func someNumbers(ctx context.Context, f ModelFlags, path string) ([]float32, error) {
	m, _, err := f.open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	tokens := []tandem.Token{1, 2, 3}
	switch c := m.Config(); {
	case c.Pooling != model.NoPooling:
		return m.Embed(ctx, tokens)
	case c.Diffusion:
		return nil, nil
	}
	logits, err := m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: tokens}})
	if err != nil {
		return nil, err
	}
	return logits[0], nil
}
