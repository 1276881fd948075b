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

//go:noescape
func q41x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q41x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)

var (
	q41NEON   = tiles[input]{{4, q41x4NEON}, {1, q41x1NEON}}
	q50NEON   = tiles[input]{{4, q50x4NEON}, {1, q50x1NEON}}
	q51NEON   = tiles[input]{{4, q51x4NEON}, {1, q51x1NEON}}
	iq4nlNEON = tiles[input]{{4, iq4nlx4NEON}, {1, iq4nlx1NEON}}
	mxfp4NEON = tiles[input]{{4, mxfp4x4NEON}, {1, mxfp4x1NEON}}
	q80NEON   = tiles[input]{{4, q80x4NEON}, {1, q80x1NEON}}
	q40NEON   = tiles[input]{{4, q40x4NEON}, {1, q40x1NEON}}
	q80I8MM   = tiles[input]{{4, q80x4I8MM}, {1, q80x1NEON}}
	q40I8MM   = tiles[input]{{4, q40x4I8MM}, {1, q40x1NEON}}
)
