package quant

import (
	"math/rand/v2"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/npu"
)

// A block of Q5_0 and of IQ4_NL, and the values that their layouts give it by hand.
func TestAsQ8ByHand(t *testing.T) {
	b := make([]byte, 22)
	b[1] = 0x3c              // d = 1
	b[2], b[4] = 0b10, 0b101 // high bits of values 1, 16 and 18
	b[6], b[7], b[8] = 0x21, 0xf3, 0x04
	q8, err := AsQ8(Q5_0, b)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float32, 32)
	if err := Dequantize(npu.Q8_0, y, q8); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]float32{0: 1 - 16, 1: 3 + 16 - 16, 2: 4 - 16, 3: -16, 16: 2 + 16 - 16, 17: 15 - 16, 18: 0, 19: -16} {
		if y[i] != want {
			t.Errorf("Q5_0 value %d is %v, want %v", i, y[i], want)
		}
	}
	if q8, err = AsQ8(IQ4_NL, append([]byte{0, 0x40, 0xf0}, make([]byte, 15)...)); err != nil {
		t.Fatal(err)
	}
	if err := Dequantize(npu.Q8_0, y, q8); err != nil || y[0] != -254 || y[16] != 226 || y[1] != -254 {
		t.Errorf("IQ4_NL: %v (%v)", y, err)
	}
	for typ, bad := range map[npu.DType]int{Q5_0: 21, IQ4_NL: 17, npu.Q4_0: 18} {
		if _, err := AsQ8(typ, make([]byte, bad)); err == nil {
			t.Errorf("%d bytes of %v were taken", bad, typ)
		}
	}
}

func TestAsQ8AgainstGGML(t *testing.T) {
	lib := llamacpp.Need(t)
	r := rand.New(rand.NewPCG(7, 8))
	for name, typ := range map[string]npu.DType{"Q5_0": Q5_0, "IQ4_NL": IQ4_NL} {
		const n = 512 * 32
		b := make([]byte, n/32*ExactBlock(typ))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for i := 0; i < len(b); i += ExactBlock(typ) {
			b[i+1] &= 0xbf // no infinite scales
		}
		theirs, ours := make([]float32, n), make([]float32, n)
		if err := lib.Dequantize(name, theirs, b); err != nil {
			t.Fatal(err)
		}
		q8, err := AsQ8(typ, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := Dequantize(npu.Q8_0, ours, q8); err != nil {
			t.Fatal(err)
		}
		for i := range ours {
			if ours[i] != theirs[i] {
				t.Fatalf("%s: value %d is %v, ggml says %v", name, i, ours[i], theirs[i])
			}
		}
	}
}
