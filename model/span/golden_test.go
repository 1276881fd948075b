package span

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

type golden struct {
	Question, Passage string
	None              float64
	Spans             []struct {
		Begin, End int
		P          float64
	}
}

func goldens(t *testing.T, path string) (out []golden) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var g golden
		if err := json.Unmarshal(s.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// widened returns the file with all tensors as F32, so that products equal those of the recipe's own code up to the order
// of sums.
func widened(t *testing.T, f *gguf.File) *gguf.File {
	var tensors []npu.Tensor
	for _, info := range f.Tensors {
		x, err := f.Tensor(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		wide := make([]float32, x.Rows*x.Cols)
		if err := quant.Dequantize(x.Type, wide, x.Data); err != nil {
			t.Fatal(err)
		}
		y := npu.Tensor{Name: x.Name, Type: npu.F32, Cols: x.Cols, Rows: x.Rows, Data: make([]byte, 4*len(wide))}
		if err := quant.Quantize(npu.F32, y.Data, wide); err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, y)
	}
	var b bytes.Buffer
	if err := gguf.Write(&b, f.KVs(), tensors); err != nil {
		t.Fatal(err)
	}
	wide, err := gguf.Parse("test", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return wide
}

// shipped opens the reader that the program embeds.
func shipped(t testing.TB) *gguf.File {
	f, err := gguf.Open("../../models/span.gguf")
	if err != nil {
		t.Skipf("no span reader is shipped: %v", err)
	}
	return f
}

// small opens a small reader with random weights.
func small(t testing.TB) *gguf.File {
	f, err := gguf.Open("testdata/small.gguf")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGolden compares with the recipe's own code: closely with the same weights as floats, where only the order of sums
// differs, and loosely with the weights as shipped, where inputs of products are rounded to 8 bits. The recipe
// translates no words.
func TestGolden(t *testing.T) {
	shipped, small := shipped(t), small(t)
	const cases, smallCases = "../../models/testdata/span-golden.jsonl", "testdata/small.jsonl"
	d := native.New(1)
	for _, c := range []struct {
		name  string
		file  *gguf.File
		cases string
		bound float64
	}{
		{"weights as floats", widened(t, shipped), cases, 2e-4}, {"as shipped", shipped, cases, .15},
		{"small, as floats", widened(t, small), smallCases, 2e-4}, {"small", small, smallCases, .15},
	} {
		r, err := New(c.file, d, 1)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, g := range goldens(t, c.cases) {
			text := r.lexicon.analyseIn(g.Passage, r.maxPassage, English)
			p := &Passage{text, once(func() (known, error) { return r.encode(text, false) })}
			got, err := r.Read(t.Context(), g.Question, []*Passage{p})
			if err != nil {
				t.Fatal(err)
			}
			off := far(t, got[0], g)
			worst = max(worst, off)
			if off > c.bound {
				t.Errorf("%s: %q: off by %.4f", c.name, g.Question, off)
			}
		}
		t.Logf("%s: off by at most %.5f", c.name, worst)
	}
}

func read(t testing.TB, r *Reader, question, passage string) *Posterior {
	p := r.Passage(passage)
	got, err := r.Read(t.Context(), question, []*Passage{p})
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// far returns the largest difference between a posterior and what it should be.
func far(t *testing.T, got *Posterior, want golden) float64 {
	off, sum := math.Abs(got.None-want.None), got.None
	at := map[[2]int]float64{}
	for _, s := range got.Spans {
		at[[2]int{s.Begin, s.End}] = s.P
		sum += s.P
	}
	if math.Abs(sum-1) > 1e-4 {
		t.Errorf("%q: probabilities sum to %v", want.Question, sum)
	}
	for _, s := range want.Spans {
		off = max(off, math.Abs(at[[2]int{s.Begin, s.End}]-s.P))
	}
	return off
}
