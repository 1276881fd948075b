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

//go:noescape
func q41x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q41x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q41x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q41x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q41x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q50x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func q51x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func iq4nlx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func mxfp4x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)

var (
	q80VNNI    = tiles[input]{{16, q80x16VNNI}, {8, q80x8VNNI}, {4, q80x4VNNI}, {2, q80x2VNNI}, {1, q80x1VNNI}}
	q40VNNI    = tiles[input]{{16, q40x16VNNI}, {8, q40x8VNNI}, {4, q40x4VNNI}, {2, q40x2VNNI}, {1, q40x1VNNI}}
	q80AVX2    = tiles[input]{{4, q80x4AVX2}, {1, q80x1AVX2}}
	q40AVX2    = tiles[input]{{4, q40x4AVX2}, {1, q40x1AVX2}}
	q80AVXVNNI = tiles[input]{{4, q80x4AVXVNNI}, {1, q80x1AVXVNNI}}
	q40AVXVNNI = tiles[input]{{4, q40x4AVXVNNI}, {1, q40x1AVXVNNI}}

	q41VNNI   = tiles[input]{{8, q41x8VNNI}, {4, q41x4VNNI}, {1, q41x1VNNI}}
	q50VNNI   = tiles[input]{{8, q50x8VNNI}, {4, q50x4VNNI}, {1, q50x1VNNI}}
	q51VNNI   = tiles[input]{{8, q51x8VNNI}, {4, q51x4VNNI}, {1, q51x1VNNI}}
	iq4nlVNNI = tiles[input]{{8, iq4nlx8VNNI}, {4, iq4nlx4VNNI}, {1, iq4nlx1VNNI}}
	mxfp4VNNI = tiles[input]{{8, mxfp4x8VNNI}, {4, mxfp4x4VNNI}, {1, mxfp4x1VNNI}}
	q41AVX2   = tiles[input]{{4, q41x4AVX2}, {1, q41x1AVX2}}
	q50AVX2   = tiles[input]{{4, q50x4AVX2}, {1, q50x1AVX2}}
	q51AVX2   = tiles[input]{{4, q51x4AVX2}, {1, q51x1AVX2}}
	iq4nlAVX2 = tiles[input]{{4, iq4nlx4AVX2}, {1, iq4nlx1AVX2}}
	mxfp4AVX2 = tiles[input]{{4, mxfp4x4AVX2}, {1, mxfp4x1AVX2}}
)
