package quant

import "math"

// F16ToF32 converts an IEEE 754 half exactly, including subnormals and infinities. A signalling NaN becomes quiet, as on
// processors.
func F16ToF32(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch {
	case exp == 0: // zero or subnormal: frac · 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*(1.0/(1<<24))))
	case exp < 0x1f:
		return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
	case frac == 0:
		return math.Float32frombits(sign | 0x7f800000)
	}
	return math.Float32frombits(sign | 0x7fc00000 | frac<<13)
}

// F32ToF16 rounds to the nearest half, ties to even. Values of 65520 and more become infinite.
func F32ToF16(f float32) uint16 {
	b := math.Float32bits(f)
	sign, b := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case b > 0x7f800000: // NaN: quiet, keep the payload's top
		return sign | 0x7e00 | uint16(b>>13)&0x3ff
	case b >= 0x477ff000: // 65520, halfway to the half after the largest
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14: a subnormal half counts units of 2^-24
		// From 0.5 up a float32 counts units of 2^-24 itself, so the addition rounds to even.
		sum := math.Float32bits(math.Float32frombits(b) + 0.5)
		return sign | uint16(sum-0x3f000000)
	}
	b += 0xfff + b>>13&1 // round to even at bit 13; a carry correctly raises the exponent
	return sign | uint16((b-(127-15)<<23)>>13)
}

// BF16ToF32 converts a bfloat16 exactly.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 rounds to the nearest bfloat16, ties to even.
func F32ToBF16(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 { // NaN: quiet
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
