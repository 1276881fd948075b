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
	q80NEON = tiles[input]{{4, q80x4NEON}, {1, q80x1NEON}}
	q40NEON = tiles[input]{{4, q40x4NEON}, {1, q40x1NEON}}
	q80I8MM = tiles[input]{{4, q80x4I8MM}, {1, q80x1NEON}}
	q40I8MM = tiles[input]{{4, q40x4I8MM}, {1, q40x1NEON}}
)
