package native

import (
	"sync"
	"unsafe"
)

var kernelsHere = sync.OnceValue(bestKernels)

// Dots sets dst[j] to the dot product of x with w[j·stride:], for models whose work is not all products by weights.
// The bits are the same on every processor: they are those of a product by F32 weights.
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

// Softmax turns the scores s into e^(scale·s − max) / Σ, the same bits on every processor. s is not empty.
func Softmax(s []float32, scale float32) { kernelsHere().softmax(s, scale) }
