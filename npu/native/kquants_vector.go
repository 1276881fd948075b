//go:build amd64 || arm64

package native

import "tandem/npu"

// Assembly of both processors, by AVX2 and by NEON.

//go:noescape
func quantizeKBlocks(dst *kInput, x *float32, blocks int)

//go:noescape
func unpackQ4K(dst *kBlock, src *byte, n int)

//go:noescape
func unpackQ5K(dst *kBlock, src *byte, n int)

//go:noescape
func unpackQ6K(dst *kBlock, src *byte, n int)

func quantizeKVector(dst []kInput, x []float32) { quantizeKBlocks(&dst[0], &x[0], len(dst)) }

func unpackKVector(t npu.DType, dst []kBlock, src []byte) {
	switch t {
	case npu.Q4_K:
		unpackQ4K(&dst[0], &src[0], len(dst))
	case npu.Q5_K:
		unpackQ5K(&dst[0], &src[0], len(dst))
	case npu.Q6_K:
		unpackQ6K(&dst[0], &src[0], len(dst))
	}
}

// dotsK is kernels.dotsK by kernels of the three types.
func dotsK(q4, q5, q6 func(dst *float32, w *byte, rows, blocks int, x *kInput)) func(t npu.DType, dst []float32, w []byte, x []kInput) {
	return func(t npu.DType, dst []float32, w []byte, x []kInput) {
		kernel := q6
		switch t {
		case npu.Q4_K:
			kernel = q4
		case npu.Q5_K:
			kernel = q5
		}
		kernel(&dst[0], &w[0], len(dst), len(x), &x[0])
	}
}
