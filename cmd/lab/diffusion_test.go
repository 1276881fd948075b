package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/models"
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
