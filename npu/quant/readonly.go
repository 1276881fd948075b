package quant

import (
	"encoding/binary"
	"math"

	"tandem/npu"
)

// Types that are read only, in files that others made:
//
// Q4_1: F16 d, F16 m, 16 bytes; value = d·q + m, q of 4 bits.
//
// Q5_0: F16 d, 32 high bits, 16 bytes; value = d·(q−16), q of 5 bits.
//
// Q5_1: F16 d, F16 m, 32 high bits, 16 bytes; value = d·q + m.
//
// IQ4_NL: F16 d, 16 bytes of indices; value = d·table[index].
//
// MXFP4: an exponent e, 16 bytes of indices; value = 2^(e−128)·table[index].
//
// Q2_K: 16 bytes scale | minimum<<4, 64 bytes, F16 d, F16 m; groups of 16 values; value = d·scale·q − m·minimum.
//
// Q3_K: 32 bytes of high bits, 64 bytes, 12 bytes of scales, F16 d; groups of 16; value = d·scale·(q−4).
//
// IQ4_XS: F16 d, 2 and 4 bytes of scales, 128 bytes of indices; groups of 32; value = d·scale·table[index].

// nonlinear are the numbers of IQ4_NL and IQ4_XS, halves twice those of MXFP4's four-bit floats.
var (
	nonlinear = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
	halves    = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}
)

// Table returns the numbers that the indices of IQ4_NL, IQ4_XS and MXFP4 stand for.
func Table(t npu.DType) *[16]int8 {
	if t == npu.MXFP4 {
		return &halves
	}
	return &nonlinear
}

// Groups is a block of a type that is read only: value i = Scales[i/Size]·Q[i] + Shifts[i/Size].
type Groups struct {
	Size   int
	Q      [256]int8
	Scales [16]float32
	Shifts [16]float32
	// Of K-quants and IQ4_XS, a scale is D times a factor, and a shift −M times a minimum.
	D, M           float32
	Factor, Minima [16]int8
}

// ReadGroups reads a block.
func ReadGroups(t npu.DType, b []byte) (g Groups) {
	switch t {
	case npu.Q4_1, npu.Q5_0, npu.Q5_1:
		g.readFives(t, b)
	case npu.IQ4_NL, npu.MXFP4:
		low := b[1:]
		if g.Size = 32; t == npu.MXFP4 {
			g.Scales[0] = float32(math.Ldexp(1, int(b[0])-128))
		} else {
			g.Scales[0], low = f16At(b, 0), b[2:]
		}
		for j, q := range low {
			g.Q[j], g.Q[j+16] = Table(t)[q&15], Table(t)[q>>4]
		}
	case npu.Q2_K:
		g.Size, g.D, g.M = 16, f16At(b, 80), f16At(b, 82)
		for j, s := range b[:16] {
			g.Factor[j], g.Minima[j] = int8(s&15), int8(s>>4)
		}
		for i := range g.Q {
			g.Q[i] = int8(b[16+i/128*32+i%32] >> (i / 32 % 4 * 2) & 3)
		}
	case npu.Q3_K:
		g.Size, g.D = 16, f16At(b, 108)
		for j := range 16 {
			low := b[96+j%8] >> (j / 8 * 4) & 15
			g.Factor[j] = int8(low|b[104+j%4]>>(j/4*2)&3<<4) - 32
		}
		for i := range g.Q {
			g.Q[i] = int8(b[32+i/128*32+i%32]>>(i/32%4*2)&3|b[i%32]>>(i/32)&1<<2) - 4
		}
	case npu.IQ4_XS:
		g.Size, g.D = 32, f16At(b, 0)
		high := binary.LittleEndian.Uint16(b[2:])
		for j := range 8 {
			g.Factor[j] = int8(b[4+j/2]>>(j%2*4)&15|byte(high>>(2*j)&3)<<4) - 32
		}
		for i := range g.Q {
			g.Q[i] = nonlinear[b[8+i/32*16+i%16]>>(i%32/16*4)&15]
		}
	}
	if t.BlockSize() == 256 {
		for j, f := range g.Factor {
			g.Scales[j], g.Shifts[j] = g.D*float32(f), -float32(g.M*float32(g.Minima[j]))
		}
	}
	return g
}

// readFives reads Q4_1, Q5_0 and Q5_1.
func (g *Groups) readFives(t npu.DType, b []byte) {
	g.Size, g.Scales[0] = 32, f16At(b, 0)
	b = b[2:]
	offset := int8(16)
	if t != npu.Q5_0 {
		offset, g.Shifts[0], b = 0, f16At(b, 0), b[2:]
	}
	high := uint32(0)
	if t != npu.Q4_1 {
		high, b = binary.LittleEndian.Uint32(b), b[4:]
	}
	for j, q := range b {
		g.Q[j] = int8(q&15|byte(high>>j&1)<<4) - offset
		g.Q[j+16] = int8(q>>4|byte(high>>(j+16)&1)<<4) - offset
	}
}

func readOnly(t npu.DType) func(y []float32, b []byte) {
	return func(y []float32, b []byte) {
		g := ReadGroups(t, b)
		for s := 0; s*g.Size < len(y); s++ {
			to, scale, shift := y[s*g.Size:][:g.Size], g.Scales[s], g.Shifts[s]
			for i, q := range g.Q[s*g.Size:][:g.Size] {
				to[i] = float32(scale*float32(q)) + shift
			}
		}
	}
}
