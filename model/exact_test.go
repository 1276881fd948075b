package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/quant"
)

// Files with tensors of types that devices do not multiply by give the same logits as in llama.cpp.
func TestForeignTypesAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for name, typ := range map[string]npu.DType{"Q4_1": quant.Q4_1, "Q5_0": quant.Q5_0, "Q5_1": quant.Q5_1, "Q2_K": quant.Q2_K,
		"Q3_K": quant.Q3_K, "IQ4_NL": quant.IQ4_NL, "IQ4_XS": quant.IQ4_XS, "MXFP4": quant.MXFP4} {
		for _, embedding := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, embedding), func(t *testing.T) {
				compareForeign(t, lib, typ, embedding)
			})
		}
	}
}

// So do experts of such a type, as those of gpt-oss are.
func TestForeignExpertsAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for name, typ := range map[string]npu.DType{"MXFP4": quant.MXFP4, "Q5_1": quant.Q5_1} {
		t.Run(name, func(t *testing.T) {
			meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: "gpt-oss", Dim: 96, FF: 160, Seed: 7})
			for i, old := range tensors {
				if !strings.HasSuffix(old.Name, "_exps.weight") {
					continue
				}
				tensors[i].Type, tensors[i].Data = typ, foreignData(t, lib, typ, old)
			}
			compareFile(t, lib, encode(t, meta, tensors))
		})
	}
}

// foreignData returns a tensor's values in a type, as llama.cpp rounds them.
func foreignData(t *testing.T, lib *llamacpp.Lib, typ npu.DType, old npu.Tensor) []byte {
	t.Helper()
	x := make([]float32, old.Rows*old.Cols)
	if err := quant.Dequantize(old.Type, x, old.Data); err != nil {
		t.Fatal(err)
	}
	values, size := quant.ForeignBlock(typ)
	b := make([]byte, len(x)/values*size)
	if err := lib.Quantize(uint32(typ), b, x); err != nil {
		t.Fatal(err)
	}
	return b
}

// compareForeign compares a model whose matrices have a type, all of them or all but the embedding, which is also the
// output. The latter is F32, so positions at which no input was rounded the other way show that the arithmetic is the same.
func compareForeign(t *testing.T, lib *llamacpp.Lib, typ npu.DType, embedding bool) {
	values, _ := quant.ForeignBlock(typ)
	spec := tinymodel.Spec{Arch: "qwen2", Dim: 96, FF: 160, Seed: 5}
	if values == 256 {
		spec.Dim, spec.FF = 256, 512
	}
	meta, tensors := tinymodel.Parts(spec)
	for i, old := range tensors {
		if old.Rows == 1 || old.Name == "token_embd.weight" && !embedding {
			continue
		}
		tensors[i].Type, tensors[i].Data = typ, foreignData(t, lib, typ, old)
	}
	nearest := compareFile(t, lib, encode(t, meta, tensors))
	if typ == quant.Q4_1 || typ == quant.Q5_1 {
		return // llama.cpp rounds the sum of each block of inputs to F16 (Q8_1), so later inputs always differ a little
	}
	if !embedding && nearest > sameArithmetic[npu.Q8_0] {
		t.Errorf("no position agrees to %.2g: the closest differs by %.2g", sameArithmetic[npu.Q8_0], nearest)
	}
}

// compareFile compares the logits of 32 tokens with llama.cpp's, and returns the smallest difference of a position.
func compareFile(t *testing.T, lib *llamacpp.Lib, file []byte) (nearest float64) {
	_, want, got := bothLogits(t, lib, file, 32)
	worst := 0.0
	nearest = math.Inf(1)
	for pos := range got {
		off, scale := 0.0, deviation(want[pos])
		for i := range got[pos] {
			off = max(off, math.Abs(float64(got[pos][i]-want[pos][i]))/scale)
		}
		worst, nearest = max(worst, off), min(nearest, off)
	}
	t.Logf("off by %.2g to %.2g of the logits' deviation", nearest, worst)
	if !(worst <= oracleBound[npu.Q8_0]) {
		t.Errorf("logits differ by %.2g of their deviation, want at most %.2g", worst, oracleBound[npu.Q8_0])
	}
	return nearest
}
