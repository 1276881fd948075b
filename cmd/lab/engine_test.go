package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/internal/llamacpp"
	"tandem/models"
	"tandem/npu/native"
)

func TestBenchEngine(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("engine", "--rows", "1,3", "--runs", "2", "--prompt", "9", "--steps", "2", "--threads", "1", "--json")
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
		{"--steps=512", "exceed the model's context"},
		{"--against=vllm", "use llama.cpp"},
		{"--against=llama.cpp --prompt=9", "needs --model FILE"},
		{"rows.json", "needs --json before it"},
	} {
		if _, stderr, err := h.Run(append([]string{"engine"}, strings.Fields(c[0])...)...); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
		}
	}
}

// What is left open fits the model, and how is said.
func TestBenchEngineFits(t *testing.T) {
	stdout, stderr, err := clitest.NewHome(t).Run("engine", "--rows", "1", "--runs", "1", "--json")
	if err != nil || !strings.Contains(stderr, "a prompt of 447 tokens") || !strings.Contains(stdout, "prefill 447") {
		t.Errorf("%v: %s %s", err, stdout, stderr)
	}
}

// The peer's rows stand beside ours, also where a third process is busy, and --json FILE writes them.
func TestBenchEngineAgainst(t *testing.T) {
	if _, err := llamacpp.Load(); err != nil {
		t.Skip(err)
	}
	h := clitest.NewHome(t)
	file, rows := filepath.Join(h.Dir, "m.gguf"), filepath.Join(h.Dir, "rows.json")
	if err := os.WriteFile(file, models.Reader, 0o644); err != nil {
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

func TestMedian(t *testing.T) {
	for _, c := range []struct{ s, want []float64 }{
		{[]float64{3}, []float64{3, 3, 3}},
		{[]float64{9, 1}, []float64{5, 1, 9}},
		{[]float64{7, 1, 3}, []float64{3, 1, 7}},
		{[]float64{8, 1, 2, 4}, []float64{3, 1, 8}},
	} {
		middle, least, most := median(slices.Clone(c.s))
		if got := []float64{middle, least, most}; !slices.Equal(got, c.want) {
			t.Errorf("%v: median, least and most are %v, not %v", c.s, got, c.want)
		}
	}
}

// A run's share of the limit is of what the machine read around that very run.
func TestLimitOfTheSameRun(t *testing.T) {
	decode := engineTest{name: "decode 2 rows after 0", rows: 2}
	m := runs{speeds: [][]float64{{20, 80, 40}, {10, 20, 40}}, rates: []float64{100, 400, 160}}
	r := decode.row("F16", m, 9)
	if r.OfLimit != 0.9 || r.Ours != 40 || r.Theirs != 20 || r.Ratio != 2 {
		t.Errorf("%+v", r)
	}
}

// A device whose memory could not be read has no share of a limit.
func TestBenchEngineWithoutALimit(t *testing.T) {
	for _, rate := range []float64{0, 2e9} {
		r := engineReport{Rows: []engineRow{{Test: "decode after 0", Ours: 5}}, Device: "ggml CUDA0", Bytes: 1e6, Rate: rate}
		if rate > 0 {
			r.Rows[0].OfLimit = 0.5
		}
		var text strings.Builder
		r.print(&text)
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

// A device's memory is read by products; here the processor's.
func TestDeviceReader(t *testing.T) {
	r, err := deviceReader(native.New(1), 8)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	rate := 0.0
	for _, wanted := range []bool{true, false} {
		ran := false
		rate = 0
		if err := r.around(wanted, &rate, func() error { ran = true; return nil }); err != nil || !ran || (rate > 0) != wanted {
			t.Errorf("wanted %v: rate %v, ran %v, %v", wanted, rate, ran, err)
		}
	}
	if n, err := r.read(); n != 32*8*8192*2 || err != nil || len(r.seen) != 2 {
		t.Errorf("%d bytes, %v, %d rates", n, err, len(r.seen))
	}
	broken := &reader{read: func() (int, error) { return 0, errors.New("gone") }}
	if err := broken.around(true, &rate, func() error { return nil }); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}
