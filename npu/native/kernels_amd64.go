package native

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"tandem/npu"
	"tandem/npu/quant"
)

//go:noescape
func fetchRows(p *uint16, stride, n int)

//go:noescape
func widenK(dst *float32, block *byte, layout *quant.KLayout, scales *[16]float32, minima *[8]float32)

//go:noescape
func widenF16AVX2(dst *float32, src *byte, n int)

//go:noescape
func dotsF32AVX2(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func dotsF16AVX2(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func dotsBF16AVX2(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)

//go:noescape
func mixF16AVX2(acc *float32, dim int, p *float32, n int, v *uint16, stride int)

//go:noescape
func turnAVX2(dst *float32, k *uint16, stride, dim int)

//go:noescape
func turnAVX512(dst *float32, k *uint16, stride, dim int)

//go:noescape
func scores4AVX2(dst *float32, stride int, turned, q *float32, dim int)

//go:noescape
func scores4AVX512(dst *float32, stride int, turned, q *float32, dim int)

//go:noescape
func scores8AVX512(dst *float32, stride int, turned, q *float32, dim int)

//go:noescape
func mix4AVX512(acc *float32, dim int, p *float32, stride, n int, v *uint16, stepV int)

//go:noescape
func turnQ80AVX2(dst *float32, k *uint16, stride, dim int)

//go:noescape
func turnQ80AVX512(dst *float32, k *uint16, stride, dim int)

//go:noescape
func mixQ80AVX2(acc *float32, dim int, p *float32, n int, v *uint16, stride int)

//go:noescape
func mix4Q80AVX512(acc *float32, dim int, p *float32, stride, n int, v *uint16, stepV int)

//go:noescape
func tileAVX512(acc *tileSums, x, w *float32, steps int)

//go:noescape
func tileAVX2(acc *tileSums, x, w *float32, steps int)

//go:noescape
func pairF16AVX2(dst *float32, a, b *byte, steps int)

//go:noescape
func pairBF16AVX2(dst *float32, a, b *byte, steps int)

//go:noescape
func pairF32AVX2(dst *float32, a, b *byte, steps int)

//go:noescape
func sumTileAVX2(dst *[8]float32, acc *tileSums)

//go:noescape
func narrowAVX2(dst *uint16, src *float32, n int)

//go:noescape
func scaleAVX2(out, x, w *float32, n int, by float32)

//go:noescape
func maximaAVX2(dst, x *float32, blocks int)

//go:noescape
func addAVX2(out, x, y *float32, n int)

//go:noescape
func floorAVX2(out, x *float32, n int, by, least float32)

//go:noescape
func rotateAVX2(a, b, cos, sin *float32, n int)

//go:noescape
func swiGLUAVX2(out, gate, up *float32, n int)

//go:noescape
func gateAVX2(out, x, gate *float32, n int)

//go:noescape
func quantizeAVX2(dst *input, x *float32, blocks int)

var avx2Kernels = kernels{
	name:  "AVX2",
	widen: widenAVX2,
	quantize: func(dst []input, x []float32) {
		quantizeAVX2(&dst[0], &x[0], len(dst))
	},
	mul: [types]mulPacked[input]{
		npu.Q8_0: q80AVX2.mul, npu.Q4_0: q40AVX2.mul, npu.Q5_0: mulOnce32(npu.Q5_0, q50AVX2), npu.IQ4_NL: iq4nlAVX2.mul, npu.MXFP4: mulOnce32(npu.MXFP4, mxfp4AVX2),
		npu.Q4_1: q41AVX2.mul, npu.Q5_1: mulOnce32(npu.Q5_1, q51AVX2),
	},
	words: avx2Words,
	mulK256: [types]mulPacked[kInput]{
		npu.Q4_K: q4kAVX2.mul, npu.Q5_K: q5kAVX2.mul, npu.Q6_K: q6kAVX2.mul, npu.Q2_K: mulOnce256(npu.Q2_K, q2kAVX2), npu.Q3_K: mulOnce256(npu.Q3_K, q3kAVX2), npu.IQ4_XS: mulOnce256(npu.IQ4_XS, xsAVX2),
	},
	quantizeK: quantizeKVector,
	unpackK:   unpackKVector,
	mulK:      mulKAVX2,
	turned:    turnedAVX2,
	dotsK:     dotsK(dotQ4KAVX2, dotQ5KAVX2, dotQ6KAVX2),
	dotsF32: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsF32AVX2(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	dotsF16: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsF16AVX2(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	dotsBF16: func(dst, x []float32, w unsafe.Pointer, stride int) {
		dotsBF16AVX2(&dst[0], len(dst), &x[0], len(x), w, stride)
	},
	tile:    tileAVX2,
	sumTile: sumTileAVX2,
	pair: func(t npu.DType, dst []float32, a, b []byte) {
		switch steps := len(dst) / 64; t {
		case npu.F16:
			pairF16AVX2(&dst[0], &a[0], &b[0], steps)
		case npu.BF16:
			pairBF16AVX2(&dst[0], &a[0], &b[0], steps)
		default:
			pairF32AVX2(&dst[0], &a[0], &b[0], steps)
		}
	},
	mixF16:    mixF16,
	mixBlocks: mixBlocksBy(mixF16),
	mixFactor: func(acc, p []float32, v []byte, ranks int) {
		mixFactorAVX2(&acc[0], len(acc)/npu.FactorBlock, &p[0], ranks, &v[0])
	},
	scores: func(dst []float32, stride int, turned, q []float32, dim, m int) {
		for i := 0; i < m; i += 4 {
			scores4AVX2(&dst[i*stride], 4*stride, &turned[0], &q[i*dim], dim)
		}
	},
	caches: [2]cacheKernels{npu.CacheF16: {turnF16, mixF16, mix4By(mixF16)}, npu.CacheQ8_0: {turnQ80, mixQ80, mix4By(mixQ80)}},
	fetch:  func(p *uint16, stride, n int) { fetchRows(p, 2*stride, 2*n) },
	narrow: func(dst []uint16, src []float32) {
		whole := len(src) / 8 * 8
		if whole > 0 {
			narrowAVX2(&dst[0], &src[0], whole)
		}
		narrowPlain(dst[whole:], src[whole:])
	},
	scaleMax: scaleMax,
	exps:     exps,
	maxima:   func(dst, x []float32) { maximaAVX2(&dst[0], &x[0], len(dst)) },
	swiGLU:   inEights(swiGLUAVX2, swiGLUPlain),
	gate:     inEights(gateAVX2, gatePlain),
	add:      inEights(addAVX2, addPlain),
	scale: func(out, x, w []float32, by float32) {
		whole := len(x) / 8 * 8
		if whole > 0 {
			scaleAVX2(&out[0], &x[0], &w[0], whole, by)
		}
		scalePlain(out[whole:], x[whole:], w[whole:], by)
	},
	floor: func(out, x []float32, by, least float32) {
		whole := len(x) / 8 * 8
		if whole > 0 {
			floorAVX2(&out[0], &x[0], whole, by, least)
		}
		floorPlain(out[whole:], x[whole:], by, least)
	},
	rotate: func(a, b, cos, sin []float32) {
		whole := len(cos) / 8 * 8
		if whole > 0 {
			rotateAVX2(&a[0], &b[0], &cos[0], &sin[0], whole)
		}
		rotatePlain(a[whole:], b[whole:], cos[whole:], sin[whole:])
	},
}

func mixF16(acc, p []float32, v []uint16, stride int) {
	whole := len(acc) / 8 * 8
	if whole > 0 {
		mixF16AVX2(&acc[0], whole, &p[0], len(p), &v[0], 2*stride)
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
	turnAVX2(&dst[0], &k[0], 2*stride, dim)
}

func turnQ80(dst []float32, k []uint16, stride, dim int) {
	turnQ80AVX2(&dst[0], &k[0], 2*stride, dim)
}

func mixQ80(acc, p []float32, v []uint16, stride int) {
	mixQ80AVX2(&acc[0], len(acc), &p[0], len(p), &v[0], 2*stride)
}

func turn512(dst []float32, k []uint16, stride, dim int) {
	if dim%16 != 0 {
		turnPlain(dst, k, stride, dim)
		return
	}
	turnAVX512(&dst[0], &k[0], 2*stride, dim)
}

func scores512(dst []float32, stride int, turned, q []float32, dim, m int) {
	i := 0
	for ; i+8 <= m; i += 8 {
		scores8AVX512(&dst[i*stride], 4*stride, &turned[0], &q[i*dim], dim)
	}
	for ; i < m; i += 4 {
		scores4AVX512(&dst[i*stride], 4*stride, &turned[0], &q[i*dim], dim)
	}
}

func turnQ80512(dst []float32, k []uint16, stride, dim int) {
	turnQ80AVX512(&dst[0], &k[0], 2*stride, dim)
}

func mix4Q80(acc, p []float32, stride, n int, v []uint16, stepV int) {
	mix4Q80AVX512(&acc[0], len(acc)/4, &p[0], 4*stride, n, &v[0], 2*stepV)
}

var mix4Rows = mix4By(mixF16)

func mix4(acc, p []float32, stride, n int, v []uint16, stepV int) {
	dim := len(acc) / 4
	if dim%16 != 0 {
		mix4Rows(acc, p, stride, n, v, stepV)
		return
	}
	mix4AVX512(&acc[0], dim, &p[0], 4*stride, n, &v[0], 2*stepV)
}

func widenAVX2(t npu.DType, dst []float32, src []byte) {
	switch l := quant.LayoutOf(t); {
	case l != nil:
		var scales [16]float32
		var minima [8]float32
		for size := t.BlockBytes(); len(dst) > 0; dst, src = dst[256:], src[size:] {
			quant.KScales(t, src, &scales, &minima)
			widenK(&dst[0], &src[0], l, &scales, &minima)
		}
	case t == npu.F16 && len(dst)%8 == 0:
		widenF16AVX2(&dst[0], &src[0], len(dst))
	default:
		widen(t, dst, src)
	}
}

// avxVNNIKernels are the AVX2 kernels except for products with Q4_0 and Q8_0.
var avxVNNIKernels = func() kernels {
	k := avx2Kernels
	k.name = "AVX-VNNI"
	k.words = &wordKernels{quad: avx2Words.quad, mul: [types]mulPacked[wordQuad]{npu.IQ4_NL: mulWords(npu.IQ4_NL)}}
	k.mul[npu.Q8_0], k.mul[npu.Q4_0] = q80AVXVNNI.mul, q40AVXVNNI.mul
	return k
}()

// vnniKernels are the AVX2 kernels except for products and attention.
var vnniKernels = func() kernels {
	k := avx2Kernels
	k.name, k.words = "AVX-512 VNNI", nil
	k.mul = [types]mulPacked[input]{
		npu.Q8_0: q80VNNI.mul, npu.Q4_0: q40VNNI.mul, npu.Q5_0: q50VNNI.mul, npu.IQ4_NL: iq4nlVNNI.mul, npu.MXFP4: mxfp4VNNI.mul,
		npu.Q4_1: q41VNNI.mul, npu.Q5_1: q51VNNI.mul,
	}
	k.mulK256 = [types]mulPacked[kInput]{npu.Q4_K: q4kVNNI.mul, npu.Q5_K: q5kVNNI.mul, npu.Q6_K: q6kVNNI.mul, npu.Q2_K: q2kVNNI.mul, npu.Q3_K: q3kVNNI.mul, npu.IQ4_XS: xsVNNI.mul}
	k.dotsK, k.panels = dotsK(dotQ4KVNNI, dotQ5KVNNI, dotQ6KVNNI), vnniPanels
	k.tile, k.mixBlocks, k.mixFactor = tileAVX512, mixBlocks512, mixFactor512
	k.scores = scores512
	k.caches = [2]cacheKernels{npu.CacheF16: {turn512, mixF16, mix4}, npu.CacheQ8_0: {turnQ80512, mixQ80, mix4Q80}}
	return k
}()

// available returns the kernels that this processor supports, the fastest last.
func available() []*kernels {
	k, x := []*kernels{&plainKernels}, &cpu.X86
	if x.HasAVX2 && x.HasF16C {
		k = append(k, &avx2Kernels)
		if x.HasAVXVNNI {
			k = append(k, &avxVNNIKernels)
		}
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI {
			k = append(k, &vnniKernels)
			if hasAMX() {
				k = append(k, &amxKernels)
			}
		}
	}
	return k
}
