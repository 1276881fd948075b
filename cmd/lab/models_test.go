package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/cmd/internal/modelcmd"
	"tandem/internal/tinymodel"
	"tandem/model"
)

// The help names the shapes that there are.
func TestShapesInHelp(t *testing.T) {
	f, _ := reflect.TypeFor[modelsRandom]().FieldByName("Like")
	list := strings.NewReplacer("Shape: ", "", " or ", ", ").Replace(f.Tag.Get("help"))
	named := strings.Split(strings.TrimSuffix(list, "."), ", ")
	if want := slices.Collect(maps.Keys(shapes)); len(named) != len(want) || slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(named, s) }) {
		t.Errorf("help names %q, shapes are %q", named, want)
	}
}

// A random model opens, has the shape that was asked for, and is the same file for the same seed. Its dimensions are small
// here, but its vocabulary is the real one.
func TestModelsRandom(t *testing.T) {
	out := &bytes.Buffer{}
	a := &cli.App{Context: t.Context(), Screen: &cli.Screen{Out: out, Aside: io.Discard}, Globals: &cli.Globals{JSON: true}}
	name := "small"
	s := shapes["llama3.1-8b"]
	s.Spec = tinymodel.Spec{Arch: s.Arch, Layers: 2, Dim: 256, Heads: 2, KVHeads: 1, FF: 512, Context: 64, RopeBase: s.RopeBase, Factors: s.Factors, Untied: s.Untied}
	shapes[name] = s
	t.Cleanup(func() { delete(shapes, name) })
	dir := t.TempDir()
	write := func(file string, seed uint64) []byte {
		t.Helper()
		out.Reset()
		path := filepath.Join(dir, file)
		if err := (&modelsRandom{Out: path, Like: name, Type: "q4_k", Embedding: "q8_0", Seed: seed}).Run(a); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var said struct {
			Path, Type string
			Bytes      int
		}
		if err := json.Unmarshal(out.Bytes(), &said); err != nil || said.Path != path || said.Type != "Q4_K" || said.Bytes <= 0 || said.Bytes > len(data) {
			t.Errorf("%s: %v", out, err)
		}
		return data
	}
	one := write("one.gguf", 1)
	if !bytes.Equal(one, write("again.gguf", 1)) {
		t.Error("one seed gives two files")
	}
	if bytes.Equal(one, write("two.gguf", 2)) {
		t.Error("two seeds give one file")
	}
	m, err := modelcmd.ModelFlags{Model: filepath.Join(dir, "one.gguf"), Threads: 1}.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if n := m.Config().Vocab; n != 128256 {
		t.Errorf("%d tokens", n)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a.Context = ctx
	path := filepath.Join(dir, "interrupted.gguf")
	if err := (&modelsRandom{Out: path, Like: name, Type: "q4_0"}).Run(a); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an interrupted run leaves %v", err)
	}
}

func TestModelsRandomRefuses(t *testing.T) {
	h := clitest.NewHome(t)
	out := filepath.Join(t.TempDir(), "x.gguf")
	for _, c := range []struct{ flag, want string }{
		{"--like=llama-9", "qwen2.5-0.5b"},
		{"--type=q9", "unknown"},
		{"--type=q4_k", "not whole blocks of 256"}, // 896 values in a row
		{"--arch=mamba", "use one of bert, dream, gemma"},
	} {
		if _, stderr, err := h.Run("models", "random", c.flag, out); err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %v: %s", c.flag, err, stderr)
		}
	}
	clitest.Write(t, filepath.Dir(out), "x.gguf", "mine")
	if _, stderr, err := h.Run("models", "random", out); err == nil || !strings.Contains(stderr, "exists") {
		t.Errorf("an existing file: %v: %s", err, stderr)
	}
}

// The table in docs has a line for each architecture, and the program prints no other lines.
func TestModelsTableIsOfToday(t *testing.T) {
	b, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for _, arch := range model.Architectures() {
		if modelNames[arch] == "" || !strings.Contains(doc, "\n| `"+arch+"` | "+modelNames[arch]+" | ") {
			t.Errorf("docs/models.md has no line for %s: lab models table prints it", arch)
		}
	}
	if !strings.Contains(doc, tableHead) || !strings.Contains(doc, offHead) || !strings.Contains(doc, speedHead) {
		t.Error("docs/models.md has not what lab models table prints")
	}
	if b, err = os.ReadFile("../../docs/engine.md"); err != nil || !strings.Contains(string(b), depthHead) || !strings.Contains(string(b), depthTail) {
		t.Errorf("docs/engine.md has not what lab models depth prints: %v", err)
	}
	if !strings.Contains(string(b), shapesHead) {
		t.Error("docs/engine.md has not what lab models speed prints")
	}
	for name, s := range shapes {
		line := fmt.Sprintf("\n| `%s` | %s | %d of %d | ", s.Arch, name, min(s.measured, s.Layers), s.Layers)
		if s.measured > 0 && !strings.Contains(string(b), line) {
			t.Errorf("docs/engine.md has no line for %s: lab models speed %s", name, name)
		}
	}
}

// Models with windows, experts and short convolutions answer in a pair like any other: one seed gives one text, wherever the
// sides decide.
func TestPairsOfArchitectures(t *testing.T) {
	for _, arch := range []string{"gemma3", "gpt-oss", "lfm2"} {
		if got, err := pairTexts(t.Context(), arch); err != nil || got != "10 of 10 equal" {
			t.Errorf("%s: %s, %v", arch, got, err)
		}
	}
}
