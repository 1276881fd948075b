package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
)

// With a simulated phone, or a bound of its memory, every model computes, but mixtures of experts are refused with the way out.
func TestArchitecturesOnPhones(t *testing.T) {
	mixtures := []string{"gpt-oss", "granitemoe", "olmoe", "qwen3moe"}
	path := filepath.Join(t.TempDir(), "m.gguf")
	for _, arch := range model.Architectures() {
		if err := os.WriteFile(path, tinymodel.GGUF(tinymodel.Spec{Arch: arch}), 0o600); err != nil {
			t.Fatal(err)
		}
		for flag, f := range map[string]ModelFlags{"--soc": {Chip: "sm8750"}, "--npu-memory": {Memory: 64}} {
			m, _, err := f.open(path)
			if slices.Contains(mixtures, arch) {
				if err == nil || !strings.Contains(err.Error(), "mixture of experts") || !strings.Contains(err.Error(), "leave out "+flag) {
					t.Errorf("%s with %s: error %v", arch, flag, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s with %s: %v", arch, flag, err)
				continue
			}
			if c := m.Config(); c.Pooling != model.NoPooling {
				_, err = m.Embed(t.Context(), []tandem.Token{1, 2, 3})
			} else if !c.Diffusion {
				_, err = m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3}}})
			}
			if err != nil {
				t.Errorf("%s with %s: %v", arch, flag, err)
			}
			m.Close()
		}
	}
}
