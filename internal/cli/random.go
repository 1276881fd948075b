package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
)

// modelsRandom makes models that say nothing but compute as much as real ones: what measurements need.
type modelsRandom struct {
	Out       string `arg:"" help:"File to make; it must not exist." placeholder:"OUT.gguf"`
	Like      string `help:"Shape: qwen2.5-0.5b or qwen2.5-1.5b." default:"qwen2.5-0.5b"`
	Arch      string `help:"Architecture: qwen2 or llama; without it that of the shape." placeholder:"NAME"`
	Type      string `help:"Type of the matrices: f32, f16, bf16, q8_0, q4_0, q4_k, q5_k or q6_k." default:"q4_0"`
	Embedding string `help:"Type of the embedding, which is the output matrix too; without it that of the matrices." placeholder:"TYPE"`
	Seed      uint64 `help:"Of the random numbers." default:"1"`
}

func (c *modelsRandom) Help() string {
	return `Examples:
  edge models random random.gguf
  edge models random --like qwen2.5-1.5b --type q4_k random.gguf
  edge models random --type q4_0 --embedding q8_0 random.gguf

The weights are random numbers: the text is gibberish, speed and memory are those of the shape.`
}

var shapes = map[string]tinymodel.Spec{
	"qwen2.5-0.5b": {Arch: "qwen2", Layers: 24, Dim: 896, Heads: 14, KVHeads: 2, FF: 4864, Context: 32768, RopeBase: 1e6},
	"qwen2.5-1.5b": {Arch: "qwen2", Layers: 28, Dim: 1536, Heads: 12, KVHeads: 2, FF: 8960, Context: 32768, RopeBase: 1e6},
}

// qwenWords returns as many words of four letters as fill a vocabulary of 151,936 tokens together with
// their beginnings of two and three letters, 256 bytes and the end of the text.
func qwenWords() []string {
	w := make([]string, 151936-26*26-26*26*26-256-1)
	for i := range w {
		w[i] = string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26), 'a' + byte(i/17576)})
	}
	return w
}

// parseType reads the name of a type that a flag gives.
func parseType(flag, name string) (npu.DType, error) {
	i := slices.IndexFunc(npu.DTypes, func(t npu.DType) bool { return strings.EqualFold(t.String(), name) })
	if i < 0 {
		return 0, fmt.Errorf("%s %s: not known, use one of %v", flag, name, npu.DTypes)
	}
	return npu.DTypes[i], nil
}

func (c *modelsRandom) Run(a *App) error {
	spec, ok := shapes[c.Like]
	if !ok {
		return fmt.Errorf("--like %s: not known, use one of %s", c.Like, strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
	}
	var err error
	if spec.Type, err = parseType("--type", c.Type); err != nil {
		return err
	}
	if c.Embedding != "" {
		t, err := parseType("--embedding", c.Embedding)
		if err != nil {
			return err
		}
		spec.Embed = &t
	}
	spec.Seed, spec.Words = c.Seed, qwenWords()
	switch c.Arch {
	case "":
	case "qwen2", "llama":
		spec.Arch = c.Arch
	default:
		return fmt.Errorf("--arch %s: not known, use qwen2 or llama", c.Arch)
	}
	n := spec.Type.BlockSize()
	if spec.Embed != nil {
		n = max(n, spec.Embed.BlockSize())
	}
	if spec.Dim%n != 0 || spec.FF%n != 0 {
		return fmt.Errorf("--type %s: rows of %d are not whole blocks of %d: use q4_0 or q8_0, or another shape", c.Type, spec.Dim, n)
	}
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: choose another name", c.Out)
	}
	if err != nil {
		return err
	}
	meta, tensors := tinymodel.Parts(spec)
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(gguf.Write(w, meta, tensors), w.Flush(), f.Close()); err != nil {
		os.Remove(c.Out)
		return fmt.Errorf("write %s: %w", c.Out, err)
	}
	size := 0
	for _, t := range tensors {
		size += len(t.Data)
	}
	fmt.Fprintf(a.Out, "%s: %s %s with random weights, %s\n", c.Out, c.Like, spec.Type, Bytes(int64(size)))
	return nil
}
