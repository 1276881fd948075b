//go:build amd64 || arm64

package native

//go:noescape
func scaleMaxVector(s *float32, n int, scale float32, top *[8]float32)

//go:noescape
func expSum(s *float32, n int, top float32, sum *[8]float32)

// inEights returns an elementwise kernel: vector computes the whole vectors of eight elements, and plain the rest.
func inEights(vector func(out, x, y *float32, n int), plain func(out, x, y []float32)) func(out, x, y []float32) {
	return func(out, x, y []float32) {
		whole := len(out) / 8 * 8
		if whole > 0 {
			vector(&out[0], &x[0], &y[0], whole)
		}
		plain(out[whole:], x[whole:], y[whole:])
	}
}

// scaleMax is scaleMaxPlain with vectors of eight elements.
func scaleMax(s []float32, scale float32) float32 {
	whole := len(s) / 8 * 8
	if whole == 0 {
		return scaleMaxPlain(s, scale)
	}
	var tops lanes
	scaleMaxVector(&s[0], whole, scale, (*[8]float32)(&tops))
	top := tops[0]
	for _, v := range tops[1:] {
		if v > top { // max takes longer
			top = v
		}
	}
	for i, v := range s[whole:] {
		s[whole+i] = v * scale
		if s[whole+i] > top {
			top = s[whole+i]
		}
	}
	return top
}

// exps is expsPlain with vectors of eight elements.
func exps(s []float32, top float32) float32 {
	whole := len(s) / 8 * 8
	var sums lanes
	if whole > 0 {
		expSum(&s[0], whole, top, (*[8]float32)(&sums))
	}
	return expsRest(s[whole:], top, sums.sum())
}
