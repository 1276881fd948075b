package native

import "tandem/npu"

//go:noescape
func quantizeKBlocks(dst *kInput, x *float32, blocks int)

//go:noescape
func unpackQ4K(dst *kBlock, src *byte, n int)

//go:noescape
func unpackQ5K(dst *kBlock, src *byte, n int)

//go:noescape
func unpackQ6K(dst *kBlock, src *byte, n int)

//go:noescape
func mulKx1NEON(dst *float32, w *kBlock, rows, blocks int, x *kInput)

//go:noescape
func mulKx4NEON(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)

func quantizeKNEON(dst []kInput, x []float32) { quantizeKBlocks(&dst[0], &x[0], len(dst)) }

func unpackKNEON(t npu.DType, dst []kBlock, src []byte) {
	switch t {
	case npu.Q4_K:
		unpackQ4K(&dst[0], &src[0], len(dst))
	case npu.Q5_K:
		unpackQ5K(&dst[0], &src[0], len(dst))
	case npu.Q6_K:
		unpackQ6K(&dst[0], &src[0], len(dst))
	}
}

func mulKNEON(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
	blocks, i := len(w)/rows, 0
	for ; i+4 <= m; i += 4 {
		mulKx4NEON(&dst[i*stride], stride, &w[0], rows, blocks, &x[i*blocks])
	}
	for ; i < m; i++ {
		mulKx1NEON(&dst[i*stride], &w[0], rows, blocks, &x[i*blocks])
	}
}
