package native

import "tandem/npu"

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

//go:noescape
func dotQ4KNEON(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ5KNEON(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ6KNEON(dst *float32, w *byte, rows, blocks int, x *kInput)

func dotsKNEON(t npu.DType, dst []float32, w []byte, x []kInput) {
	switch t {
	case npu.Q4_K:
		dotQ4KNEON(&dst[0], &w[0], len(dst), len(x), &x[0])
	case npu.Q5_K:
		dotQ5KNEON(&dst[0], &w[0], len(dst), len(x), &x[0])
	case npu.Q6_K:
		dotQ6KNEON(&dst[0], &w[0], len(dst), len(x), &x[0])
	}
}
