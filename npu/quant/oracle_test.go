package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/npu"
)

// The same bytes are the same values as in ggml, bit for bit, and Quantize loses at most 2 % more than ggml.
func TestAgainstGGML(t *testing.T) {
	lib := llamacpp.Need(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, typ := range []npu.DType{npu.Q8_0, npu.Q4_0, npu.Q4_K, npu.Q5_K, npu.Q6_K} {
		const n = 64 * 256
		b := make([]byte, typ.RowBytes(n))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		ours, theirs := make([]float32, n), make([]float32, n)
		if err := Dequantize(typ, ours, b); err != nil {
			t.Fatal(err)
		}
		if err := lib.Dequantize(typ.String(), theirs, b); err != nil {
			t.Fatal(err)
		}
		for i := range ours {
			if math.Float32bits(ours[i]) != math.Float32bits(theirs[i]) && (ours[i] == ours[i] || theirs[i] == theirs[i]) {
				t.Fatalf("%v: value %d is %v, ggml says %v", typ, i, ours[i], theirs[i])
			}
		}

		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		if err := lib.Quantize(uint32(typ), b, x); err != nil {
			t.Fatal(err)
		}
		if err := Dequantize(typ, theirs, b); err != nil {
			t.Fatal(err)
		}
		ours = roundTrip(t, typ, x)
		var lossOurs, lossTheirs float64
		for i := range x {
			lossOurs += math.Pow(float64(ours[i]-x[i]), 2)
			lossTheirs += math.Pow(float64(theirs[i]-x[i]), 2)
		}
		t.Logf("%v: squared error %.4f of ggml's", typ, lossOurs/lossTheirs)
		if lossOurs > 1.02*lossTheirs {
			t.Errorf("%v: squared error is %.3f of ggml's", typ, lossOurs/lossTheirs)
		}
	}
}
