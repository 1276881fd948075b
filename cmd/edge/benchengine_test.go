package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/models"
)

func TestBenchEngine(t *testing.T) {
	h := newHome(t)
	stdout, stderr, err := h.edge("bench", "engine", "--rows", "1,3", "--runs", "2", "--prompt", "9", "--steps", "2", "--threads", "1", "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var got struct {
		Rows []engineRow `json:"rows"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"prefill 9", "decode after 0", "decode after 9", "decode 3 rows after 0", "decode 3 rows after 9"}
	if len(got.Rows) != len(want) {
		t.Fatalf("%d rows: %s", len(got.Rows), stdout)
	}
	for i, r := range got.Rows {
		if r.Test != want[i] || r.Type == "" || !(0 < r.Least && r.Least <= r.Ours && r.Ours <= r.Most) || (r.OfLimit > 0) != (i > 0) {
			t.Errorf("row %d, wanted %q: %+v", i, want[i], r)
		}
	}
	for _, c := range [][2]string{
		{"--rows=0", "--rows 1 to 128"},
		{"--prompt=100000", "exceed the model's context"},
		{"--against=vllm", "use llama.cpp"},
		{"--against=llama.cpp --prompt=9", "needs --model FILE"},
		{"rows.json", "needs --json before it"},
	} {
		if _, stderr, err := h.edge(append([]string{"bench", "engine"}, strings.Fields(c[0])...)...); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
		}
	}
}

// The peer's rows stand beside ours, also where a third process is busy, and --json FILE writes them.
func TestBenchEngineAgainst(t *testing.T) {
	if _, err := llamacpp.Load(); err != nil {
		t.Skip(err)
	}
	h := newHome(t)
	file, rows := filepath.Join(h.dir, "m.gguf"), filepath.Join(h.dir, "rows.json")
	if err := os.WriteFile(file, models.Reader, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := h.edgeWith([]string{"TANDEM_LLAMA_PATH=" + os.Getenv("TANDEM_LLAMA_PATH")}, "bench", "engine", "--model", file, "--rows", "2", "--runs", "1",
		"--prompt", "9", "--steps", "2", "--threads", "1", "--against", "llama.cpp", "--busy", "--json", rows)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	data, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows []engineRow `json:"rows"`
	}
	if err := json.Unmarshal(data, &got); err != nil || len(got.Rows) != 3 {
		t.Fatalf("%v: %s", err, data)
	}
	for _, r := range got.Rows {
		if want := r.Ours / r.Theirs; !(r.Theirs > 0 && r.Ratio > 0.99*want && r.Ratio < 1.01*want) {
			t.Errorf("%+v", r)
		}
	}
}

func TestModelsRandomRefuses(t *testing.T) {
	h := newHome(t)
	out := filepath.Join(t.TempDir(), "x.gguf")
	for _, c := range []struct{ flag, want string }{
		{"--like=llama-9", "qwen2.5-0.5b"},
		{"--type=q9", "not known"},
		{"--type=q4_k", "not whole blocks of 256"}, // 896 values in a row
		{"--arch=opt", "use qwen2 or llama"},
	} {
		if _, stderr, err := h.edge("models", "random", c.flag, out); err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %v: %s", c.flag, err, stderr)
		}
	}
	write(t, filepath.Dir(out), "x.gguf", "mine")
	if _, stderr, err := h.edge("models", "random", out); err == nil || !strings.Contains(stderr, "exists") {
		t.Errorf("an existing file: %v: %s", err, stderr)
	}
}
