//go:build amd64 || arm64

package native

//go:noescape
func scaleMax(s *float32, n int, scale float32, top *[8]float32)

//go:noescape
func expSum(s *float32, n int, top float32, sum *[8]float32)

// softmax is softmaxPlain with vectors of eight elements.
func softmax(s []float32, scale float32) {
	whole := len(s) / 8 * 8
	if whole == 0 {
		softmaxPlain(s, scale)
		return
	}
	var tops, sums lanes
	scaleMax(&s[0], whole, scale, (*[8]float32)(&tops))
	top := tops[0]
	for _, v := range tops[1:] {
		top = max(top, v)
	}
	for i := whole; i < len(s); i++ {
		s[i] *= scale
		top = max(top, s[i])
	}
	expSum(&s[0], whole, top, (*[8]float32)(&sums))
	sum := sums.sum()
	for i := whole; i < len(s); i++ {
		s[i] = exp(s[i] - top)
		sum += s[i]
	}
	inv := 1 / sum
	for i := range s {
		s[i] *= inv
	}
}
