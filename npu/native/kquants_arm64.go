package native

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

//go:noescape
func mulQ2Kx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ3Kx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulXSx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

// Several inputs are multiplied one by one.
var (
	q2kNEON = tiles[kInput]{{1, mulQ2Kx1NEON}}
	q3kNEON = tiles[kInput]{{1, mulQ3Kx1NEON}}
	xsNEON  = tiles[kInput]{{1, mulXSx1NEON}}
)
