package native

//go:noescape
func mulKx1AVX2(dst *float32, w *kBlock, rows, blocks int, x *kInput)

//go:noescape
func mulKx4AVX2(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)

func mulKAVX2(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
	blocks, i := len(w)/rows, 0
	for ; i+4 <= m; i += 4 {
		mulKx4AVX2(&dst[i*stride], stride, &w[0], rows, blocks, &x[i*blocks])
	}
	for ; i < m; i++ {
		mulKx1AVX2(&dst[i*stride], &w[0], rows, blocks, &x[i*blocks])
	}
}

//go:noescape
func mulKx1VNNI(dst *float32, w *kBlock, rows, blocks int, x *kInput)

//go:noescape
func mulKx4VNNI(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)

func mulKVNNI(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
	blocks := len(w) / rows
	for i := 0; i < m; {
		if m < 4 || m-i == 1 {
			mulKx1VNNI(&dst[i*stride], &w[0], rows, blocks, &x[i*blocks])
			i++
			continue
		}
		i = min(i, m-4)
		mulKx4VNNI(&dst[i*stride], stride, &w[0], rows, blocks, &x[i*blocks])
		i += 4
	}
}
