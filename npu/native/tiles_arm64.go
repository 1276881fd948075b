package native

//go:noescape
func q80x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x4I8MM(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x4I8MM(dst *float32, stride int, w *byte, groups, blocks int, x *input)

var (
	q80NEON = []tile{{4, q80x4NEON}, {1, q80x1NEON}}
	q40NEON = []tile{{4, q40x4NEON}, {1, q40x1NEON}}
	q80I8MM = []tile{{4, q80x4I8MM}, {1, q80x1NEON}}
	q40I8MM = []tile{{4, q40x4I8MM}, {1, q40x1NEON}}
)

func mulQ80NEON(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulTiles(q80NEON, dst, stride, w, groups, blocks, x, m)
}

func mulQ40NEON(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulTiles(q40NEON, dst, stride, w, groups, blocks, x, m)
}

func mulQ80I8MM(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulTiles(q80I8MM, dst, stride, w, groups, blocks, x, m)
}

func mulQ40I8MM(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulTiles(q40I8MM, dst, stride, w, groups, blocks, x, m)
}
