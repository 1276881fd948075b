package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/native"
)

// modelsDepth compares logits with llama.cpp's by the number of layers.
type modelsDepth struct{}

func (*modelsDepth) Help() string {
	return `Example:
  lab models depth

Makes a model of random weights with 2 layers and one with 24 for each architecture that writes text, in F32, and compares its logits with those of llama.cpp (TANDEM_LLAMA_PATH). It also prints how far llama.cpp is from itself without flash attention. The table stands in docs/engine.md.`
}

func (c *modelsDepth) Run(a *cli.App) error {
	lib, err := llamacpp.Load()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lab-models")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return printDepths(a, lib, filepath.Join(dir, "m.gguf"))
}

const depthHead = `## Rounding by depth

Rounding errors add up from layer to layer. The table has the models of [models.md](models.md) in
F32 with 2 layers and with 24, measured by ` + "`" + `lab models depth` + "`" + `. *ours* is the largest difference of a
logit from llama.cpp's, relative to the spread of the position's logits. *its own* is that of
llama.cpp with flash attention from llama.cpp without.

`

const depthTail = `
Tests limit the difference of each logit, with 2 layers and with 24, in several shapes: to 5e-4 in
llama, qwen2, llada and dream with 2 layers; to 1.7e-3 with 24 layers and in the others; to 5e-3 in
gemma, gemma2 and gemma3, whose GELU ggml looks up in a table of F16; and to 2e-2 in lfm2, because
llama.cpp keeps the inputs of its convolutions as F32 and Tandem as F16.
`

// printDepths prints the table, with models that it writes to path.
func printDepths(a *cli.App, lib *llamacpp.Lib, path string) error {
	t := newTables(a)
	t.text(depthHead)
	t.begin("depths", "architecture", "2 layers: ours", "2 layers: its own", "24 layers: ours", "24 layers: its own")
	for _, arch := range model.Architectures() {
		if strings.Contains(arch, "bert") || arch == "opt" { // they write no text, or llama.cpp does not support them
			continue
		}
		row := []string{"`" + arch + "`"}
		for _, layers := range []int{2, 24} {
			a.Progress("%s with %d layers", arch, layers)
			spec := tableSpec(arch, npu.F32)
			spec.Layers = layers
			ours, own, err := depth(a, lib, path, spec)
			if err != nil {
				return fmt.Errorf("%s with %d layers: %w", arch, layers, err)
			}
			row = append(row, fmt.Sprintf("%.1g", ours), fmt.Sprintf("%.1g", own))
		}
		t.row(row...)
	}
	t.text(depthTail)
	return t.end()
}

// depth returns how far our logits and llama.cpp's without flash attention are from its logits with it.
func depth(ctx context.Context, lib *llamacpp.Lib, path string, spec tinymodel.Spec) (ours, own float64, err error) {
	if err := writeModel(path, spec); err != nil {
		return 0, 0, err
	}
	m, err := model.Open(path, native.New(0))
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	ids, tokens := tableTokens()
	got, err := logitsOf(ctx, m, tokens)
	if err != nil {
		return 0, 0, err
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		return 0, 0, err
	}
	defer theirs.Close()
	want, err := theirs.Logits(ids)
	if err != nil {
		return 0, 0, err
	}
	plain, err := theirs.PlainLogits(ids)
	if err != nil {
		return 0, 0, err
	}
	return largestDifference(got, want), largestDifference(plain, want), nil
}
