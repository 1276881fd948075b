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

// Files with tensors of types that are only read give the same logits as in llama.cpp.
func TestReadOnlyTypesAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for _, typ := range npu.ReadOnly {
		for _, embedding := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/%v", typ, embedding), func(t *testing.T) {
				compareReadOnly(t, lib, typ, embedding)
			})
		}
	}
}

// So do experts of such a type, as those of gpt-oss are.
func TestReadOnlyExpertsAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for _, typ := range []npu.DType{npu.MXFP4, npu.Q5_1} {
		t.Run(typ.String(), func(t *testing.T) {
			meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: "gpt-oss", Dim: 96, FF: 160, Seed: 7})
			for i, old := range tensors {
				if !strings.HasSuffix(old.Name, "_exps.weight") {
					continue
				}
				tensors[i].Type, tensors[i].Data = typ, readOnlyData(t, lib, typ, old)
			}
			compareFile(t, lib, encode(t, meta, tensors))
		})
	}
}

// readOnlyData returns a tensor's values in a type, as llama.cpp rounds them.
func readOnlyData(t *testing.T, lib *llamacpp.Lib, typ npu.DType, old npu.Tensor) []byte {
	t.Helper()
	x := make([]float32, old.Rows*old.Cols)
	if err := quant.Dequantize(old.Type, x, old.Data); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, typ.RowBytes(len(x)))
	if err := lib.Quantize(uint32(typ), b, x); err != nil {
		t.Fatal(err)
	}
	return b
}

// compareReadOnly compares a model whose matrices have a type, all of them or all but the embedding, which is also the
// output. The latter is F32, so positions at which no input was rounded the other way show that the arithmetic is the same.
func compareReadOnly(t *testing.T, lib *llamacpp.Lib, typ npu.DType, embedding bool) {
	spec := tinymodel.Spec{Arch: "qwen2", Dim: 96, FF: 160, Seed: 5}
	if typ.BlockSize() == 256 {
		spec.Dim, spec.FF = 256, 512
	}
	meta, tensors := tinymodel.Parts(spec)
	for i, old := range tensors {
		if old.Rows == 1 || old.Name == "token_embd.weight" && !embedding {
			continue
		}
		tensors[i].Type, tensors[i].Data = typ, readOnlyData(t, lib, typ, old)
	}
	nearest := compareFile(t, lib, encode(t, meta, tensors))
	if typ == npu.Q4_1 || typ == npu.Q5_1 {
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
