package native

//go:noescape
func q80x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x2VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x16VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x2VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x16VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x1AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q80x4AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x1AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q40x4AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

var (
	q80VNNI    = tiles[input]{{16, q80x16VNNI}, {8, q80x8VNNI}, {4, q80x4VNNI}, {2, q80x2VNNI}, {1, q80x1VNNI}}
	q40VNNI    = tiles[input]{{16, q40x16VNNI}, {8, q40x8VNNI}, {4, q40x4VNNI}, {2, q40x2VNNI}, {1, q40x1VNNI}}
	q80AVX2    = tiles[input]{{4, q80x4AVX2}, {1, q80x1AVX2}}
	q40AVX2    = tiles[input]{{4, q40x4AVX2}, {1, q40x1AVX2}}
	q80AVXVNNI = tiles[input]{{4, q80x4AVXVNNI}, {1, q80x1AVXVNNI}}
	q40AVXVNNI = tiles[input]{{4, q40x4AVXVNNI}, {1, q40x1AVXVNNI}}
)
