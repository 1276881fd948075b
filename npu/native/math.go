package native

import (
	"math"
	"sync"

	"tandem/npu"
)

// exp returns e^x in float32, within 3 units in the last place. It returns 0 below −87.3 and +Inf above 88.7. It uses only
// operations that all processors round alike. The explicit conversions keep the compiler from fusing a product and a sum.
func exp(x float32) float32 {
	const (
		log2e  = 1.44269504
		ln2hi  = 0.693359375 // ln 2 in two parts, the first exact in 9 bits
		ln2lo  = -2.12194440e-4
		magic  = 3 << 22 // adding it leaves an integer in the low bits
		lowest = -87.33654
		top    = 88.72283
	)
	switch {
	case x != x:
		return x
	case x < lowest:
		return 0
	case x > top:
		return float32(math.Inf(1))
	}
	n := float32(x*log2e) + magic
	n -= magic
	r := x - float32(n*ln2hi)
	r -= float32(n * ln2lo)
	// e^r on |r| ≤ ½ ln 2: the Taylor series to r^6/720, its last coefficients adjusted to the interval.
	p := float32(1.0/720*r) + 1.0/120
	p = float32(p*r) + 1.0/24
	p = float32(p*r) + 1.0/6
	p = float32(p*r) + 0.5
	p = float32(float32(p*r)*r) + r
	p++
	// 2^n in two steps, since n may reach 128.
	half := int32(n) >> 1
	p *= math.Float32frombits(uint32(half+127) << 23)
	return p * math.Float32frombits(uint32(int32(n)-half+127)<<23)
}

// softcap returns limit·tanh(x/limit).
func softcap(x, limit float32) float32 { return limit - float32(2*limit)/(1+exp(float32(2/limit*x))) }

// silu returns x / (1 + e^−x).
func silu(x float32) float32 { return x / (1 + exp(-x)) }

// sincos returns the sine and cosine of x, within 1e-15 for |x| < 2^30. It uses only operations that all processors round
// alike.
func sincos(x float64) (sin, cos float64) {
	const (
		pio2hi = 1.5707963109016418 // π/2 in three parts, the first two with 26 bits
		pio2mi = 1.5893254712295857e-08
		pio2lo = 6.123233995736766e-17
	)
	n := math.RoundToEven(x * (2 / math.Pi))
	r := x - float64(n*pio2hi)
	r -= float64(n * pio2mi)
	r -= float64(n * pio2lo)
	z := float64(r * r)
	s, c := 0.0, 0.0
	for k := 17.0; k >= 3; k -= 2 { // Taylor; |r| ≤ π/4, so terms past r^17 are below 1e-17
		s = float64((1+s)*z) / float64(-k*(k-1))
		c = float64((1+c)*z) / float64(-(k-1)*(k-2))
	}
	s = r + float64(r*s)
	c = 1 + c
	switch int64(n) & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	}
	return -c, s
}

// ropeTable holds the cosine and sine of each pair's angle for positions from 0. It grows on demand.
type ropeTable struct {
	pairs int
	freq  []float32 // angle per position, for each pair
	scale float64   // multiplies cosines and sines

	mu    sync.RWMutex
	turns []float32 // [position × 2 × pairs], a position's cosines before its sines
}

func newRopeTable(r *npu.Rope) *ropeTable {
	t := &ropeTable{pairs: r.Dims / 2, freq: make([]float32, r.Dims/2), scale: r.Magnitude}
	if t.scale == 0 {
		t.scale = 1
	}
	for i := range t.freq {
		// Rounding to float32 hides the last bit of Pow, on which processors disagree.
		f := math.Pow(r.Base, -2*float64(i)/float64(r.Dims)) / r.Linear
		if r.Factors != nil {
			f /= float64(r.Factors[i])
		}
		t.freq[i] = float32(f)
	}
	return t
}

// upTo returns the cosines and sines for at least the given number of positions.
func (t *ropeTable) upTo(positions int) []float32 {
	t.mu.RLock()
	turns := t.turns
	t.mu.RUnlock()
	if len(turns) >= 2*positions*t.pairs {
		return turns
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := len(t.turns) / 2 / t.pairs; have < positions {
		positions = max(positions, 2*have, 256)
		turns := make([]float32, 2*positions*t.pairs)
		copy(turns, t.turns)
		for p := have; p < positions; p++ {
			for i, f := range t.freq {
				s, c := sincos(float64(p) * float64(f))
				turns[2*p*t.pairs+i], turns[(2*p+1)*t.pairs+i] = float32(c*t.scale), float32(s*t.scale)
			}
		}
		t.turns = turns
	}
	return t.turns
}
