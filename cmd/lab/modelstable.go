package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/internal/llamacpp"
	"tandem/internal/scripts"
	"tandem/internal/tinymodel"
	"tandem/lab"
	"tandem/lab/engine"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/ggml"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// modelsTable prints what this program supports of each architecture, by trying it.
type modelsTable struct{}

func (*modelsTable) Help() string {
	return `Makes a small model of random weights for each architecture and type, opens it on the devices here and compares its logits with llama.cpp's, if those libraries are here (TANDEM_LLAMA_PATH). It prints what stands in docs/models.md from the heading "Tables" on.`
}

const tableHead = `## Tables

` + "`" + `lab models table` + "`" + ` makes these with models of random weights, one for each architecture and type: 4
heads of 64, two to six layers.

- *8-bit keys*: the largest difference of a logit, of F32 weights, between ` + "`" + `--kv-type q8_0` + "`" + ` and f16,
  relative to the spread of the position's logits.
- *tokens*: of 500 random texts in many scripts, how many become llama.cpp's ids and back. All these
  models have one vocabulary, of bytes; tests hold the others to llama.cpp's.
- *template*: of 60 random conversations, with texts in many scripts, how many get what llama.cpp
  writes, by the usual form of such models as a Jinja template.
- *pair*: of ten answers that a device and a cloud with the model give of one seed, live over QUIC,
  how many are equal: the one, the other or both decide, in lock step or ahead, with no delay and
  with 20 ms.
- *speed*: Tandem's by llama.cpp's in prefill of 128 tokens / in decoding after them / in decoding 8
  rows, in Q8_0, then in Q4_K, with one thread, by the processor's time, the median of nine
  alternating runs: with all that this processor has, and with both held to AVX2
  (` + "`" + `GODEBUG=cpu.avx512vnni=off,cpu.avxvnni=off` + "`" + `). Of models this small it says what a pass costs
  apart from its products. [engine.md](engine.md#models-of-real-shapes) has models of real shapes.

`

const offHead = `
The largest difference of a logit from llama.cpp's over 64 positions, relative to the spread of the
position's logits; of encoders, the distance of two embeddings of length 1. Of fewer than 64 rows
llama.cpp rounds the queries to F16, and is off by more. ggml looks Gemma's GELU up in a table of
F16, and rounds differently where it multiplies by 8-bit inputs; tests hold each cell to a bound.
Where rounding changes which expert a row goes through, its logits change by tenths.

`

const speedHead = `
The speed of each type in a model of the architecture ` + "`" + `llama` + "`" + `, as in the first table.

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
	eight, err := eightBits(t.app, arch)
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
		if err := write(path, tableSpec("llama", typ)); err != nil {
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

// compare says how an architecture's tokens and its speeds, at each of the speedLevels, compare with llama.cpp's. It writes its
// models to path.
func compare(ctx context.Context, lib *llamacpp.Lib, path, arch string) (tokens string, speeds [len(speedLevels)]string, err error) {
	if lib == nil {
		return "not measured", [len(speedLevels)]string{"not measured", "not measured"}, nil
	}
	for i, typ := range []npu.DType{npu.Q8_0, npu.Q4_K} {
		if err := os.WriteFile(path, tinymodel.GGUF(tableSpec(arch, typ)), 0o600); err != nil {
			return "", speeds, err
		}
		if i == 0 {
			why := ""
			if tokens, why, err = compareTokens(lib, path); err != nil {
				return "", speeds, err
			}
			if why != "" {
				return tokens, [len(speedLevels)]string{why, why}, nil
			}
		}
		for level, l := range speedLevels {
			one, err := l.measure(ctx, path, 9, 32)
			if err != nil {
				return "", speeds, err
			}
			if i > 0 {
				speeds[level] += ", "
			}
			speeds[level] += one
		}
	}
	return tokens, speeds, nil
}

// compareTokens says of how many texts a model's ids are llama.cpp's and, if its speed cannot be compared, why.
func compareTokens(lib *llamacpp.Lib, path string) (tokens, why string, err error) {
	m, err := model.Open(path, native.New(1))
	if err != nil {
		return "", "", err
	}
	defer m.Close()
	theirs, err := lib.Open(path, false)
	if err != nil {
		return "not in llama.cpp", "not in llama.cpp", nil
	}
	defer theirs.Close()
	if tokens, err = sameTokens(m, theirs); err != nil {
		return "", "", err
	}
	if c := m.Config(); c.Pooling != model.NoPooling || c.Diffusion {
		why = "not compared: it writes no text token by token"
	}
	return tokens, why, nil
}

// speedRows is the batch that the table measures beside single rows.
const speedRows = 8

// A speedLevel is a set of the processor's instructions.
type speedLevel struct {
	debug string // GODEBUG, which holds both engines to the instructions
	used  string // what the two have used: set by measure
}

var speedLevels = [...]*speedLevel{{}, {debug: "cpu.avx512vnni=off,cpu.avxvnni=off"}}

// measureIn runs lab engine with a GODEBUG: a process loads one variant of llama.cpp's libraries.
func measureIn(ctx context.Context, debug, path string, runs, steps int) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "engine", "--model", path, "--against", "llama.cpp", "--json", "--threads", "1", "--processor-time", "--runs", strconv.Itoa(runs),
		"--rows", fmt.Sprintf("1,%d", speedRows), "--prompt", "128", "--steps", strconv.Itoa(steps))
	cmd.Env = append(os.Environ(), "GODEBUG="+debug)
	return cmd.Output()
}

// measure returns the ratios of prefill, of decoding after the prompt and of decoding several rows after it. Where llama.cpp
// crashes, as its library for AMX does with lfm2, both do without AMX.
func (l *speedLevel) measure(ctx context.Context, path string, runs, steps int) (string, error) {
	out, err := measureIn(ctx, l.debug, path, runs, steps)
	without := ""
	var exit *exec.ExitError
	if errors.As(err, &exit) && bytes.Contains(exit.Stderr, []byte("signal arrived during cgo execution")) {
		out, err = measureIn(ctx, "cpu.amxint8=off,"+l.debug, path, runs, steps)
		without = " (without AMX)"
	}
	if err != nil {
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("lab engine: %w", err)
	}
	var r engine.Report
	if err := json.Unmarshal(out, &r); err != nil {
		return "", fmt.Errorf("lab engine: %w", err)
	}
	if len(r.Results) != 5 { // prefill, then for 1 and for speedRows rows: from nothing, after the prompt
		return "", fmt.Errorf("lab engine gives %d results", len(r.Results))
	}
	if without == "" {
		l.used = fmt.Sprintf("%s against llama.cpp's %q", r.Device, r.Variant)
	}
	return fmt.Sprintf("%.2f / %.2f / %.2f%s", r.Results[0].Ratio, r.Results[2].Ratio, r.Results[4].Ratio, without), nil
}

// sameTokens says of how many random texts a model's ids are llama.cpp's and give the text back.
func sameTokens(m *model.Model, theirs *llamacpp.Model) (string, error) {
	const texts = 500
	random, same := rand.New(rand.NewPCG(1, 1)), 0
	for range texts {
		text := scripts.Text(random)
		want, err := theirs.Tokenize(text, false, false)
		if err != nil {
			return "", err
		}
		got := m.Tokenizer().Encode(text, tokenizer.Options{})
		if slices.EqualFunc(got, want, func(a tandem.Token, b int32) bool { return int32(a) == b }) && m.Tokenizer().Decode(got) == text {
			same++
		}
	}
	return fmt.Sprintf("%d of %d", same, texts), nil
}

// try opens a model and returns the difference of its logits from llama.cpp's.
func (c *modelsTable) try(ctx context.Context, lib *llamacpp.Lib, path string, spec tinymodel.Spec) (string, error) {
	if err := write(path, spec); err != nil {
		return "", err
	}
	m, err := model.Open(path, native.New(0))
	if err != nil {
		return "", err
	}
	defer m.Close()
	ids, tokens := tableTokens()
	if m.Config().Pooling != model.NoPooling {
		return c.embedding(ctx, lib, m, path, ids, tokens)
	}
	got, err := logitsOf(ctx, m, tokens)
	if err != nil || lib == nil {
		return "not measured", err
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		return "not in llama.cpp", nil
	}
	defer theirs.Close()
	want, err := theirs.Logits(ids)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1g", farthest(got, want)), nil
}

// tableTokens are 64 tokens, for llama.cpp and for this program.
func tableTokens() (ids []int32, tokens []tandem.Token) {
	for i := range int32(64) {
		ids = append(ids, (i*89+17)%256)
		tokens = append(tokens, tandem.Token(ids[i]))
	}
	return ids, tokens
}

// logitsOf returns the logits of each token.
func logitsOf(ctx context.Context, m *model.Model, tokens []tandem.Token) ([][]float32, error) {
	if !m.Config().Diffusion {
		return m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}})
	}
	var rows []model.Live
	for i, t := range tokens {
		rows = append(rows, model.Live{Position: i, Token: t, Sees: len(tokens), Logits: true})
	}
	return m.Denoise(ctx, m.NewSeq(), rows, new(model.Logits))
}

// allTypes are all types of weights.
var allTypes = slices.Concat(npu.DTypes, npu.ReadOnly)

// write writes a model; one in a type that is only read with blocks of random bits.
func write(path string, spec tinymodel.Spec) error {
	if !slices.Contains(npu.ReadOnly, spec.Type) {
		return os.WriteFile(path, tinymodel.GGUF(spec), 0o600)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(tinymodel.Stream(f, spec, nil), f.Close())
}

// farthest returns the largest difference of a logit, relative to the spread of its position's logits.
func farthest(got, want [][]float32) float64 {
	worst := 0.0
	for i := range want {
		var sum, square, far float64
		for j, v := range want[i] {
			sum, square = sum+float64(v), square+float64(v)*float64(v)
			far = max(far, math.Abs(float64(got[i][j]-v)))
		}
		n := float64(len(want[i]))
		worst = max(worst, far/math.Sqrt(square/n-sum/n*sum/n))
	}
	return worst
}

// eightBits says how far logits move if keys and values are kept in Q8_0.
func eightBits(ctx context.Context, arch string) (string, error) {
	b := tinymodel.GGUF(tinymodel.Spec{Arch: arch, Dim: 256, FF: 512, Seed: 1})
	tokens := make([]tandem.Token, 64)
	for i := range tokens {
		tokens[i] = tandem.Token((i*89 + 17) % 256)
	}
	var all [2][][]float32
	for i, t := range []npu.CacheType{npu.CacheF16, npu.CacheQ8_0} {
		m, err := model.OpenBytes("tiny", b, native.New(0), model.KVCache(t))
		if err != nil {
			return "", err
		}
		defer m.Close()
		if c := m.Config(); c.Pooling != model.NoPooling || c.Diffusion {
			return "not kept", nil
		}
		if all[i], err = m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%.1g", farthest(all[1], all[0])), nil
}

// embedding is try for an encoder: the distance of two embeddings of length 1.
func (c *modelsTable) embedding(ctx context.Context, lib *llamacpp.Lib, m *model.Model, path string, ids []int32, tokens []tandem.Token) (string, error) {
	got, err := m.Embed(ctx, tokens)
	if err != nil || lib == nil {
		return "not measured", err
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		return "not in llama.cpp", nil
	}
	defer theirs.Close()
	want, err := theirs.Embedding(ids, len(got))
	if err != nil {
		return "", err
	}
	var square, off float64
	for _, v := range want {
		square += float64(v) * float64(v)
	}
	for i, v := range want {
		off += math.Pow(float64(v)/math.Sqrt(square)-float64(got[i]), 2)
	}
	return fmt.Sprintf("%.1g", math.Sqrt(off)), nil
}

// onGGML says whether ggml's processor computes a model.
func onGGML(b []byte) string {
	d, err := ggml.Open("cpu", 1)
	if err != nil {
		return "not here"
	}
	m, err := model.OpenBytes("tiny", b, d)
	if err != nil {
		return "no"
	}
	m.Close()
	return "yes"
}

// adapters says whether a model's products can be adapted.
func adapters(b []byte) string {
	m, err := model.OpenBytes("tiny", b, native.New(1))
	if err != nil {
		return "no"
	}
	defer m.Close()
	if m.Config().Diffusion || m.Config().Pooling != model.NoPooling {
		return "no"
	}
	var parts []string // matrices that are read in parts, by the end of their names
	for _, g := range m.Graphs(1) {
		for _, n := range g.Nodes {
			if n.Op == npu.OpExperts {
				return "all but experts"
			}
			if n.Op != npu.OpMatMul {
				continue
			}
			name, _, cut := strings.Cut(n.Weight.Name, ".weight[")
			if _, name, _ = strings.Cut(strings.TrimPrefix(name, "blk."), "."); cut && !slices.Contains(parts, name) {
				parts = append(parts, name)
			}
		}
	}
	if len(parts) > 0 {
		return "all but " + strings.Join(parts, ", ")
	}
	return "yes"
}

// trees says whether a model computes a draft tree as it computes each path of it.
func trees(ctx context.Context, b []byte) string {
	m, err := model.OpenBytes("tiny", b, native.New(1))
	if err != nil || m.Config().Diffusion || m.Config().Pooling != model.NoPooling {
		return "no: its rows attend both ways"
	}
	defer m.Close()
	prompt := []tandem.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	s := m.NewSeq()
	if _, err := m.Forward(ctx, []model.Input{{Seq: s, Tokens: prompt}}); err != nil {
		return "no"
	}
	tree, err := m.Forward(ctx, []model.Input{{Seq: s, Tokens: []tandem.Token{20, 30, 31}, Parents: []int{-1, 0, 0}, All: true}})
	if err != nil {
		return "no"
	}
	path, err := m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: append(prompt, 20, 31)}})
	if err != nil {
		return "no"
	}
	for i, v := range path[0] {
		if v != tree[2][i] {
			return "no"
		}
	}
	return "to the bit"
}

// pairTexts says how many texts two sides with a model of an architecture give of one seed, over all placements and two networks.
func pairTexts(ctx context.Context, arch string) (string, error) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch, Gain: 3, Seed: 3}), native.New(1))
	if err != nil {
		return "", err
	}
	defer m.Close()
	if m.Config().Pooling != model.NoPooling {
		return "no: it writes no text", nil
	}
	x := lab.Latency{Delays: [][2]time.Duration{{2 * time.Millisecond, time.Millisecond}}, RTTs: []time.Duration{0, 20 * time.Millisecond}}
	x.Model, x.Questions = m, []string{"When does the museum open?"}
	x.Settings = tandem.Settings{Nucleus: decoder.DefaultTopP, Support: 64, Lookahead: 12, MaxTokens: 12, Documents: 1, Seed: 5,
		Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1}}
	for side, text := range []string{"The cabin is at the harbour.", "The museum opens at nine."} {
		documents, err := search.Memory(search.Options{Words: passages.SentenceWords})
		if err != nil {
			return "", err
		}
		defer documents.Close()
		if _, err := documents.AddFS(ctx, fstest.MapFS{"note.txt": {Data: []byte(text)}}, "."); err != nil {
			return "", err
		}
		x.Documents[side] = documents
	}
	if x.Methods, err = lab.Methods([]string{"drdg-tw", "tandem/device", "tandem/cloud", "tandem/greedy", "tandem/mirror"}); err != nil {
		return "", err
	}
	report, err := x.Run(ctx, func(int, int) {})
	if err != nil {
		return "", err
	}
	texts := map[string]int{}
	for _, r := range report.Results {
		if r.Text == "" {
			return "", fmt.Errorf("%s %s gives no text", r.Method, r.Placement)
		}
		texts[r.Text]++
	}
	return fmt.Sprintf("%d of %d equal", slices.Max(slices.Collect(maps.Values(texts))), len(report.Results)), nil
}
