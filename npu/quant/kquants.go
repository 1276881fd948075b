package quant

import "math"

// K-quants hold 256 values in a block: sub-blocks with small integer scales, under one or two F16
// scales of the whole block.
//
// Q4_K: F16 d, F16 m, 12 bytes with eight 6-bit scales s and eight 6-bit minima n, 128 bytes of 4-bit q.
// Sub-blocks of 32 values: value = (d·s)·q − (m·n). Sub-blocks 2j and 2j+1 are the low and the high
// halves of the same 32 bytes.
//
// Q5_K: as Q4_K, with 32 bytes between that hold the fifth bits: bit k of byte i belongs to value i of
// sub-block k.
//
// Q6_K: 128 bytes of low halves, 64 bytes of top bit pairs, sixteen int8 scales s, F16 d. Sub-blocks of
// 16 values: value = (d·s)·(q−32).

// scaleMin returns the 6-bit scale and minimum of sub-block j from the 12 packed bytes: the first four
// pairs are the low six bits of bytes j and j+4; the others have their low four bits in byte j+4 and their
// top two bits above the first ones.
func scaleMin(s []byte, j int) (scale, minimum byte) {
	if j < 4 {
		return s[j] & 63, s[j+4] & 63
	}
	return s[j+4]&15 | s[j-4]>>6<<4, s[j+4]>>4 | s[j]>>6<<4
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

func readQ4K(y []float32, b []byte) {
	d, m := f16At(b, 0), f16At(b, 2)
	for j := range 8 {
		s, n := scaleMin(b[4:16], j)
		scale, minimum := d*float32(s), m*float32(n)
		qs, shift := b[16+j/2*32:][:32], uint(j%2*4)
		out := y[32*j:][:32]
		for i := range out {
			out[i] = float32(scale*float32(qs[i]>>shift&15)) - minimum
		}
	}
}

func readQ5K(y []float32, b []byte) {
	d, m := f16At(b, 0), f16At(b, 2)
	high := b[16:48]
	for j := range 8 {
		s, n := scaleMin(b[4:16], j)
		scale, minimum := d*float32(s), m*float32(n)
		qs, shift := b[48+j/2*32:][:32], uint(j%2*4)
		out := y[32*j:][:32]
		for i := range out {
			q := qs[i]>>shift&15 | high[i]>>j&1<<4
			out[i] = float32(scale*float32(q)) - minimum
		}
	}
}

// q6k returns where value i of a Q6_K block lies: its byte and shift among the low halves, and among the
// bit pairs.
func q6k(i int) (low int, lowShift uint, high int, highShift uint) {
	half, quarter, l := i/128, i%128/32, i%32
	return 64*half + 32*(quarter%2) + l, uint(quarter / 2 * 4), 32*half + l, uint(quarter * 2)
}

func readQ6K(y []float32, b []byte) {
	low, high, scales, d := b[:128], b[128:192], b[192:208], f16At(b, 208)
	for j, s := range scales {
		scale := d * float32(int8(s))
		lo, ls, hi, hs := q6k(16 * j)
		for i := range 16 {
			q := low[lo+i]>>ls&15 | high[hi+i]>>hs&3<<4
			y[16*j+i] = scale * float32(int(q)-32)
		}
	}
}

func writeQ4K(b []byte, x []float32) {
	q := writeAffine(b, x, 15)
	for i := range 128 {
		at := i/32*64 + i%32
		b[16+i] = q[at] | q[at+32]<<4
	}
}

func writeQ5K(b []byte, x []float32) {
	q := writeAffine(b, x, 31)
	clear(b[16:48])
	for i := range 128 {
		at := i/32*64 + i%32
		b[48+i] = q[at]&15 | q[at+32]&15<<4
	}
	for i, v := range q {
		b[16+i%32] |= v >> 4 << (i / 32)
	}
}

// writeAffine writes the head (d, m, scales and minima) of a Q4_K or Q5_K block and returns the integers.
func writeAffine(b []byte, x []float32, top int) (q [256]byte) {
	var scales, minima [8]float32
	for j := range 8 {
		scales[j], minima[j] = fitAffine(x[32*j:][:32], top)
	}
	maxScale, maxMin := float32(0), float32(0)
	for j := range 8 {
		maxScale, maxMin = max(maxScale, scales[j]), max(maxMin, minima[j])
	}
	clear(b[4:16])
	d, m := putF16(b, 0, maxScale/63), putF16(b, 2, maxMin/63)
	invD, invM := inverse(d), inverse(m)
	for j := range 8 {
		s, n := nearest(scales[j]*invD, 0, 63), nearest(minima[j]*invM, 0, 63)
		putScaleMin(b[4:16], j, byte(s), byte(n))
		inv, minimum := inverse(d*float32(s)), m*float32(n)
		for i, v := range x[32*j:][:32] {
			q[32*j+i] = byte(nearest((v+minimum)*inv, 0, top))
		}
	}
	return q
}

// fitAffine looks for scale and minimum ≥ 0 such that scale·q − minimum, with q in 0..top, is closest to x
// in weighted squares: it rounds x at a few scales around the one that spans x and solves for the best
// scale and minimum of those integers. Large values weigh more; they matter more to products.
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
		// Normal equations; with equal integers, or a minimum that is not allowed, fit the scale alone.
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
		lo, ls, hi, hs := q6k(16 * j)
		for i, v := range x[16*j:][:16] {
			q := nearest(v*inv, -32, 31) + 32
			b[lo+i] |= byte(q&15) << ls
			b[128+hi+i] |= byte(q>>4) << hs
		}
	}
}

// fitSymmetric looks for the scale (of either sign) such that scale·q, with q in −32..31, is closest to x
// in squares weighted by x².
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
