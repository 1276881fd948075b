package native

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Dots and Softmax give the same bits as plain Go, and Dots panics if w is too short.
func TestVectorsEqualPlainGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, 32, 33, 105} {
		x, w := make([]float32, n), make([]float32, 5*(n+3))
		for i := range x {
			x[i] = r.Float32() - .5
		}
		for i := range w {
			w[i] = r.Float32() - .5
		}
		got, want := make([]float32, 5), make([]float32, 5)
		Dots(got, x, w, n+3)
		dotsF32Plain(want, x, unsafe.Pointer(&w[0]), 4*(n+3))
		same(t, "dots", got, want)
		y := append([]float32(nil), x...)
		Softmax(x, .3)
		softmaxPlain(y, .3)
		same(t, "softmax", x, y)
	}
	defer func() {
		if recover() == nil {
			t.Error("Dots read beyond w")
		}
	}()
	Dots(make([]float32, 2), make([]float32, 4), make([]float32, 7), 4)
}
