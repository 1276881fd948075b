package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/npu"
)

var foreignNames = map[string]npu.DType{"Q4_1": Q4_1, "Q5_0": Q5_0, "Q5_1": Q5_1, "Q2_K": Q2_K, "Q3_K": Q3_K, "IQ4_NL": IQ4_NL, "IQ4_XS": IQ4_XS, "MXFP4": MXFP4}

// foreignBlocks returns random blocks whose scales are finite, and in MXFP4 within F16.
func foreignBlocks(t npu.DType, n int) []byte {
	_, size := ForeignBlock(t)
	halves := map[npu.DType][]int{Q4_1: {0, 2}, Q5_0: {0}, Q5_1: {0, 2}, Q2_K: {80, 82}, Q3_K: {108}, IQ4_NL: {0}, IQ4_XS: {0}}[t]
	r := rand.New(rand.NewPCG(uint64(t), 5))
	b := make([]byte, n*size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for i := 0; i < len(b); i += size {
		for _, h := range halves {
			b[i+h+1] &= 0xbf
		}
		if t == MXFP4 {
			b[i] = 104 + b[i]%39
		}
	}
	return b
}

func TestWidenAgainstGGML(t *testing.T) {
	lib := llamacpp.Need(t)
	for name, typ := range foreignNames {
		values, _ := ForeignBlock(typ)
		b := foreignBlocks(typ, 256)
		ours, theirs := make([]float32, 256*values), make([]float32, 256*values)
		if err := lib.Dequantize(name, theirs, b); err != nil {
			t.Fatal(err)
		}
		if err := Widen(typ, ours, b); err != nil {
			t.Fatal(err)
		}
		for i := range ours {
			if ours[i] != theirs[i] {
				t.Fatalf("%s: value %d is %v, ggml says %v", name, i, ours[i], theirs[i])
			}
		}
	}
}

// The terms of a split add up to the values, but for the rounding of one addition of float32s.
func TestSplitIsTheSameMatrix(t *testing.T) {
	for name, typ := range foreignNames {
		values, _ := ForeignBlock(typ)
		b := foreignBlocks(typ, 64)
		n := 64 * values
		want, main, rest := make([]float32, n), make([]float32, n), make([]float32, n)
		if err := Widen(typ, want, b); err != nil {
			t.Fatal(err)
		}
		s, ok := Split(typ, b)
		if !ok {
			t.Fatalf("%s cannot be split", name)
		}
		if err := Dequantize(s.Type, main, s.Main); err != nil {
			t.Fatal(err)
		}
		if s.Rest != nil {
			if err := Dequantize(s.Type, rest, s.Rest); err != nil {
				t.Fatal(err)
			}
		}
		for i := range want {
			sum := float64(main[i]) + float64(rest[i])
			if s.Shifts != nil {
				sum += float64(s.Shifts[i/s.Group])
			}
			if e := math.Abs(sum - float64(want[i])); e > 2e-7*(math.Abs(float64(main[i]))+math.Abs(float64(rest[i]))+math.Abs(sum)) {
				t.Fatalf("%s: value %d is %v, want %v", name, i, sum, want[i])
			}
		}
	}
}

// A scale of MXFP4 that F16 does not hold is not rounded in silence.
func TestSplitRefusesWhatIsNotExact(t *testing.T) {
	for _, e := range []byte{0, 80, 200, 254} {
		b := make([]byte, 17)
		if b[0] = e; e > 0 {
			b[1] = 1
		}
		y := make([]float32, 32)
		if _, ok := Split(MXFP4, b); ok {
			t.Errorf("2^(%d−128) was taken for an F16", e)
		}
		if err := Widen(MXFP4, y, b); err != nil || y[0] != float32(math.Ldexp(float64(halves[b[1]&15]), int(e)-128)) {
			t.Errorf("exponent %d: %v (%v)", e, y[0], err)
		}
	}
	if _, ok := Split(npu.Q4_0, make([]byte, 18)); ok || Widen(Q2_K, make([]float32, 256), make([]byte, 83)) == nil {
		t.Error("wrong types or lengths were taken")
	}
}

func FuzzWiden(f *testing.F) {
	f.Add(uint32(Q2_K), make([]byte, 84))
	f.Fuzz(func(t *testing.T, typ uint32, b []byte) {
		values, size := ForeignBlock(npu.DType(typ))
		if size == 0 {
			return
		}
		b = b[:len(b)/size*size]
		if err := Widen(npu.DType(typ), make([]float32, len(b)/size*values), b); err != nil {
			t.Fatal(err)
		}
		Split(npu.DType(typ), b)
	})
}
