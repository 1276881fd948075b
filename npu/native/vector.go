package native

import (
	"slices"
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

// expBlock is how many exponentials Exps sums in float32 before it adds them in float64.
const expBlock = 1024

// Exps replaces each x in s by e^(x − max), within 3 units in the last place and 0 below e^−87, and returns their sum. The
// results have the same bits on every processor. s must not be empty.
func Exps(s []float32) (sum float64) { return kernelsHere().expsInBlocks(s) }

// expsInBlocks is Exps with these kernels.
func (k *kernels) expsInBlocks(s []float32) (sum float64) {
	top := k.scaleMax(s, 1)
	for block := range slices.Chunk(s, expBlock) {
		sum += float64(k.exps(block, top))
	}
	return sum
}

// Softmax replaces the scores in s by e^(scale·s − max) / Σ, with the same bits on every processor. s must not be empty.
func Softmax(s []float32, scale float32) { kernelsHere().softmax(s, scale) }
