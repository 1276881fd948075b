package native

// tile multiplies rows of weights, a multiple of 4 of them, by a fixed number of inputs.
type tile func(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q80x1VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q80x4VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q80x8VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q40x1VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q40x4VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

//go:noescape
func q40x8VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)

func mulQ80VNNI(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	if rows < 4 {
		mulQ80Asm(dst, stride, w, rows, cols, q, d, m)
		return
	}
	mulTiles(q80x1VNNI, q80x4VNNI, q80x8VNNI, dst, stride, w, rows, cols, q, d, m)
}

func mulQ40VNNI(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	if rows < 4 {
		mulQ40Asm(dst, stride, w, rows, cols, q, d, m)
		return
	}
	mulTiles(q40x1VNNI, q40x4VNNI, q40x8VNNI, dst, stride, w, rows, cols, q, d, m)
}

// mulTiles covers rows and inputs by tiles. Where they do not divide evenly, the last tile overlaps the one
// before and computes a few sums again, to the same bits.
func mulTiles(x1, x4, x8 tile, dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	whole := rows &^ 3
	rest := (rows - 4) * (len(w) / rows)
	for i := 0; i < m; {
		t, n := x1, 1
		switch left := m - i; {
		case m >= 8 && left > 4:
			t, n = x8, 8
		case m >= 4 && left > 1:
			t, n = x4, 4
		}
		at := min(i, m-n)
		t(&dst[at*stride], stride, &w[0], whole, cols/32, &q[at*cols], &d[at*cols/32])
		if whole < rows {
			t(&dst[at*stride+rows-4], stride, &w[rest], 4, cols/32, &q[at*cols], &d[at*cols/32])
		}
		i = at + n
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
