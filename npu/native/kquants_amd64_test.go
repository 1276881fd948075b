package native

import (
	"testing"

	"tandem/npu"
)

// The largest sums of 16 bits do not overflow.
func TestTurnedExtremes(t *testing.T) {
	for _, k := range available() {
		if k.turned == nil {
			continue
		}
		for _, typ := range []npu.DType{npu.Q4_K, npu.Q5_K} {
			for _, a := range []int8{-127, 127} {
				b := make([]byte, 2*typ.BlockBytes())
				for i := range b {
					b[i] = 0xFF
				}
				for _, at := range []int{0, typ.BlockBytes()} { // d and m are 1
					copy(b[at:], []byte{0, 0x3C, 0, 0x3C})
				}
				x := make([]kInput, 4)
				for i := range x {
					x[i].d = 1
					for j := range x[i].q {
						x[i].q[j] = a
						x[i].sums[j/16] += int16(a)
					}
				}
				w, got, want := make([]kBlock, 2), make([]float32, 8), make([]float32, 8)
				unpackKPlain(typ, w, b)
				mulKPlain(want, 2, w, 2, x, 4)
				k.mulUnpacked(&kScratch{}, got, 2, typ, b, typ.BlockBytes(), x, 4)
				same(t, typ.String(), got, want)
			}
		}
	}
}
