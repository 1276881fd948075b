// Package quant stores float32 values in GGML's block formats and reads them back. A block holds 32 or 256 values as small
// integers with one or more scales. Model files mix several formats (Q4_K_M and the like).
//
// It is plain Go, and every float32 operation is rounded (no fused multiply-add, which Go would otherwise use on arm64), so
// every processor reads the same values from the same bytes. The kernels of npu/native are tested against it.
package quant

import (
	"encoding/binary"
	"fmt"
	"math"

	"tandem/npu"
)

// Dequantize reads len(dst) values of type t from src. It returns an error if the lengths do not agree or the type is
// unknown.
func Dequantize(t npu.DType, dst []float32, src []byte) error {
	if err := check(t, len(dst), len(src)); err != nil {
		return err
	}
	switch t {
	case npu.F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case npu.F16:
		for i := range dst {
			h := binary.LittleEndian.Uint16(src[2*i:])
			if exp := h & 0x7c00; exp-0x400 < 0x7800 { // neither zero nor subnormal, infinite nor NaN
				dst[i] = math.Float32frombits(uint32(h&0x8000)<<16 | (uint32(h&0x7fff)<<13 + (127-15)<<23))
				continue
			}
			dst[i] = F16ToF32(h)
		}
	case npu.BF16:
		for i := range dst {
			dst[i] = BF16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
		}
	default:
		f, n, size := blockReaders[t], t.BlockSize(), t.BlockBytes()
		for len(dst) > 0 {
			f(dst[:n], src[:size])
			dst, src = dst[n:], src[size:]
		}
	}
	return nil
}

// Quantize writes src as values of type t to dst. It rounds values to the nearest that a block can hold, and for K-quants
// searches for the best scales. It returns an error if the lengths do not agree, the type is unknown, or a value is not
// finite or too large for the type. Types that are read only are an error too.
func Quantize(t npu.DType, dst []byte, src []float32) error {
	if err := check(t, len(src), len(dst)); err != nil {
		return err
	}
	switch t {
	case npu.F32:
		for i, v := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
		}
		return nil
	case npu.F16:
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], F32ToF16(v))
		}
		return nil
	case npu.BF16:
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], F32ToBF16(v))
		}
		return nil
	}
	f, n, size := blockWriters[t], t.BlockSize(), t.BlockBytes()
	if f == nil {
		return fmt.Errorf("%v is only read, not written", t)
	}
	const limit = 65504 // keeps every block's scale within F16
	for i, v := range src {
		if !(v >= -limit && v <= limit) {
			return fmt.Errorf("value %v at index %d cannot be stored as %v: the limit is ±%d", v, i, t, limit)
		}
	}
	for len(src) > 0 {
		f(dst[:size], src[:n])
		dst, src = dst[size:], src[n:]
	}
	return nil
}

var blockReaders = func() map[npu.DType]func(y []float32, b []byte) {
	m := map[npu.DType]func(y []float32, b []byte){
		npu.Q8_0: readQ80, npu.Q4_0: readQ40, npu.Q4_K: readK(npu.Q4_K), npu.Q5_K: readK(npu.Q5_K), npu.Q6_K: readK(npu.Q6_K),
	}
	for _, t := range npu.ReadOnly {
		m[t] = readOnly(t)
	}
	return m
}()

var blockWriters = map[npu.DType]func(b []byte, x []float32){
	npu.Q8_0: writeQ80, npu.Q4_0: writeQ40, npu.Q4_K: writeQ4K, npu.Q5_K: writeQ5K, npu.Q6_K: writeQ6K,
}

func check(t npu.DType, values, bytes int) error {
	if !t.Known() {
		return fmt.Errorf("%v is not a supported type", t)
	}
	if values%t.BlockSize() != 0 || t.RowBytes(values) != bytes {
		return fmt.Errorf("%d values of type %v do not make %d bytes", values, t, bytes)
	}
	return nil
}

func f16At(b []byte, i int) float32 { return F16ToF32(binary.LittleEndian.Uint16(b[i:])) }

func putF16(b []byte, i int, v float32) float32 {
	h := F32ToF16(v)
	binary.LittleEndian.PutUint16(b[i:], h)
	return F16ToF32(h)
}

// nearest rounds to the nearest integer, halves away from zero, and clamps to [lo, hi].
func nearest(x float32, lo, hi int) int {
	if x < 0 {
		return max(lo, int(x-0.5))
	}
	return min(hi, max(lo, int(x+0.5)))
}

// inverse returns 1/x, and 0 for 0 and for scales too small to invert.
func inverse(x float32) float32 {
	if inv := 1 / x; x != 0 && !math.IsInf(float64(inv), 0) {
		return inv
	}
	return 0
}
