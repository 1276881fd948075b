package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
)

// modelsTable prints what this program supports of each architecture, by trying it.
type modelsTable struct{}

func (*modelsTable) Help() string {
	return `Example:
  lab models table

Makes a small model of random weights for each architecture and type, opens it on the devices here and compares its logits with llama.cpp's, if those libraries are here (TANDEM_LLAMA_PATH). It prints what stands in docs/models.md from the heading "Tables" on.`
}

const tableHead = `## Tables

` + "`" + `lab models table` + "`" + ` makes these tables with models of random weights, one for each architecture and
type: 4 heads of 64, two to six layers. The columns of the first are:

- *8-bit keys*: the largest difference of a logit between ` + "`" + `--kv-type q8_0` + "`" + ` and f16, with F32
  weights, relative to the spread of the position's logits.
- *ggml*: whether the devices of the ggml libraries compute the architecture.
- *adapters*: whether an adapter may change all products of a layer.
- *drafts in trees*: whether a token in a tree of drafts gets the logits that it has alone.
- *tokens*: of 500 random texts in many scripts, how many become llama.cpp's ids and back. All these
  models have one vocabulary, of bytes; tests compare the others with llama.cpp.
- *template*: of 60 random conversations, with texts in many scripts, how many get what llama.cpp
  writes, by the usual form of such models as a Jinja template.
- *pair*: of ten answers that a device and a cloud with the model give from one seed, live over
  QUIC, how many are equal. Either side or both decide, in lock step or ahead, with no delay and
  with 20 ms.
- *speed*: Tandem's divided by llama.cpp's, in prefill of 128 tokens / decoding after them /
  decoding 8 rows, first in Q8_0, then in Q4_K. One thread, by the processor's time, the median of
  nine alternating runs, with all that this processor has; *AVX2* has both programs limited to that
  (` + "`" + `GODEBUG=cpu.avx512vnni=off,cpu.avxvnni=off` + "`" + `). In models this small, it shows what a pass costs
  apart from its products. [engine.md](engine.md#models-of-real-shapes) has models of real shapes.

`

const offHead = `
The next table has the largest difference of a logit from llama.cpp's over 64 positions, relative to
the spread of the position's logits; of encoders, the distance of two embeddings of length 1. With
fewer than 64 rows, llama.cpp rounds the queries to F16, and differs by more. ggml looks Gemma's
GELU up in a table of F16, and rounds differently where it multiplies by 8-bit inputs. Where
rounding changes which expert a row goes through, its logits change by tenths. Tests limit each
cell.

`

const speedHead = `
The last table has the speed of each type in a model of the architecture ` + "`" + `llama` + "`" + `, as in the first table.

`

// modelNames are models that people run.
var modelNames = map[string]string{
	"bert": "BERT: all-MiniLM, bge-small, gte-small (embeddings)", "modern-bert": "ModernBERT: gte-modernbert, granite-embedding-r2 (embeddings)", "nomic-bert": "nomic-embed-text (embeddings)", "dream": "Dream 7B (diffusion)", "gemma": "Gemma", "gemma2": "Gemma 2", "gemma3": "Gemma 3, text",
	"granite": "Granite 3", "llada": "LLaDA 8B (diffusion)", "llama": "Llama 1 to 3.2, Mistral, Mixtral, SmolLM, TinyLlama", "olmo2": "OLMo 2",
	"gpt-oss": "gpt-oss 20B, 120B", "granitemoe": "Granite 3 1B-A400M, 3B-A800M", "lfm2": "LFM2 350M to 2.6B", "mistral3": "Mistral 3, Ministral 3", "olmoe": "OLMoE", "qwen3moe": "Qwen3-30B-A3B",
	"opt": "OPT", "phi3": "Phi-3, Phi-3.5, Phi-4-mini", "qwen2": "Qwen2, Qwen2.5", "qwen3": "Qwen3", "smollm3": "SmolLM3",
}

func (c *modelsTable) Run(a *cli.App) error {
	lib, err := llamacpp.Load()
	if err != nil {
		a.Remark("without llama.cpp's logits: %v", err)
		lib = nil
	}
	dir, err := os.MkdirTemp("", "lab-models")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := newTables(a)
	t.text(tableHead)
	t.begin("architectures", "architecture", "models", "8-bit keys", "ggml", "adapters", "drafts in trees", "tokens", "template", "pair", "speed", "speed, AVX2")
	var off [][]string // of each architecture
	for _, arch := range model.Architectures() {
		if err := c.architecture(t, lib, dir, arch); err != nil {
			return err
		}
		row := []string{"`" + arch + "`"}
		for _, typ := range allTypes {
			a.Progress("%s in %v", arch, typ)
			difference, err := c.try(a, lib, filepath.Join(dir, "m.gguf"), tableSpec(arch, typ))
			if err != nil {
				return fmt.Errorf("%s in %v: %w", arch, typ, err)
			}
			row = append(row, difference)
		}
		off = append(off, row)
	}
	t.text(offHead)
	columns := []string{"architecture"}
	for _, typ := range allTypes {
		columns = append(columns, typ.String())
	}
	t.begin("types", columns...)
	for _, row := range off {
		t.row(row...)
	}
	if err := c.speeds(t, lib, filepath.Join(dir, "m.gguf")); err != nil {
		return err
	}
	return t.end()
}

// architecture adds the row of an architecture.
func (c *modelsTable) architecture(t *tables, lib *llamacpp.Lib, dir, arch string) error {
	t.app.Progress("%s", arch)
	b := tinymodel.GGUF(tinymodel.Spec{Arch: arch})
	eight, err := keysIn8Bits(t.app, arch)
	if err != nil {
		return fmt.Errorf("%s with keys in 8 bits: %w", arch, err)
	}
	tokens, speeds, err := compare(t.app, lib, filepath.Join(dir, "q8.gguf"), arch)
	if err != nil {
		return fmt.Errorf("%s next to llama.cpp: %w", arch, err)
	}
	template, err := sameTemplates(lib, arch)
	if err != nil {
		return err
	}
	texts, err := pairTexts(t.app, arch)
	if err != nil {
		return fmt.Errorf("a pair with %s: %w", arch, err)
	}
	t.row("`"+arch+"`", modelNames[arch], eight, onGGML(b), adapters(b), trees(t.app, b), tokens, template, texts, speeds[0], speeds[1])
	return nil
}

// speeds adds a row for each type. It writes its models to path.
func (c *modelsTable) speeds(t *tables, lib *llamacpp.Lib, path string) error {
	t.text(speedHead)
	t.begin("speeds", "type", "speed", "speed, AVX2")
	for _, typ := range allTypes {
		t.app.Progress("speed of %v", typ)
		if err := writeModel(path, tableSpec("llama", typ)); err != nil {
			return err
		}
		row := []string{typ.String()}
		for _, l := range speedLevels {
			speed := "not measured"
			if lib != nil {
				var err error
				if speed, err = l.measure(t.app, path, 9, 32); err != nil {
					return err
				}
			}
			row = append(row, speed)
		}
		t.row(row...)
	}
	if lib != nil {
		t.engines()
	}
	return nil
}

// tableSpec is a model of an architecture and type.
func tableSpec(arch string, typ npu.DType) tinymodel.Spec {
	spec := tinymodel.Spec{Arch: arch, Type: typ, Dim: 256, FF: 512, Seed: 1}
	if arch == "opt" || arch == "llada" || strings.Contains(arch, "bert") {
		spec.KVHeads = 4
	}
	return spec
}

// allTypes are all types of weights.
var allTypes = slices.Concat(npu.DTypes, npu.ReadOnly)

// writeModel writes a model; one in a type that is only read with blocks of random bits.
func writeModel(path string, spec tinymodel.Spec) error {
	if !slices.Contains(npu.ReadOnly, spec.Type) {
		return os.WriteFile(path, tinymodel.GGUF(spec), 0o600)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(tinymodel.Stream(f, spec, nil), f.Close())
}
