package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
)

// halfValue is the definition of binary16, computed in float64.
func halfValue(h uint16) float64 {
	sign, exp, frac := 1.0, int(h>>10)&31, float64(h&1023)
	if h&0x8000 != 0 {
		sign = -1
	}
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		return math.Inf(int(sign))
	case exp == 0:
		return math.Copysign(math.Ldexp(frac, -24), sign)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

func TestF16ToF32IsExactForEveryHalf(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		want, got := halfValue(h), F16ToF32(h)
		if math.IsNaN(want) != (got != got) || !math.IsNaN(want) && math.Float32bits(float32(want)) != math.Float32bits(got) {
			t.Fatalf("%#04x: %v, want %v", h, got, want)
		}
		if back := F32ToF16(got); back != h && !(got != got && back == h|0x200) {
			t.Fatalf("%#04x comes back as %#04x", h, back)
		}
	}
}

func TestF32ToF16RoundsToNearestEven(t *testing.T) {
	// Between every two neighbouring positive halves: the midpoint goes to the even one, one float32 off
	// the midpoint goes to the nearer.
	for h := uint16(0); h < 0x7bff; h++ {
		mid := float32((halfValue(h) + halfValue(h+1)) / 2)
		even := h + h&1
		for _, c := range []struct {
			f    float32
			want uint16
		}{{mid, even}, {math.Nextafter32(mid, 0), h}, {math.Nextafter32(mid, 1e9), h + 1}, {-mid, even | 0x8000}} {
			if got := F32ToF16(c.f); got != c.want {
				t.Fatalf("%v (%#08x): %#04x, want %#04x", c.f, math.Float32bits(c.f), got, c.want)
			}
		}
	}
	for f, want := range map[float32]uint16{65504: 0x7bff, 65519.996: 0x7bff, 65520: 0x7c00, 1e30: 0x7c00,
		float32(math.Inf(-1)): 0xfc00, 1e-30: 0, -1e-30: 0x8000} {
		if got := F32ToF16(f); got != want {
			t.Errorf("%v: %#04x, want %#04x", f, got, want)
		}
	}
	if h := F32ToF16(float32(math.NaN())); F16ToF32(h) == F16ToF32(h) {
		t.Errorf("NaN became %#04x", h)
	}
}

func TestBF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		got := BF16ToF32(F32ToBF16(f))
		if f != f {
			if got == got {
				t.Fatalf("NaN became %v", got)
			}
			return
		}
		b := math.Float32bits(f)
		lo, hi := math.Float32frombits(b&^0xffff), math.Float32frombits(b&^0xffff+0x10000)
		dLo, dHi := math.Abs(float64(f)-float64(lo)), math.Abs(float64(hi)-float64(f))
		want := lo
		if b&0xffff > 0x8000 || b&0xffff == 0x8000 && b&0x10000 != 0 {
			want = hi
		}
		if got != want {
			t.Fatalf("%v: %v, want %v (distances %v, %v)", f, got, want, dLo, dHi)
		}
	})
}

// Normally distributed weights lose little. The bounds are on the root mean square error relative to the standard
// deviation, as measured, plus a tenth.
var normalError = map[npu.DType]float64{
	npu.F32: 0, npu.F16: 2.3e-4, npu.BF16: 1.8e-3, npu.Q8_0: 0.0059, npu.Q6_K: 0.0193, npu.Q5_K: 0.039, npu.Q4_K: 0.079, npu.Q4_0: 0.095,
}

func TestRoundTripError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 64*256)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 0.02)
	}
	for _, typ := range npu.DTypes {
		y := roundTrip(t, typ, x)
		var e2, x2 float64
		for i := range x {
			e2 += math.Pow(float64(x[i]-y[i]), 2)
			x2 += math.Pow(float64(x[i]), 2)
		}
		got, bound := math.Sqrt(e2/x2), normalError[typ]
		t.Logf("%-5v relative error %.5f, bound %.5f", typ, got, bound)
		if got > bound || got < bound*0.7 {
			t.Errorf("%v: relative error %.5f is not within 0.7 to 1 times %.5f", typ, got, bound)
		}
	}
}

func roundTrip(t testing.TB, typ npu.DType, x []float32) []float32 {
	t.Helper()
	b, y := make([]byte, typ.RowBytes(len(x))), make([]float32, len(x))
	if err := Quantize(typ, b, x); err != nil {
		t.Fatal(err)
	}
	if err := Dequantize(typ, y, b); err != nil {
		t.Fatal(err)
	}
	return y
}

// Every value of a block comes back within one step of the block's grid. A step is the range of the widest sub-block,
// divided by the number of integers.
func TestRoundTripBound(t *testing.T) {
	steps := map[npu.DType]float64{npu.Q8_0: 127, npu.Q4_0: 8, npu.Q4_K: 15, npu.Q5_K: 31, npu.Q6_K: 32}
	for typ, n := range steps {
		t.Run(typ.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				scale := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "scale"))
				x := make([]float32, 256)
				lo, hi := 0.0, 0.0
				for i := range x {
					x[i] = float32(scale * rapid.Float64Range(-1, 1).Draw(t, "x"))
					lo, hi = min(lo, float64(x[i])), max(hi, float64(x[i]))
				}
				b, y := make([]byte, typ.RowBytes(len(x))), make([]float32, len(x))
				if err := Quantize(typ, b, x); err != nil {
					t.Fatal(err)
				}
				if err := Dequantize(typ, y, b); err != nil {
					t.Fatal(err)
				}
				step := (hi - lo) / n * 1.3 // scales are rounded too
				// A scale is an F16, which below 2^-14 is a multiple of 2^-24; Q6_K multiplies it by up to 127·32.
				const tiny = 127 * 32 * 0x1p-24
				for i := range x {
					if e := math.Abs(float64(x[i] - y[i])); !(e <= step+tiny) {
						t.Fatalf("value %d: %v became %v, off by more than %v", i, x[i], y[i], step)
					}
				}
			})
		})
	}
}

func TestConstantBlocks(t *testing.T) {
	for _, typ := range npu.DTypes {
		for _, v := range []float32{0, 1, -1, 0.375, -1000, 6e-3} {
			x := make([]float32, 256)
			for i := range x {
				x[i] = v
			}
			for i, got := range roundTrip(t, typ, x) {
				if math.Abs(float64(got-v)) > 0.02*math.Abs(float64(v)) {
					t.Errorf("%v: a block of %v has %v at %d", typ, v, got, i)
					break
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, typ := range []npu.DType{npu.Q8_0, npu.Q4_0, npu.Q4_K, npu.Q5_K, npu.Q6_K} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), -1e6} {
			x := make([]float32, 256)
			x[77] = float32(bad)
			err := Quantize(typ, make([]byte, typ.RowBytes(256)), x)
			if err == nil || !strings.Contains(err.Error(), "77") || !strings.Contains(err.Error(), typ.String()) {
				t.Errorf("%v of %v: %v", typ, bad, err)
			}
		}
		if Quantize(typ, make([]byte, 3), make([]float32, 256)) == nil || Dequantize(typ, make([]float32, 31), nil) == nil {
			t.Errorf("%v: wrong lengths accepted", typ)
		}
	}
	if err := Dequantize(npu.DType(99), nil, nil); err == nil || !strings.Contains(err.Error(), "type(99)") {
		t.Errorf("unknown type: %v", err)
	}
}

// Reading arbitrary bytes never panics.
func FuzzDequantize(f *testing.F) {
	f.Add(uint32(npu.Q4_K), make([]byte, 144))
	f.Fuzz(func(t *testing.T, typ uint32, b []byte) {
		d := npu.DType(typ)
		if !d.Known() {
			return
		}
		b = b[:len(b)/d.BlockBytes()*d.BlockBytes()]
		if err := Dequantize(d, make([]float32, len(b)/d.BlockBytes()*d.BlockSize()), b); err != nil {
			t.Fatal(err)
		}
	})
}

func ExampleQuantize() {
	weights := make([]float32, 32)
	for i := range weights {
		weights[i] = float32(i) - 16
	}
	block := make([]byte, npu.Q8_0.RowBytes(len(weights)))
	if err := Quantize(npu.Q8_0, block, weights); err != nil {
		panic(err)
	}
	back := make([]float32, 32)
	if err := Dequantize(npu.Q8_0, back, block); err != nil {
		panic(err)
	}
	fmt.Printf("%d bytes, %.2f → %.2f\n", len(block), weights[3], back[3])
	// Output: 34 bytes, -13.00 → -12.98
}
