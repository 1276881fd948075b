package quant

import (
	"encoding/binary"
	"fmt"

	"tandem/npu"
)

// Types of GGML that no device multiplies by. Each of their blocks equals a block of Q8_0 with the same scale. Downloaded
// files use them for rows that are not whole blocks of 256.
const (
	Q5_0   npu.DType = 6  // 32 values as F16 scale d, 32 high bits, 16 bytes of low bits; value = d·(q−16)
	IQ4_NL npu.DType = 20 // 32 values as F16 scale d, 16 bytes of indices; value = d·nonlinear[index]
)

// nonlinear are IQ4_NL's sixteen values.
var nonlinear = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// ExactBlock returns the size in bytes of a block of 32 values of a type that AsQ8 reads; 0 for other types.
func ExactBlock(t npu.DType) int {
	switch t {
	case Q5_0:
		return 2 + 4 + 16
	case IQ4_NL:
		return 2 + 16
	}
	return 0
}

// AsQ8 converts src, blocks of type t, to Q8_0 without loss.
func AsQ8(t npu.DType, src []byte) ([]byte, error) {
	size := ExactBlock(t)
	if size == 0 || len(src)%size != 0 {
		return nil, fmt.Errorf("%d bytes of type %v cannot be read as Q8_0", len(src), t)
	}
	n := len(src) / size
	out := make([]byte, n*34)
	for i := range n {
		b, q8 := src[i*size:(i+1)*size], out[i*34:(i+1)*34]
		copy(q8[:2], b[:2])
		q8 = q8[2:]
		if t == IQ4_NL {
			for j, q := range b[2:] {
				q8[j], q8[j+16] = byte(nonlinear[q&15]), byte(nonlinear[q>>4])
			}
			continue
		}
		high := binary.LittleEndian.Uint32(b[2:])
		for j, q := range b[6:] {
			q8[j] = q&15 | byte(high>>j&1)<<4 - 16
			q8[j+16] = q>>4 | byte(high>>(j+16)&1)<<4 - 16
		}
	}
	return out, nil
}
