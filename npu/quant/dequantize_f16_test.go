package quant

import (
	"encoding/binary"
	"math"
	"testing"

	"tandem/npu"
)

// Every F16 is dequantized as F16ToF32 does it.
func TestDequantizeF16(t *testing.T) {
	src, dst := make([]byte, 2<<16), make([]float32, 1<<16)
	for h := range 1 << 16 {
		binary.LittleEndian.PutUint16(src[2*h:], uint16(h))
	}
	if err := Dequantize(npu.F16, dst, src); err != nil {
		t.Fatal(err)
	}
	for h, v := range dst {
		if want := F16ToF32(uint16(h)); math.Float32bits(v) != math.Float32bits(want) {
			t.Fatalf("%04x is %v, want %v", h, v, want)
		}
	}
}

func BenchmarkDequantizeF16(b *testing.B) {
	src, dst := make([]byte, 2<<10), make([]float32, 1<<10)
	for i := range dst {
		binary.LittleEndian.PutUint16(src[2*i:], F32ToF16(float32(math.Sin(float64(i)))))
	}
	for b.Loop() {
		Dequantize(npu.F16, dst, src)
	}
}
