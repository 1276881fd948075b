package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
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
	} {
		if _, stderr, err := h.edge("bench", "engine", c[0]); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
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
