package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/internal/tinymodel"
	"tandem/npu"
)

// modelsCmd adds models to measure with to the models that all programs list.
type modelsCmd struct {
	modelcmd.Cmd
	Random modelsRandom `cmd:"" help:"Make a model of random weights, to measure speed with."`
	Table  modelsTable  `cmd:"" help:"Print what is computed of each architecture, as docs/models.md."`
	Speed  modelsSpeed  `cmd:"" help:"Print how fast models of real shapes are, by llama.cpp's speed."`
	Depth  modelsDepth  `cmd:"" help:"Print how far logits are from llama.cpp's with 2 layers and with 24."`
}

// modelsRandom makes models with random weights, whose speed and memory are those of a real model.
type modelsRandom struct {
	Out       string `arg:"" help:"File to write; it must not exist." placeholder:"OUT.gguf"`
	Like      string `help:"Shape: qwen2.5-0.5b, qwen2.5-1.5b, qwen3-0.6b, qwen3-1.7b, qwen3-30b-a3b, llama3.2-1b, llama3.1-8b, gemma-2b, gemma2-2b, gemma3-1b, phi4-mini, smollm3-3b, olmo2-1b, olmoe-1b-7b, granite3.3-2b, granite3.1-1b-a400m, ministral3-3b, lfm2-1.2b, gpt-oss-20b, llada-8b or dream-7b." default:"qwen2.5-0.5b"`
	Arch      string `help:"Architecture, such as qwen2 or gemma3. Default: that of the shape." placeholder:"NAME"`
	Layers    int    `help:"Layers; 0 for those of the shape." default:"0"`
	Type      string `help:"Type of the matrices: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs or mxfp4; or a mix of them, as llama.cpp's quantiser makes it: q4_k_s, q4_k_m, q5_k_s or q5_k_m." default:"q4_0"`
	Embedding string `help:"Type of the embedding, which in qwen2.5 is also the output matrix. Default: that of the matrices." placeholder:"TYPE"`
	Seed      uint64 `help:"Seed of the random numbers." default:"1"`
}

func (c *modelsRandom) Help() string {
	return `Examples:
  lab models random random.gguf
  lab models random --like qwen2.5-1.5b --type q4_k random.gguf
  lab models random --like phi4-mini --type q4_k_m --layers 8 random.gguf
  lab models random --type q4_0 --embedding q8_0 random.gguf
  lab models random --like llama3.1-8b random-8b.gguf

The weights are random numbers, so the text is gibberish, but speed and memory are those of the shape. The same seed gives the same file. The largest shape takes 4.5 GB as q4_0.`
}

// shape is the shape of a published model.
type shape struct {
	tinymodel.Spec
	vocab    int
	measured int // layers that modelsSpeed measures: all if it is larger than theirs, and none if it is 0
}

// allLayers of a shape are measured.
const allLayers = 1 << 20

var mxfp4 = npu.MXFP4

var shapes = map[string]shape{
	"qwen2.5-0.5b": {tinymodel.Spec{Arch: "qwen2", Layers: 24, Dim: 896, Heads: 14, KVHeads: 2, FF: 4864, Context: 32768, RopeBase: 1e6}, 151936, 0},
	"qwen2.5-1.5b": {tinymodel.Spec{Arch: "qwen2", Layers: 28, Dim: 1536, Heads: 12, KVHeads: 2, FF: 8960, Context: 32768, RopeBase: 1e6}, 151936, 14},
	"llama3.1-8b": {tinymodel.Spec{Arch: "llama", Layers: 32, Dim: 4096, Heads: 32, KVHeads: 8, FF: 14336, Context: 131072, RopeBase: 5e5,
		Factors: true, Untied: true}, 128256, 0},
	"llama3.2-1b":         {tinymodel.Spec{Arch: "llama", Layers: 16, Dim: 2048, Heads: 32, KVHeads: 8, FF: 8192, Context: 131072, RopeBase: 5e5, Factors: true}, 128256, allLayers},
	"qwen3-0.6b":          {tinymodel.Spec{Arch: "qwen3", Layers: 28, Dim: 1024, Heads: 16, KVHeads: 8, HeadDim: 128, FF: 3072, Context: 40960, RopeBase: 1e6}, 151936, allLayers},
	"qwen3-1.7b":          {tinymodel.Spec{Arch: "qwen3", Layers: 28, Dim: 2048, Heads: 16, KVHeads: 8, HeadDim: 128, FF: 6144, Context: 40960, RopeBase: 1e6}, 151936, 0},
	"gemma2-2b":           {tinymodel.Spec{Arch: "gemma2", Layers: 26, Dim: 2304, Heads: 8, KVHeads: 4, HeadDim: 256, FF: 9216, Context: 8192, RopeBase: 1e4, Window: 4096}, 256000, 8},
	"gemma-2b":            {tinymodel.Spec{Arch: "gemma", Layers: 18, Dim: 2048, Heads: 8, KVHeads: 1, HeadDim: 256, FF: 16384, Context: 8192, RopeBase: 1e4}, 256000, 6},
	"gemma3-1b":           {tinymodel.Spec{Arch: "gemma3", Layers: 26, Dim: 1152, Heads: 4, KVHeads: 1, HeadDim: 256, FF: 6912, Context: 32768, RopeBase: 1e6, Window: 512}, 262144, allLayers},
	"phi4-mini":           {tinymodel.Spec{Arch: "phi3", Layers: 32, Dim: 3072, Heads: 24, KVHeads: 8, HeadDim: 128, FF: 8192, Context: 131072, RopeBase: 1e4}, 200064, 8},
	"smollm3-3b":          {tinymodel.Spec{Arch: "smollm3", Layers: 36, Dim: 2048, Heads: 16, KVHeads: 4, FF: 11008, Context: 65536, RopeBase: 5e6}, 128256, 12},
	"olmo2-1b":            {tinymodel.Spec{Arch: "olmo2", Layers: 16, Dim: 2048, Heads: 16, KVHeads: 16, FF: 8192, Context: 4096, RopeBase: 5e5}, 100352, allLayers},
	"granite3.3-2b":       {tinymodel.Spec{Arch: "granite", Layers: 40, Dim: 2048, Heads: 32, KVHeads: 8, FF: 8192, Context: 131072, RopeBase: 1e7}, 49159, 16},
	"granite3.1-1b-a400m": {tinymodel.Spec{Arch: "granitemoe", Layers: 24, Dim: 1024, Heads: 16, KVHeads: 8, FF: 512, Context: 131072, RopeBase: 1e7, Experts: 32, Used: 8}, 49155, allLayers},
	"ministral3-3b":       {tinymodel.Spec{Arch: "mistral3", Layers: 26, Dim: 3072, Heads: 32, KVHeads: 8, HeadDim: 128, FF: 9216, Context: 262144, RopeBase: 1e6, YaRN: 16}, 131072, 8},
	"lfm2-1.2b":           {tinymodel.Spec{Arch: "lfm2", Layers: 16, Dim: 2048, Heads: 32, KVHeads: 8, FF: 8192, Context: 128000, RopeBase: 1e6}, 65536, allLayers},
	"qwen3-30b-a3b":       {tinymodel.Spec{Arch: "qwen3moe", Layers: 48, Dim: 2048, Heads: 32, KVHeads: 4, HeadDim: 128, FF: 768, Context: 40960, RopeBase: 1e6, Experts: 128, Used: 8, Untied: true}, 151936, 4},
	"olmoe-1b-7b":         {tinymodel.Spec{Arch: "olmoe", Layers: 16, Dim: 2048, Heads: 16, KVHeads: 16, FF: 1024, Context: 4096, RopeBase: 1e4, Experts: 64, Used: 8, Untied: true}, 50304, 4},
	"gpt-oss-20b":         {tinymodel.Spec{Arch: "gpt-oss", Layers: 24, Dim: 2880, Heads: 64, KVHeads: 8, HeadDim: 64, FF: 2880, Context: 131072, RopeBase: 1.5e5, YaRN: 32, Window: 128, Experts: 32, Used: 4, Expert: &mxfp4}, 201088, 4},
	"llada-8b":            {tinymodel.Spec{Arch: "llada", Layers: 32, Dim: 4096, Heads: 32, KVHeads: 32, FF: 12288, Context: 4096, RopeBase: 5e5, Untied: true}, 126464, 0},
	"dream-7b":            {tinymodel.Spec{Arch: "dream", Layers: 28, Dim: 3584, Heads: 28, KVHeads: 4, FF: 18944, Context: 131072, RopeBase: 1e6, Untied: true}, 152064, 0},
}

// vocabularyWords returns enough words of four letters to make n tokens, together with their prefixes of two and three letters and
// the 256 bytes.
func vocabularyWords(n int) []string {
	w := make([]string, n-26*26-26*26*26-256)
	for i := range w {
		w[i] = string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26), 'a' + byte(i/17576)})
	}
	return w
}

// parseType parses the type that a flag names.
func parseType(flag, name string) (npu.DType, error) {
	i := slices.IndexFunc(allTypes, func(t npu.DType) bool { return strings.EqualFold(t.String(), name) })
	if i < 0 {
		return 0, fmt.Errorf("%s %s: unknown, use one of %v", flag, name, allTypes)
	}
	return allTypes[i], nil
}

// types sets the types of the matrices.
func (c *modelsRandom) types(spec *tinymodel.Spec) (err error) {
	if mix, ok := parseMix(c.Type); ok {
		if c.Embedding != "" {
			return fmt.Errorf("--embedding %s: the mix %s has a type for the embedding", c.Embedding, c.Type)
		}
		spec.Mix = mix.Choose
		return nil
	}
	if spec.Type, err = parseType("--type", c.Type); err != nil || c.Embedding == "" {
		return err
	}
	t, err := parseType("--embedding", c.Embedding)
	spec.Embed = &t
	return err
}

// spec returns the model that the flags describe.
func (c *modelsRandom) spec() (tinymodel.Spec, error) {
	like, ok := shapes[c.Like]
	spec := like.Spec
	if !ok {
		return spec, fmt.Errorf("--like %s: unknown, use one of %s", c.Like, strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
	}
	if err := c.types(&spec); err != nil {
		return spec, err
	}
	spec.Seed = c.Seed
	if c.Layers < 0 {
		return spec, fmt.Errorf("--layers %d: want at least 1, or 0 for those of the shape", c.Layers)
	}
	spec.Layers = cmp.Or(c.Layers, spec.Layers)
	if c.Arch != "" {
		if !slices.Contains(tinymodel.Architectures(), c.Arch) {
			return spec, fmt.Errorf("--arch %s: unknown, use one of %s", c.Arch, strings.Join(tinymodel.Architectures(), ", "))
		}
		spec.Arch = c.Arch
	}
	control := 1 // tokens: the end of the text, and a mask
	if tinymodel.Diffusion(spec.Arch) {
		control++
	}
	spec.Words = vocabularyWords(like.vocab - control)
	n := spec.Type.BlockSize()
	if spec.Embed != nil {
		n = max(n, spec.Embed.BlockSize())
	}
	if spec.Dim%n != 0 || spec.FF%n != 0 {
		return spec, fmt.Errorf("--type %s: rows of %d are not whole blocks of %d: use q4_0 or q8_0, or another shape", c.Type, spec.Dim, n)
	}
	return spec, nil
}

func (c *modelsRandom) Run(a *cli.App) error {
	size, err := c.make(a)
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"path": c.Out, "like": c.Like, "type": strings.ToUpper(c.Type), "bytes": size})
	}
	_, err = fmt.Fprintf(a.Out, "%s: %s %s with random weights, %s\n", c.Out, c.Like, strings.ToUpper(c.Type), cli.Bytes(size))
	return err
}

// make writes the file and returns the size of its weights.
func (c *modelsRandom) make(a *cli.App) (size int64, err error) {
	spec, err := c.spec()
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("%s exists: choose another name", c.Out)
	}
	if err != nil {
		return 0, err
	}
	size, err = c.write(a, f, spec)
	a.Clear()
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(c.Out)
		if errors.Is(err, syscall.ENOSPC) {
			return 0, fmt.Errorf("write %s: the disk is full: make room, or name a file on another disk: %w", c.Out, err)
		}
		return 0, fmt.Errorf("write %s: %w", c.Out, err)
	}
	return size, nil
}

// write writes the model and returns the size of its weights. It shows progress after two seconds.
func (c *modelsRandom) write(a *cli.App, w io.Writer, spec tinymodel.Spec) (size int64, err error) {
	begun := time.Now()
	err = tinymodel.Stream(w, spec, func(done, total int64) error {
		size = total
		if time.Since(begun) > 2*time.Second {
			a.Progress("%3d %%  %s of %s", 100*done/total, cli.Bytes(done), cli.Bytes(total))
		}
		return a.Err()
	})
	return size, err
}
