//go:build amd64 || arm64

package native

//go:noescape
func q80x1(dst *float32, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q80x4(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q40x1(dst *float32, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q40x4(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

func mulQ80Asm(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	i := 0
	for ; i+4 <= m; i += 4 {
		q80x4(&dst[i*stride], stride, &w[0], rows, cols/32, &q[i*cols], &d[i*cols/32])
	}
	for ; i < m; i++ {
		q80x1(&dst[i*stride], &w[0], rows, cols/32, &q[i*cols], &d[i*cols/32])
	}
}

func mulQ40Asm(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	i := 0
	for ; i+4 <= m; i += 4 {
		q40x4(&dst[i*stride], stride, &w[0], rows, cols/32, &q[i*cols], &d[i*cols/32])
	}
	for ; i < m; i++ {
		q40x1(&dst[i*stride], &w[0], rows, cols/32, &q[i*cols], &d[i*cols/32])
	}
}
