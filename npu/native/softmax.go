package native

// softmax replaces the scores in s by e^(scale·s − max) / Σ.
func (k *kernels) softmax(s []float32, scale float32) {
	sum := k.exps(s, k.scaleMax(s, scale))
	inv := 1 / sum
	k.scaleMax(s, inv) // the largest is not needed
}

// scaleMaxPlain multiplies s by scale and returns its largest element. s must not be empty.
func scaleMaxPlain(s []float32, scale float32) float32 {
	s[0] *= scale
	top := s[0]
	for i, v := range s[1:] {
		s[1+i] = v * scale
		if s[1+i] > top {
			top = s[1+i]
		}
	}
	return top
}

// expsPlain replaces each x in s by e^(x − top) and returns their sum. It sums like dot with one accumulator: element i goes to
// lane i mod 8, and the remaining elements follow.
func expsPlain(s []float32, top float32) float32 {
	var acc lanes
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := (*lanes)(s[i:])
		for l, v := range x {
			x[l] = exp(v - top)
			acc[l] += x[l]
		}
	}
	return expsRest(s[i:], top, acc.sum())
}

// expsRest is the part of expsPlain for the elements that fill no vector: it adds them to sum.
func expsRest(s []float32, top, sum float32) float32 {
	for i, v := range s {
		s[i] = exp(v - top)
		sum += s[i]
	}
	return sum
}
