package quant

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/npu"
)

// Blocks of the types that are read only hold the values that ggml reads.
func TestReadOnlyAgainstGGML(t *testing.T) {
	lib := llamacpp.Need(t)
	halves := map[npu.DType][]int{npu.Q4_1: {0, 2}, npu.Q5_0: {0}, npu.Q5_1: {0, 2}, npu.Q2_K: {80, 82}, npu.Q3_K: {108}, npu.IQ4_NL: {0}, npu.IQ4_XS: {0}}
	for _, typ := range npu.ReadOnly {
		r := rand.New(rand.NewPCG(uint64(typ), 5))
		b := make([]byte, 256*typ.BlockBytes())
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for i := 0; i < len(b); i += typ.BlockBytes() {
			for _, h := range halves[typ] {
				b[i+h+1] &= 0xbf // no infinities, no NaN
			}
		}
		ours, theirs := make([]float32, 256*typ.BlockSize()), make([]float32, 256*typ.BlockSize())
		if err := lib.Dequantize(typ.String(), theirs, b); err != nil {
			t.Fatal(err)
		}
		if err := Dequantize(typ, ours, b); err != nil {
			t.Fatal(err)
		}
		for i := range ours {
			if ours[i] != theirs[i] {
				t.Fatalf("%v: value %d is %v, ggml says %v", typ, i, ours[i], theirs[i])
			}
		}
	}
}

// Blocks of Q5_0, IQ4_NL and MXFP4, and the values that their layouts give them by hand.
func TestReadOnlyByHand(t *testing.T) {
	b := make([]byte, 22)
	b[1], b[2], b[5], b[6], b[7] = 0x38, 1, 0x80, 0xF3, 0x0F // d = 1/2; high bits of values 0 and 31
	y := make([]float32, 32)
	if err := Dequantize(npu.Q5_0, y, b); err != nil || y[0] != 1.5 || y[16] != -0.5 || y[1] != -0.5 || y[2] != -8 || y[31] != 0 {
		t.Errorf("Q5_0: %v (%v)", y, err)
	}
	if err := Dequantize(npu.IQ4_NL, y, append([]byte{0, 0x40, 0xf0}, make([]byte, 15)...)); err != nil || y[0] != -254 || y[16] != 226 || y[1] != -254 {
		t.Errorf("IQ4_NL: %v (%v)", y, err)
	}
	for _, e := range []byte{0, 1, 2, 80, 127, 200, 254, 255} {
		if err := Dequantize(npu.MXFP4, y, append([]byte{e, 0xf2}, make([]byte, 15)...)); err != nil ||
			y[0] != float32(math.Ldexp(2, int(e)-128)) || y[16] != float32(math.Ldexp(-12, int(e)-128)) {
			t.Errorf("MXFP4 with exponent %d: %v (%v)", e, y, err)
		}
	}
}

func TestReadOnlyIsNotWritten(t *testing.T) {
	for _, typ := range npu.ReadOnly {
		if err := Quantize(typ, make([]byte, typ.RowBytes(256)), make([]float32, 256)); err == nil || !strings.Contains(err.Error(), typ.String()) {
			t.Errorf("%v: %v", typ, err)
		}
	}
}
