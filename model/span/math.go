package span

import "math"

// The functions here round alike on every processor: explicit conversions keep the compiler from fusing a product with
// a sum, and sums have one order.

// exp returns e^x within a few units in the last place, 0 for what underflows.
func exp(x float32) float32 {
	const (
		log2e = 1.44269504
		ln2hi = 0.693359375
		ln2lo = -2.12194440e-4
		magic = 3 << 22
	)
	if x < -87 {
		return 0
	}
	x = min(x, 88)
	n := float32(x*log2e) + magic
	n -= magic
	r := x - float32(n*ln2hi)
	r -= float32(n * ln2lo)
	p := float32(1.0/720*r) + 1.0/120
	p = float32(p*r) + 1.0/24
	p = float32(p*r) + 1.0/6
	p = float32(p*r) + 0.5
	p = float32(float32(p*r)*r) + r
	return (p + 1) * math.Float32frombits(uint32(int32(n)+127)<<23)
}

func sigmoid(x float32) float32 { return 1 / (1 + exp(-x)) }

// dot returns the sum of products, in four interleaved sums. The lengths agree.
func dot(x, y []float32) float32 {
	var a, b, c, d float32
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float32(x[i] * y[i])
		b += float32(x[i+1] * y[i+1])
		c += float32(x[i+2] * y[i+2])
		d += float32(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		a += float32(x[i] * y[i])
	}
	return (a + b) + (c + d)
}

// sum returns the sum of x, in four interleaved sums.
func sum(x []float32) float32 {
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i]
		b += x[i+1]
		c += x[i+2]
		d += x[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i]
	}
	return (a + b) + (c + d)
}

// sqrt is exact to the last bit on every processor.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// relu replaces what is negative by 0.
func relu(x []float32) []float32 {
	for i, v := range x {
		x[i] = max(v, 0)
	}
	return x
}
