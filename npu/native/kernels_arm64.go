package native

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"tandem/npu"
)

//go:noescape
func tileNEON(acc *tileSums, x, w *float32, steps int)

//go:noescape
func fetchRows(p *uint16, stride, n int)

//go:noescape
func dotsF32NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func dotsF16NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func dotsBF16NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func widenF16NEON(dst *float32, src *byte, n int)

//go:noescape
func widenBF16NEON(dst *float32, src *byte, n int)

//go:noescape
func quantizeNEON(dst *input, x *float32, blocks int)

//go:noescape
func mixFactorNEON(acc *float32, blocks int, p *float32, ranks int, v *byte)

//go:noescape
func mixF16NEON(acc *float32, dim int, p *float32, n int, v *uint16, stride int)

//go:noescape
func turnNEON(dst *float32, k *uint16, stride, dim int)

//go:noescape
func turnQ80NEON(dst *float32, k *uint16, stride, dim int)

//go:noescape
func mixQ80NEON(acc *float32, dim int, p *float32, n int, v *uint16, stride int)

//go:noescape
func scores4NEON(dst *float32, stride int, turned, q *float32, dim int)

//go:noescape
func narrowNEON(dst *uint16, src *float32, n int)

//go:noescape
func scaleNEON(out, x, w *float32, n int, by float32)

//go:noescape
func maximaNEON(dst, x *float32, blocks int)

//go:noescape
func addNEON(out, x, y *float32, n int)

//go:noescape
func floorNEON(out, x *float32, n int, by, least float32)

//go:noescape
func rotateNEON(a, b, cos, sin *float32, n int)

//go:noescape
func swiGLUNEON(out, gate, up *float32, n int)

//go:noescape
func gateNEON(out, x, gate *float32, n int)

var neonKernels = kernels{
	name:  "NEON",
	widen: widenNEON,
	quantize: func(dst []input, x []float32) {
		quantizeNEON(&dst[0], &x[0], len(dst))
	},
	mul: [types]mulPacked[input]{
		npu.Q8_0: q80NEON.mul, npu.Q4_0: q40NEON.mul, npu.Q5_0: q50NEON.mul, npu.IQ4_NL: iq4nlNEON.mul, npu.MXFP4: mxfp4NEON.mul,
		npu.Q4_1: q41NEON.mul, npu.Q5_1: q51NEON.mul,
	},
	mulK256:   [types]mulPacked[kInput]{npu.Q2_K: q2kNEON.mul, npu.Q3_K: q3kNEON.mul, npu.IQ4_XS: xsNEON.mul},
	quantizeK: quantizeKVector,
	unpackK:   unpackKVector,
	mulK:      mulKNEON,
	dotsK:     dotsK(dotQ4KNEON, dotQ5KNEON, dotQ6KNEON),
	dotsF32: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsF32NEON(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	dotsF16: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsF16NEON(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	dotsBF16: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsBF16NEON(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	tile:      tileNEON,
	sumTile:   sumTilePlain,
	pair:      pairBy(widenNEON),
	mixF16:    mixF16,
	mixBlocks: mixBlocksBy(mixF16),
	mixFactor: func(acc, p []float32, v []byte, ranks int) {
		mixFactorNEON(&acc[0], len(acc)/npu.FactorBlock, &p[0], ranks, &v[0])
	},
	scores: func(dst []float32, stride int, turned, q []float32, dim, m int) {
		for i := 0; i < m; i += 4 {
			scores4NEON(&dst[i*stride], 4*stride, &turned[0], &q[i*dim], dim)
		}
	},
	caches: [2]cacheKernels{npu.CacheF16: {turnF16, mixF16, mix4By(mixF16)}, npu.CacheQ8_0: {turnQ80, mixQ80, mix4By(mixQ80)}},
	fetch:  func(p *uint16, stride, n int) { fetchRows(p, 2*stride, 2*n) },
	narrow: func(dst []uint16, src []float32) {
		whole := len(src) / 8 * 8
		if whole > 0 {
			narrowNEON(&dst[0], &src[0], whole)
		}
		narrowPlain(dst[whole:], src[whole:])
	},
	scaleMax: scaleMax,
	exps:     exps,
	maxima:   func(dst, x []float32) { maximaNEON(&dst[0], &x[0], len(dst)) },
	swiGLU:   inEights(swiGLUNEON, swiGLUPlain),
	gate:     inEights(gateNEON, gatePlain),
	add:      inEights(addNEON, addPlain),
	scale: func(out, x, w []float32, by float32) {
		whole := len(x) / 8 * 8
		if whole > 0 {
			scaleNEON(&out[0], &x[0], &w[0], whole, by)
		}
		scalePlain(out[whole:], x[whole:], w[whole:], by)
	},
	floor: func(out, x []float32, by, least float32) {
		whole := len(x) / 8 * 8
		if whole > 0 {
			floorNEON(&out[0], &x[0], whole, by, least)
		}
		floorPlain(out[whole:], x[whole:], by, least)
	},
	rotate: func(a, b, cos, sin []float32) {
		whole := len(cos) / 8 * 8
		if whole > 0 {
			rotateNEON(&a[0], &b[0], &cos[0], &sin[0], whole)
		}
		rotatePlain(a[whole:], b[whole:], cos[whole:], sin[whole:])
	},
}

func widenNEON(t npu.DType, dst []float32, src []byte) {
	whole := len(dst) / 8 * 8
	switch {
	case whole > 0 && t == npu.F16:
		widenF16NEON(&dst[0], &src[0], whole)
	case whole > 0 && t == npu.BF16:
		widenBF16NEON(&dst[0], &src[0], whole)
	default:
		whole = 0
	}
	if whole < len(dst) {
		widen(t, dst[whole:], src[2*whole:])
	}
}

func mixF16(acc, p []float32, v []uint16, stride int) {
	whole := len(acc) / 8 * 8
	if whole > 0 {
		mixF16NEON(&acc[0], whole, &p[0], len(p), &v[0], 2*stride)
	}
	if whole < len(acc) {
		mixF16Plain(acc[whole:], p, v[whole:], stride)
	}
}

func turnF16(dst []float32, k []uint16, stride, dim int) {
	if dim%8 != 0 {
		turnPlain(dst, k, stride, dim)
		return
	}
	turnNEON(&dst[0], &k[0], 2*stride, dim)
}

func turnQ80(dst []float32, k []uint16, stride, dim int) {
	turnQ80NEON(&dst[0], &k[0], 2*stride, dim)
}

func mixQ80(acc, p []float32, v []uint16, stride int) {
	mixQ80NEON(&acc[0], len(acc), &p[0], len(p), &v[0], 2*stride)
}

// i8mmKernels are the NEON kernels except for products of several inputs with Q4_0 and Q8_0 weights.
var i8mmKernels = func() kernels {
	k := neonKernels
	k.name = "NEON i8mm"
	k.mul[npu.Q8_0], k.mul[npu.Q4_0] = q80I8MM.mul, q40I8MM.mul
	return k
}()

// available returns the kernels that this processor supports, the fastest last.
func available() []*kernels {
	k := []*kernels{&plainKernels}
	if cpu.ARM64.HasASIMDDP {
		k = append(k, &neonKernels)
		if cpu.ARM64.HasI8MM {
			k = append(k, &i8mmKernels)
		}
	}
	return k
}
