package native

import (
	"sync"
	"unsafe"
)

var kernelsHere = sync.OnceValue(bestKernels)

// Dots sets dst[j] to the dot product of x and w[j·stride:]. It is for models that multiply by more than fixed weights.
// The results have the same bits on every processor, and the same as a product with F32 weights.
func Dots(dst, x, w []float32, stride int) {
	if len(dst) == 0 {
		return
	}
	if len(x) == 0 {
		clear(dst)
		return
	}
	_ = w[(len(dst)-1)*stride+len(x)-1] // the kernel does not check
	kernelsHere().dotsF32(dst, x, unsafe.Pointer(&w[0]), 4*stride)
}

// Softmax replaces the scores in s by e^(scale·s − max) / Σ, with the same bits on every processor. s must not be empty.
func Softmax(s []float32, scale float32) { kernelsHere().softmax(s, scale) }
