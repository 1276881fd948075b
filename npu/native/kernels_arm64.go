package native

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func dotsF32NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func dotsF16NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func dotsBF16NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func mixF16NEON(acc *float32, dim int, p *float32, n int, v *uint16, stride int)

//go:noescape
func mulKx1NEON(dst *float32, w *kBlock, rows, blocks int, x *kInput)

//go:noescape
func mulKx4NEON(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)

func mulKNEON(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
	blocks, i := len(w)/rows, 0
	for ; i+4 <= m; i += 4 {
		mulKx4NEON(&dst[i*stride], stride, &w[0], rows, blocks, &x[i*blocks])
	}
	for ; i < m; i++ {
		mulKx1NEON(&dst[i*stride], &w[0], rows, blocks, &x[i*blocks])
	}
}

var neonKernels = kernels{
	name:      "NEON",
	widen:     widen,
	quantize:  quantizePlain,
	mulQ80:    mulQ80NEON,
	mulQ40:    mulQ40NEON,
	quantizeK: quantizeKPlain,
	unpackK:   unpackKPlain,
	mulK:      mulKNEON,
	dotsF32: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsF32NEON(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	dotsF16: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsF16NEON(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	dotsBF16: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsBF16NEON(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	mixF16: func(acc, p []float32, v []uint16, stride int) {
		whole := len(acc) / 8 * 8
		if whole > 0 {
			mixF16NEON(&acc[0], whole, &p[0], len(p), &v[0], 2*stride)
		}
		if whole < len(acc) {
			mixF16Plain(acc[whole:], p, v[whole:], stride)
		}
	},
	softmax: softmaxPlain,
	swiGLU:  swiGLUPlain,
}

// available lists what this processor can run, the best last.
func available() []*kernels {
	k := []*kernels{&plainKernels}
	if cpu.ARM64.HasASIMDDP {
		k = append(k, &neonKernels)
	}
	return k
}
