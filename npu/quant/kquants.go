package quant

import (
	"encoding/binary"
	"math"

	"tandem/npu"
)

// K-quants hold 256 values in a block: sub-blocks with small integer scales, and one or two F16 scales for the whole
// block. A value is scale·q − minimum. q is an integer of 4 to 6 bits, whose low four bits and high bits are stored
// apart.
//
// Q4_K: F16 d, F16 m, 12 bytes with eight 6-bit scales s and eight 6-bit minima n, 128 bytes of low bits.
// Sub-blocks of 32 values: scale d·s, minimum m·n.
//
// Q5_K: as Q4_K, with 32 bytes of high bits, one for each value, before the low ones.
//
// Q6_K: 128 bytes of low bits, 64 of high bits, two for each value, sixteen int8 scales s, F16 d.
// Sub-blocks of 16 values: scale d·s, q counts from −32.

// KLayout says where the integers of a K-quant's block are. Those of part p, values 32p to 32p+31, are
//
//	block[Low+i] >> LowShift & 15 | block[High+i] >> HighShift & HighMask << 4
//
// less Offset.
type KLayout struct {
	HighMask, Offset int32
	Parts            [8]KPart
}

// KPart says where 32 values are.
type KPart struct{ Low, LowShift, High, HighShift int32 }

var kLayouts = func() (l [3]KLayout) {
	for p := range int32(8) {
		half, quarter := p/4, p%4
		l[0].Parts[p] = KPart{Low: 16 + p/2*32, LowShift: p % 2 * 4}
		l[1].Parts[p] = KPart{Low: 48 + p/2*32, LowShift: p % 2 * 4, High: 16, HighShift: p}
		l[2].Parts[p] = KPart{Low: half*64 + quarter%2*32, LowShift: quarter / 2 * 4, High: 128 + half*32, HighShift: quarter * 2}
	}
	l[1].HighMask = 1
	l[2].HighMask, l[2].Offset = 3, 32
	return l
}()

// LayoutOf returns the layout of a K-quant, nil for other types.
func LayoutOf(t npu.DType) *KLayout {
	switch t {
	case npu.Q4_K:
		return &kLayouts[0]
	case npu.Q5_K:
		return &kLayouts[1]
	case npu.Q6_K:
		return &kLayouts[2]
	}
	return nil
}

// KScales unpacks a K-quant block's scales, one for every 16 values, and minima, one for every 32.
func KScales(t npu.DType, block []byte, scales *[16]float32, minima *[8]float32) {
	if t == npu.Q6_K {
		d := f16At(block, 208)
		for j, s := range block[192:208] {
			scales[j] = d * float32(int8(s))
		}
		clear(minima[:])
		return
	}
	d, m := f16At(block, 0), f16At(block, 2)
	s, n := ScalesMinima(block[4:16])
	for j := range 8 {
		scale := d * float32(s>>(8*j)&63)
		scales[2*j], scales[2*j+1], minima[j] = scale, scale, m*float32(n>>(8*j)&63)
	}
}

// KIntegers unpacks a K-quant block's integer scales and minima, one of each for every 16 values: value =
// d·scale·q − m·minimum, where q counts from 0. (Q6_K's Offset is the minimum 32·scale.)
func KIntegers(t npu.DType, block []byte, scales, minima *[16]int16) (d, m float32) {
	if t == npu.Q6_K {
		for j, s := range block[192:208] {
			scales[j], minima[j] = int16(int8(s)), int16(int8(s))
		}
		d = f16At(block, 208)
		return d, 32 * d
	}
	s, n := ScalesMinima(block[4:16])
	for j := range scales {
		scales[j], minima[j] = int16(s>>(j/2*8)&63), int16(n>>(j/2*8)&63)
	}
	return f16At(block, 0), f16At(block, 2)
}

func readK(t npu.DType) func(y []float32, b []byte) {
	l := LayoutOf(t)
	return func(y []float32, b []byte) {
		var scales [16]float32
		var minima [8]float32
		KScales(t, b, &scales, &minima)
		for p, part := range l.Parts {
			low, high := b[part.Low:][:32], b[part.High:][:32]
			for i := range low {
				q := int32(low[i])>>part.LowShift&15 | int32(high[i])>>part.HighShift&l.HighMask<<4
				y[32*p+i] = float32(scales[2*p+i/16]*float32(q-l.Offset)) - minima[p]
			}
		}
	}
}

// put stores integer q as value i of a block whose bits there are 0.
func (l *KLayout) put(b []byte, i, q int) {
	part := &l.Parts[i/32]
	q += int(l.Offset)
	b[int(part.Low)+i%32] |= byte(q&15) << part.LowShift
	if l.HighMask != 0 {
		b[int(part.High)+i%32] |= byte(q>>4) << part.HighShift
	}
}

// ScalesMinima unpacks the twelve bytes b of eight 6-bit scales and minima (Q4_K, Q5_K) into the bytes of two words.
// The first four pairs are the low six bits of bytes j and j+4. The others have their low four bits in byte j+4 and
// their top two bits above the first ones.
func ScalesMinima(b []byte) (scales, minima uint64) {
	const six, four, two = 0x3f3f3f3f, 0x0f0f0f0f, 0x03030303
	u, v, w := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	return uint64(u&six) | uint64(w&four|u>>6&two<<4)<<32, uint64(v&six) | uint64(w>>4&four|v>>6&two<<4)<<32
}

func putScaleMin(s []byte, j int, scale, minimum byte) {
	if j < 4 {
		s[j] |= scale
		s[j+4] |= minimum
		return
	}
	s[j+4] |= scale&15 | minimum<<4
	s[j-4] |= scale >> 4 << 6
	s[j] |= minimum >> 4 << 6
}

func writeQ4K(b []byte, x []float32) { writeAffine(b, x, 15, &kLayouts[0]) }
func writeQ5K(b []byte, x []float32) { writeAffine(b, x, 31, &kLayouts[1]) }

// writeAffine writes a block of values scale·q − minimum with q in 0..top.
func writeAffine(b []byte, x []float32, top int, l *KLayout) {
	var scales, minima [8]float32
	maxScale, maxMin := float32(0), float32(0)
	for j := range 8 {
		scales[j], minima[j] = fitAffine(x[32*j:][:32], top)
		maxScale, maxMin = max(maxScale, scales[j]), max(maxMin, minima[j])
	}
	clear(b)
	d, m := putF16(b, 0, maxScale/63), putF16(b, 2, maxMin/63)
	invD, invM := inverse(d), inverse(m)
	for j := range 8 {
		s, n := nearest(scales[j]*invD, 0, 63), nearest(minima[j]*invM, 0, 63)
		putScaleMin(b[4:16], j, byte(s), byte(n))
		inv, minimum := inverse(d*float32(s)), m*float32(n)
		for i, v := range x[32*j:][:32] {
			l.put(b, 32*j+i, nearest((v+minimum)*inv, 0, top))
		}
	}
}

// fitAffine searches for scale and minimum ≥ 0 such that scale·q − minimum, with q in 0..top, is closest to x in weighted
// squares. It rounds x at a few scales around the one that spans x, and solves for the best scale and minimum of those
// integers. Large values have more weight, since they matter more to products.
func fitAffine(x []float32, top int) (scale, minimum float32) {
	lo, hi, square := float32(0), x[0], float64(0)
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
		square += float64(float64(v) * float64(v))
	}
	if hi <= lo { // all equal and not above zero
		return 0, -lo
	}
	mean := math.Sqrt(square / float64(len(x)))
	best := math.Inf(1)
	for step := -10; step <= 10; step++ {
		inv := (float32(top) + float32(float32(step)*0.1)) / (hi - lo)
		if math.IsInf(float64(inv), 0) {
			return 0, -lo
		}
		var sw, sq, sqq, sx, sqx float64
		for _, v := range x {
			w, q := mean+math.Abs(float64(v)), float64(nearest((v-lo)*inv, 0, top))
			wq, wx := float64(w*q), float64(w*float64(v))
			sw, sq, sqq = sw+w, sq+wq, sqq+float64(wq*q)
			sx, sqx = sx+wx, sqx+float64(wx*q)
		}
		// Normal equations. If all integers are equal or the minimum is negative, fit only the scale.
		det := float64(sw*sqq) - float64(sq*sq)
		s := (float64(sw*sqx) - float64(sq*sx)) / det
		m := (float64(sq*sqx) - float64(sqq*sx)) / det
		if det <= 0 || m < 0 {
			s, m = sqx/sqq, 0
		}
		var loss float64
		for _, v := range x {
			w, q := mean+math.Abs(float64(v)), float64(nearest((v-lo)*inv, 0, top))
			e := float64(s*q) - m - float64(v)
			loss += float64(w * e * e)
		}
		if loss < best && s > 0 {
			best, scale, minimum = loss, float32(s), float32(m)
		}
	}
	return scale, minimum
}

func writeQ6K(b []byte, x []float32) {
	var scales [16]float32
	var extreme float32
	for j := range scales {
		scales[j] = fitSymmetric(x[16*j:][:16])
		if max(scales[j], -scales[j]) > max(extreme, -extreme) {
			extreme = scales[j]
		}
	}
	clear(b)
	d := putF16(b, 208, extreme/-128)
	inv := inverse(d)
	for j := range scales {
		s := nearest(scales[j]*inv, -128, 127)
		b[192+j] = byte(int8(s))
		inv := inverse(d * float32(s))
		for i, v := range x[16*j:][:16] {
			kLayouts[2].put(b, 16*j+i, nearest(v*inv, -32, 31))
		}
	}
}

// fitSymmetric searches for the scale, of either sign, such that scale·q, with q in −32..31, is closest to x in squares
// weighted by x².
func fitSymmetric(x []float32) (scale float32) {
	var extreme float32
	for _, v := range x {
		if max(v, -v) > max(extreme, -extreme) {
			extreme = v
		}
	}
	best := 0.0
	for step := -9; step <= 9; step++ {
		inv := -(32 + float32(float32(step)*0.1)) / extreme
		if math.IsInf(float64(inv), 0) {
			return 0
		}
		var sqq, sqx float64
		for _, v := range x {
			w, q := float64(v)*float64(v), float64(nearest(v*inv, -32, 31))
			sqq, sqx = sqq+float64(w*q*q), sqx+float64(w*q*float64(v))
		}
		// The loss at the best scale sqx/sqq is Σwx² − sqx²/sqq.
		if sqq > 0 && float64(sqx*sqx) > float64(best*sqq) {
			best, scale = sqx*sqx/sqq, float32(sqx/sqq)
		}
	}
	return scale
}
