package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/internal/llamacpp"
	"tandem/model/convert"
)

// modelsSpeed compares the speed of models of real shapes with llama.cpp's.
type modelsSpeed struct {
	Names []string `arg:"" optional:"" help:"Shapes; none for all that stand for an architecture." placeholder:"SHAPE"`
	Runs  int      `help:"Runs of each measurement, alternating." default:"3"`
	Steps int      `help:"Tokens to decode of each sequence." default:"8"`
}

func (*modelsSpeed) Help() string {
	return `Examples:
  lab models speed
  lab models speed qwen3-0.6b --runs 5

Makes a model of random weights in the shape of a published one for each architecture, as Q4_K_M and as Q8_0, and measures its speed and that of llama.cpp (TANDEM_LLAMA_PATH) with one thread, by the processor's time. A model is deleted before the next is made. The table stands in docs/engine.md.`
}

const shapesHead = `## Models of real shapes

The speed of Tandem divided by llama.cpp's, in prefill of 128 tokens / decoding after them /
decoding 8 rows after them, in models of random weights with the shapes of published ones. The types
of their matrices are those that llama.cpp's quantiser gives them. ` + "`lab models speed`" + ` prints the
table: one thread, by the processor's time, medians of alternating runs. *layers* says how many of a
model's layers were measured, so that both engines' copies fit in memory; the output matrix then
weighs more than in the whole. The experts of gpt-oss are in MXFP4, as published.

`

func (c *modelsSpeed) Run(a *cli.App) error {
	if c.Runs < 1 || c.Steps < 1 {
		return errors.New("--runs and --steps must be 1 or more")
	}
	names := c.Names
	if len(names) == 0 {
		for name, s := range shapes {
			if s.measured > 0 {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(x, y string) int { return strings.Compare(shapes[x].Arch+x, shapes[y].Arch+y) })
	}
	for _, name := range names {
		if _, ok := shapes[name]; !ok {
			return fmt.Errorf("%s: unknown, use some of %s", name, strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
		}
	}
	if _, err := llamacpp.Load(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lab-models")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := newTables(a)
	t.text(shapesHead)
	t.begin("shapes", "architecture", "shape", "layers", "Q4_K_M", "Q8_0", "AVX2: Q4_K_M", "AVX2: Q8_0")
	for _, name := range names {
		if err := c.row(t, name, filepath.Join(dir, "m.gguf")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	t.engines()
	return t.end()
}

// row adds the row of a shape. It writes its models to path.
func (c *modelsSpeed) row(t *tables, name, path string) error {
	var speeds [2 * len(speedLevels)]string // Q4_K_M and Q8_0 at each level
	s := shapes[name]
	layers := min(max(s.measured, 1), s.Layers)
	for i, typ := range []string{"q4_k_m", "q8_0"} {
		random := modelsRandom{Out: path, Like: name, Type: typ, Layers: layers, Seed: 1}
		if _, err := random.make(t.app); err != nil {
			return err
		}
		for level, l := range speedLevels {
			t.app.Progress("%s as %s, level %d of %d", name, typ, level+1, len(speedLevels))
			speed, err := l.measure(t.app, path, c.Runs, c.Steps)
			if err != nil {
				return err
			}
			speeds[2*level+i] = speed
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	t.row(append([]string{"`" + s.Arch + "`", name, fmt.Sprintf("%d of %d", layers, s.Layers)}, speeds[:]...)...)
	return nil
}

// parseMix returns the scheme that a flag names, if it names a mix of types that is not a type, such as q4_k_m.
func parseMix(name string) (convert.Scheme, bool) {
	mix, err := convert.ParseScheme(name)
	name = strings.ToLower(name)
	return mix, err == nil && (strings.HasSuffix(name, "_m") || strings.HasSuffix(name, "_s"))
}
