package aggregator

import (
	"math/bits"

	"tandem"
)

// Eta returns the weight of side l against side r, out of tandem.Mass: the softmax of the two aggregation
// weights, η^l = 1/(1 + exp(h^r − h^l)) (DRAGON §4.1). It is within one unit of the real value, monotone in
// both arguments, and Eta(l, r) + Eta(r, l) = Mass.
func Eta(l, r tandem.Fixed) uint32 {
	d := int64(l) - int64(r)
	if d == 0 {
		return tandem.Mass / 2
	}
	// The heavier side's weight is Mass/(1+exp(−|d|)); the other takes the rest, so that they sum to Mass.
	y := uint64(1)<<63 + expNeg(uint64(max(d, -d)))
	const hi, lo = tandem.Mass >> 1, 0 // Mass·2^63
	numLo, carry := bits.Add64(lo, y/2, 0)
	q, _ := bits.Div64(hi+carry, numLo, y)
	if d > 0 {
		return uint32(q)
	}
	return tandem.Mass - uint32(q)
}

// expNeg returns exp(−x) in units of 2^-63, for x in units of 2^-16. Its relative error is below 2^-31,
// and it never rises with x.
func expNeg(x uint64) uint64 {
	const log2e = 0x171547652b8 // log2(e) in units of 2^-40
	if x >= 32<<16 {
		return 0 // below 2^-46, which no Eta can show
	}
	y := x * log2e // −log2 of the result, in units of 2^-56
	z := uint64(1) << 63
	for k, c := range halvings {
		if y>>(55-k)&1 != 0 {
			hi, lo := bits.Mul64(z, c)
			z = hi<<1 | lo>>63
		}
	}
	return z >> (y >> 56)
}

// halvings holds 2^(−2^−k) for k = 1…32, in units of 2^-63.
var halvings = [32]uint64{
	0x5a827999fcef3242, 0x6ba27e656b4eb57a, 0x75606373ee921c97, 0x7a92be8a92436616,
	0x7d41d96db915019d, 0x7e9f06067a4360ba, 0x7f4f08ae3dc7c426, 0x7fa765aca88f6453,
	0x7fd3ab290e46d769, 0x7fe9d3a8e07bf086, 0x7ff4e9597bed93ab, 0x7ffa748dff8dc61f,
	0x7ffd3a3f50020332, 0x7ffe9d1dbc0a75aa, 0x7fff4e8e6306ed59, 0x7fffa74712c3cdfd,
	0x7fffd3a381b1fa29, 0x7fffe9d1beed018a, 0x7ffff4e8defb81d7, 0x7ffffa746f5f012f,
	0x7ffffd3a37a7d0a8, 0x7ffffe9d1bd1fc58, 0x7fffff4e8de8832d, 0x7fffffa746f422d7,
	0x7fffffd3a37a09bb, 0x7fffffe9d1bd02f2, 0x7ffffff4e8de80fe, 0x7ffffffa746f4060,
	0x7ffffffd3a37a028, 0x7ffffffe9d1bd012, 0x7fffffff4e8de809, 0x7fffffffa746f404,
}

// expUnit is the unit of exponential: 2^-expUnit.
const expUnit = 58

// exponential turns 64 random bits into an exponential variable −ln u of mean 1, in units of 2^-58, where
// u = (r|1)/2^64. It is within 4 units of the real logarithm and never 0, so that no token wins for free.
func exponential(r uint64) uint64 {
	const ln2 = 0xb17217f7d1cf79ac // in units of 2^-64
	y := r | 1
	n := bits.LeadingZeros64(y)
	// u = z·2^-n with z in [½, 1), so −ln u = n·ln 2 − ln z. The second term: multiply z by 1+2^-k wherever
	// that keeps it below 1, adding up the logarithms; what is left of 1−z is below 2^-32, its own logarithm
	// to second order.
	z, sum := y<<n, uint64(0) // units of 2^-64 and 2^-63
	for k, l := range logs {
		if up, carry := bits.Add64(z, z>>(k+1), 0); carry == 0 {
			z, sum = up, sum+l
		}
	}
	rest := -z // 1−z in units of 2^-64; z is not 0
	sum += (rest + rest>>32*(rest>>32)>>1) >> 1
	hi, lo := bits.Mul64(uint64(n), ln2)
	whole := hi<<expUnit | lo>>(64-expUnit)
	return max(1, whole+sum>>(63-expUnit))
}

// logs holds ln(1 + 2^−k) for k = 1…32, in units of 2^-63.
var logs = [32]uint64{
	0x33e647d97f3097e5, 0x1c8ff7c79a9a21ac, 0x0f1383b7157972f5, 0x07c28c300458a998,
	0x03f05361cf06600a, 0x01fc0a8b0fc03e3d, 0x00ff015358833c48, 0x007fc02a8ac42f01,
	0x003ff005535621cd, 0x001ffc00aa8ab110, 0x000fff0015535589, 0x0007ffc002aa8aac,
	0x0003fff000555355, 0x0001fffc000aaa8b, 0x0000ffff00015553, 0x00007fffc0002aab,
	0x00003ffff0000555, 0x00001ffffc0000ab, 0x00000fffff000015, 0x000007ffffc00003,
	0x000003fffff00000, 0x000001fffffc0000, 0x000000ffffff0000, 0x0000007fffffc000,
	0x0000003ffffff000, 0x0000001ffffffc00, 0x0000000fffffff00, 0x00000007ffffffc0,
	0x00000003fffffff0, 0x00000001fffffffc, 0x00000000ffffffff, 0x0000000080000000,
}
