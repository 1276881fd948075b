package model

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

// Files with Q5_0 and IQ4_NL tensors, which become Q8_0 on opening, give the same logits as in llama.cpp.
func TestTypesThatBecomeQ8(t *testing.T) {
	lib := llamacpp.Need(t)
	for name, typ := range map[string]npu.DType{"Q5_0": quant.Q5_0, "IQ4_NL": quant.IQ4_NL} {
		t.Run(name, func(t *testing.T) {
			meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: "qwen2", Dim: 96, FF: 160, Seed: 5})
			for i, old := range tensors {
				if old.Rows == 1 {
					continue
				}
				x := make([]float32, old.Rows*old.Cols)
				if err := quant.Dequantize(old.Type, x, old.Data); err != nil {
					t.Fatal(err)
				}
				b := make([]byte, len(x)/32*quant.ExactBlock(typ))
				if err := lib.Quantize(uint32(typ), b, x); err != nil {
					t.Fatal(err)
				}
				tensors[i].Type, tensors[i].Data = typ, b
			}
			file := encode(t, meta, tensors)
			path := filepath.Join(t.TempDir(), "m.gguf")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			theirs, err := lib.Open(path, false)
			if err != nil {
				t.Fatal(err)
			}
			defer theirs.Close()
			ours, err := Open(path, native.New(1))
			if err != nil {
				t.Fatal(err)
			}
			defer ours.Close()
			ids, tokens := make([]int32, 32), make([]tandem.Token, 32)
			for i := range ids {
				ids[i] = int32((i*89 + 17) % 256)
				tokens[i] = tandem.Token(ids[i])
			}
			want, err := theirs.Logits(ids)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours.Forward(context.Background(), []Input{{Seq: ours.NewSeq(), Tokens: tokens, All: true}})
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for pos := range got {
				scale := deviation(want[pos])
				for i := range got[pos] {
					worst = max(worst, math.Abs(float64(got[pos][i]-want[pos][i]))/scale)
				}
			}
			t.Logf("off by %.2g of the logits' deviation", worst)
			if worst > oracleBound[npu.Q8_0] {
				t.Errorf("logits differ by %.2g of their deviation, want at most %.2g", worst, oracleBound[npu.Q8_0])
			}
		})
	}
}
