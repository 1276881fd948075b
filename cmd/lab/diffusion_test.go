package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/lab/phone"
	"tandem/model"
	"tandem/models"
	"tandem/npu/native"
)

func TestDiffusionCommand(t *testing.T) {
	h := clitest.NewHome(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "rows.json")
	clitest.Write(t, dir, "in.jsonl", `{"prompt": "The mill", "answer": "x"}`+"\n")
	if _, stderr, err := h.Run("diffusion", "--tokens", "8", "--methods", "prefix-kv,+scr", "--variants", "--soc", "sm8750/llada", "--inputs", filepath.Join(dir, "in.jsonl"), "--svg", dir, "--json", file); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Rows []struct {
			Model, Method string
			Tokens        int
			Forwards      float64
			Logit_rows    float64
			Wall_ms       float64
			Sim_ms        map[string]float64
			Exact_match   *float64
		}
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Rows) != 15 || out.Rows[0].Forwards != 8 || out.Rows[1].Sim_ms["sm8750"] <= 0 || out.Rows[1].Exact_match == nil || out.Rows[0].Model != "random weights" {
		t.Errorf("%s", data)
	}
	for _, name := range []string{"diffusion-states.svg", "diffusion-paths.svg"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(data), "<svg") {
			t.Errorf("%s: %v", name, err)
		}
	}
	clitest.Write(t, dir, "plain.gguf", string(tinymodel.GGUF(tinymodel.Spec{})))
	clitest.Write(t, dir, "reader.gguf", string(models.Decoder))
	words := []string{"mill"}
	clitest.Write(t, dir, "blocks.gguf", string(tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Words: words})))
	clitest.Write(t, dir, "tokens.gguf", string(tinymodel.GGUF(tinymodel.Spec{Words: words})))
	if stdout, stderr, err := h.Run("diffusion", "--tokens", "8", "--methods", "prefix-kv", "--model", filepath.Join(dir, "blocks.gguf"), "--against", filepath.Join(dir, "tokens.gguf")); err != nil || !strings.Contains(stdout, "token by token") {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--tokens", "0"}, "--tokens 0"}, {[]string{"--methods", "slow"}, "fast-dllm"}, {[]string{"--soc", "sm9/llada"}, "sm9"},
		{[]string{"--model", filepath.Join(dir, "plain.gguf")}, "autoregressive"}, {[]string{"--inputs", file}, "line 1"},
		{[]string{"--tokens", "8", "--methods", "prefix-kv", "--against", filepath.Join(dir, "reader.gguf")}, "vocabulary"},
	} {
		if _, stderr, err := h.Run(append([]string{"diffusion"}, c.flags...)...); err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %v: %s", c.flags, err, stderr)
		}
	}
}

// The times of the reference stand in the order of the answers' lengths.
func TestDiffusionReferenceOrder(t *testing.T) {
	llama := map[int]map[string]float64{}
	for n := 1; n <= 9; n++ {
		llama[n] = map[string]float64{"sm8750": float64(n)}
	}
	var out strings.Builder
	printDiffusion(&out, []phone.DiffusionResult{{SimMs: llama[1]}}, llama)
	var lengths []string
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(line, "Llama-3.1-8B, "); ok {
			lengths = append(lengths, rest[:1])
		}
	}
	if got := strings.Join(lengths, ""); got != "123456789" {
		t.Errorf("lengths %s in\n%s", got, &out)
	}
}

// --limit holds for the built-in prompts too, and a line of --inputs that is too long is an error that says so.
func TestDiffusionInputs(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if in, err := (&diffusionCmd{Limit: 1}).inputs(m); err != nil || len(in) != 1 {
		t.Errorf("%d inputs, %v", len(in), err)
	}
	dir := t.TempDir()
	clitest.Write(t, dir, "long.jsonl", `{"prompt": "`+strings.Repeat("x", 1<<20)+`"}`)
	if _, err := (&diffusionCmd{Inputs: filepath.Join(dir, "long.jsonl")}).inputs(m); err == nil || !strings.Contains(err.Error(), "line 1 is longer than 1 MB") {
		t.Error(err)
	}
}
