package quant

import (
	"encoding/binary"
	"fmt"
	"math"

	"tandem/npu"
)

// More types of GGML that no device multiplies by. Widen reads their values; Split writes their matrices as sums of
// matrices that devices can multiply by.
const (
	Q4_1   npu.DType = 3  // 32 values as F16 d, F16 m, 16 bytes; value = d·q + m, q of 4 bits
	Q5_1   npu.DType = 7  // 32 values as F16 d, F16 m, 32 high bits, 16 bytes; value = d·q + m, q of 5 bits
	Q2_K   npu.DType = 10 // 256 values as 16 bytes scale | minimum<<4, 64 bytes, F16 d, F16 m; groups of 16; value = d·scale·q − m·minimum
	Q3_K   npu.DType = 11 // 256 values as 32 bytes of high bits, 64 bytes, 12 bytes of scales, F16 d; groups of 16; value = d·scale·(q−4)
	IQ4_XS npu.DType = 23 // 256 values as F16 d, 2 and 4 bytes of scales, 128 bytes of indices; groups of 32; value = d·scale·nonlinear[index]
	MXFP4  npu.DType = 39 // 32 values as an exponent e and 16 bytes of indices; value = 2^(e−128)·halves[index]
)

// halves are twice the values of MXFP4's four-bit floats.
var halves = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

var foreign = map[npu.DType]struct{ values, bytes int }{
	Q4_1: {32, 20}, Q5_0: {32, 22}, Q5_1: {32, 24}, Q2_K: {256, 84}, Q3_K: {256, 110}, IQ4_NL: {32, 18}, IQ4_XS: {256, 136}, MXFP4: {32, 17},
}

// ForeignBlock returns the values and the bytes of a block of a type that Widen and Split read; 0 for other types.
func ForeignBlock(t npu.DType) (values, bytes int) {
	f := foreign[t]
	return f.values, f.bytes
}

// Widen reads len(dst) values of a foreign type from src.
func Widen(t npu.DType, dst []float32, src []byte) error {
	f, ok := foreign[t]
	if !ok || len(dst)%f.values != 0 || len(dst)/f.values*f.bytes != len(src) {
		return fmt.Errorf("%d bytes of type %v cannot be read as %d values", len(src), t, len(dst))
	}
	if ExactBlock(t) != 0 {
		q8, err := AsQ8(t, src)
		if err != nil {
			return err
		}
		return Dequantize(npu.Q8_0, dst, q8)
	}
	for ; len(dst) > 0; dst, src = dst[f.values:], src[f.bytes:] {
		g := readGroups(t, src[:f.bytes])
		for i := range f.values {
			s := i / g.size
			dst[i] = float32(g.scales[s]*float32(g.q[i])) + g.shifts[s]
		}
	}
	return nil
}

// groups is a block of any of these types: value i = scales[i/size]·q[i] + shifts[i/size].
type groups struct {
	size   int
	q      [256]int8
	scales [16]float32
	shifts [16]float32
	d      float32 // scales are d·factors; only K-quants
	half   []byte  // d as F16
	factor [16]int8
}

func readGroups(t npu.DType, b []byte) (g groups) {
	switch t {
	case Q4_1, Q5_1:
		g.size, g.scales[0], g.shifts[0] = 32, f16At(b, 0), f16At(b, 2)
		high, low := uint32(0), b[4:]
		if t == Q5_1 {
			high, low = binary.LittleEndian.Uint32(b[4:]), b[8:]
		}
		for j, q := range low {
			g.q[j] = int8(q&15 | byte(high>>j&1)<<4)
			g.q[j+16] = int8(q>>4 | byte(high>>(j+16)&1)<<4)
		}
	case MXFP4:
		g.size, g.scales[0] = 32, float32(math.Ldexp(1, int(b[0])-128))
		for j, q := range b[1:] {
			g.q[j], g.q[j+16] = halves[q&15], halves[q>>4]
		}
	case Q2_K:
		g.size, g.d, g.half = 16, f16At(b, 80), b[80:82]
		m := f16At(b, 82)
		for j, s := range b[:16] {
			g.factor[j], g.shifts[j] = int8(s&15), -float32(m*float32(s>>4))
		}
		for i := range g.q {
			g.q[i] = int8(b[16+i/128*32+i%32] >> (i / 32 % 4 * 2) & 3)
		}
	case Q3_K:
		g.size, g.d, g.half = 16, f16At(b, 108), b[108:110]
		for j := range 16 {
			low := b[96+j%8] >> (j / 8 * 4) & 15
			g.factor[j] = int8(low|b[104+j%4]>>(j/4*2)&3<<4) - 32
		}
		for i := range g.q {
			g.q[i] = int8(b[32+i/128*32+i%32]>>(i/32%4*2)&3|b[i%32]>>(i/32)&1<<2) - 4
		}
	case IQ4_XS:
		g.size, g.d, g.half = 32, f16At(b, 0), b[:2]
		high := binary.LittleEndian.Uint16(b[2:])
		for j := range 8 {
			g.factor[j] = int8(b[4+j/2]>>(j%2*4)&15|byte(high>>(2*j)&3)<<4) - 32
		}
		for i := range g.q {
			g.q[i] = nonlinear[b[8+i/32*16+i%16]>>(i%32/16*4)&15]
		}
	}
	if g.half != nil {
		for j, f := range g.factor {
			g.scales[j] = g.d * float32(f)
		}
	}
	return g
}

// A Sum is a matrix of a foreign type as a sum: W = Main + Rest + Shifts·G, where column i of G has its only 1 in row
// i/Group. So x·Wᵀ needs the sums of x over groups besides products that devices know. The sum is exact; only the order of
// additions differs.
type Sum struct {
	Type       npu.DType // of Main and Rest
	Main, Rest []byte    // Rest is nil for types that need none
	Shifts     []float32 // one for each group; nil for types without minima
	Group      int       // values in a group
}

// Split writes blocks of a foreign type as a sum. It reports false where that cannot be exact: for MXFP4 with scales
// outside F16. Then Widen still is.
func Split(t npu.DType, src []byte) (s Sum, ok bool) {
	f := foreign[t]
	if f.bytes == 0 || len(src)%f.bytes != 0 {
		return s, false
	}
	if ExactBlock(t) != 0 {
		data, err := AsQ8(t, src)
		return Sum{Type: npu.Q8_0, Main: data}, err == nil
	}
	if s.Type = npu.Q8_0; f.values == 256 {
		s.Type = npu.Q6_K
	}
	n, size := len(src)/f.bytes, s.Type.BlockBytes()
	s.Main = make([]byte, n*size)
	if t == IQ4_XS {
		s.Rest = make([]byte, n*size)
	}
	for i := range n {
		g, main := readGroups(t, src[i*f.bytes:][:f.bytes]), s.Main[i*size:][:size]
		switch t {
		case Q4_1, Q5_1, MXFP4:
			if putF16(main, 0, g.scales[0]) != g.scales[0] && g.scales[0] == g.scales[0] {
				return Sum{}, false
			}
			for j, q := range g.q[:32] {
				main[2+j] = byte(q)
			}
		case IQ4_XS: // an integer of 8 bits is 4·q + r
			putQ6(main, &g, 4, func(q int8) int { return int(q >> 2) })
			putQ6(s.Rest[i*size:][:size], &g, 1, func(q int8) int { return int(q & 3) })
		default:
			putQ6(main, &g, 1, func(q int8) int { return int(q) })
		}
		if t != Q3_K && t != IQ4_XS && t != MXFP4 {
			s.Group = g.size
			s.Shifts = append(s.Shifts, g.shifts[:f.values/g.size]...)
		}
	}
	return s, true
}

// putQ6 writes a block of Q6_K with the scales of g times a number.
func putQ6(b []byte, g *groups, times int8, q func(int8) int) {
	copy(b[208:], g.half)
	for j := range 16 {
		b[192+j] = byte(times * g.factor[16*j/g.size])
	}
	for i, v := range g.q {
		kLayouts[2].put(b, i, q(v))
	}
}

// Ones writes a row of zeros and ones as blocks of Q8_0 or Q6_K with scales of 1, so that products with it are exact sums.
func Ones(t npu.DType, dst []byte, row []float32) error {
	if err := check(t, len(row), len(dst)); err != nil {
		return err
	}
	n, size := t.BlockSize(), t.BlockBytes()
	for b := 0; b*n < len(row); b++ {
		x, block := row[b*n:][:n], dst[b*size:][:size]
		switch t {
		case npu.Q8_0:
			putF16(block, 0, 1)
			for i, v := range x {
				block[2+i] = byte(v)
			}
		case npu.Q6_K:
			putF16(block, 208, 1)
			for j := range 16 {
				block[192+j] = 1
			}
			for i, v := range x {
				kLayouts[2].put(block, i, int(v))
			}
		default:
			return fmt.Errorf("no ones in type %v", t)
		}
	}
	return nil
}
