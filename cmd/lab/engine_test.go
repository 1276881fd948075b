package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/internal/llamacpp"
	"tandem/lab/engine"
	"tandem/models"
)

func TestEngine(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("engine", "--rows", "1,3", "--runs", "2", "--prompt", "9", "--steps", "2", "--threads", "1", "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var got struct {
		Rows []engine.Result `json:"rows"`
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
			t.Errorf("row %d, want %q: %+v", i, want[i], r)
		}
	}
	for _, c := range [][2]string{
		{"--rows=0", "--rows 1 to 128"},
		{"--prompt=100000", "exceed the model's context"},
		{"--steps=512", "exceed the model's context"},
		{"--against=vllm", "use llama.cpp"},
		{"--against=ik_llama.cpp=no-such-program", "lab/peers/ik_llama.sh"},
		{"--against=llama.cpp --prompt=9", "needs --model FILE"},
		{"--processor-time --threads=2", "needs --threads 1"},
		{"rows.json", "needs --json before it"},
	} {
		if _, stderr, err := h.Run(append([]string{"engine"}, strings.Fields(c[0])...)...); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
		}
	}
}

// Without --prompt the prompt fits the model's context, and a remark says its length.
func TestEngineFits(t *testing.T) {
	stdout, stderr, err := clitest.NewHome(t).Run("engine", "--rows", "1", "--runs", "1", "--json")
	if err != nil || !strings.Contains(stderr, "a prompt of 447 tokens") || !strings.Contains(stdout, "prefill 447") {
		t.Errorf("%v: %s %s", err, stdout, stderr)
	}
}

// The results of llama.cpp are next to ours, even while a third process is busy, and --json FILE writes them.
func TestEngineAgainst(t *testing.T) {
	if _, err := llamacpp.Load(); err != nil {
		t.Skip(err)
	}
	h := clitest.NewHome(t)
	file, rows := filepath.Join(h.Dir, "m.gguf"), filepath.Join(h.Dir, "rows.json")
	if err := os.WriteFile(file, models.Decoder, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := h.RunWith([]string{"TANDEM_LLAMA_PATH=" + os.Getenv("TANDEM_LLAMA_PATH")}, "engine", "--model", file, "--rows", "2", "--runs", "1",
		"--prompt", "9", "--steps", "2", "--threads", "1", "--against", "llama.cpp", "--busy", "--json", rows)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	data, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows []engine.Result `json:"rows"`
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

// By the processor's time there is no limit, and the report says so.
func TestEngineProcessorTime(t *testing.T) {
	stdout, stderr, err := clitest.NewHome(t).Run("engine", "--rows", "1", "--runs", "1", "--prompt", "5", "--steps", "2", "--threads", "1", "--processor-time")
	if err != nil || !strings.Contains(stdout, "by the processor's time") || strings.Contains(stdout, "limit") || strings.Contains(stdout, "Inf") {
		t.Errorf("%v: %s %s", err, stdout, stderr)
	}
}

// Without a rate of memory no share of it is shown.
func TestEngineWithoutALimit(t *testing.T) {
	for _, rate := range []float64{0, 2e9} {
		r := engine.Report{Results: []engine.Result{{Test: "decode after 0", Ours: 5}}, Device: "ggml CUDA0", Bytes: 1e6, Rate: rate}
		if rate > 0 {
			r.Results[0].OfLimit = 0.5
		}
		var text strings.Builder
		printEngine(&text, r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"of limit", "GB/s", "50 %"} {
			if strings.Contains(text.String(), word) != (rate > 0) {
				t.Errorf("rate %v:\n%s", rate, &text)
			}
		}
		if strings.Contains(string(data), "bytes_per_second") != (rate > 0) || strings.Contains(string(data), "of_limit") != (rate > 0) {
			t.Errorf("rate %v: %s", rate, data)
		}
	}
}
