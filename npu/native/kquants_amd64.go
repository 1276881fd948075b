package native

import (
	"unsafe"

	"tandem/npu"
)

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
func turnedQ4K(dst *kBlock, src *byte, n int)

//go:noescape
func turnedQ5K(dst *kBlock, src *byte, n int)

//go:noescape
func turnInputs(dst, src *kInput, n int)

//go:noescape
func mulTurned4(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)

var turnedAVX2 = &kTurned{
	inputs: func(dst, src []kInput) { turnInputs(&dst[0], &src[0], len(src)) },
	unpack: func(t npu.DType, dst []kBlock, src []byte) {
		if t == npu.Q4_K {
			turnedQ4K(&dst[0], &src[0], len(dst))
		} else {
			turnedQ5K(&dst[0], &src[0], len(dst))
		}
	},
	mul: func(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
		blocks := len(w) / rows
		for i := 0; i < m; i += 4 {
			i := min(i, m-4) // the last four may be computed twice
			mulTurned4(&dst[i*stride], stride, &w[0], rows, blocks, &x[i*blocks])
		}
	},
}

//go:noescape
func mulQ4Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ4Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ4Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ4Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ4Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ5Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ5Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ5Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ5Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ5Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ6Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ6Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ2Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ2Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ2Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ2Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ2Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ3Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ3Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ3Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ3Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ3Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulXSx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulXSx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulXSx8AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

// words256 is a block of packed IQ4_XS whose numbers are words, multiplied by their scales: see words_amd64.s.
type words256 [8]words32

//go:noescape
func widenXS(dst *words256, w *byte)

// mulWords256 multiplies m inputs, in fours, by a block and by sixteen scales in F16. It adds the products to dst.
//
//go:noescape
func mulWords256(dst *float32, stride int, w *words256, scales *byte, x *kInput, blocks, m int)

// unpackedK is a block of packed Q2_K or Q3_K with a byte for each value: see unpackQ2K in kpacked_amd64.s.
type unpackedK [2][64][groupRows / 2][4]uint8

//go:noescape
func unpackQ2K(dst *unpackedK, w *byte)

//go:noescape
func unpackQ3K(dst *unpackedK, w *byte)

// mulManyQ2K multiplies m inputs, in fours, by a block with the scales and what follows them. It adds the products to dst.
//
//go:noescape
func mulManyQ2K(dst *float32, stride int, w *unpackedK, scales *byte, x *kInput, blocks, m int)

//go:noescape
func mulManyQ3K(dst *float32, stride int, w *unpackedK, scales *byte, x *kInput, blocks, m int)

// Numbers of inputs from which blocks of 256 and of 32 are unpacked once for all.
const (
	many256 = 16
	many32  = 32
)

// mulOnce returns products of a type that unpack each block once for many inputs, in fours. group multiplies a group by
// them and adds the products to dst. few are for the other inputs.
func mulOnce[T any](t npu.DType, many int, few tiles[T], group func(dst []float32, stride int, w []byte, blocks int, x []T, m int)) mulPacked[T] {
	return func(dst []float32, stride int, w []byte, groups, blocks int, x []T, m int) {
		once := m &^ 3
		if m < many {
			once = 0
		}
		if once < m {
			few.mul(dst[once*stride:], stride, w, groups, blocks, x[once*blocks:], m-once)
		}
		if once == 0 {
			return
		}
		for g, size := 0, groupBytes(t, blocks); g < groups; g++ {
			to := dst[g*groupRows:]
			for i := range once {
				clear(to[i*stride:][:groupRows])
			}
			group(to, stride, w[g*size:][:size], blocks, x, once)
		}
	}
}

// mulOnce256 is mulOnce for Q2_K, Q3_K and IQ4_XS.
func mulOnce256(t npu.DType, few tiles[kInput]) mulPacked[kInput] {
	size := packedKBytes(t)
	return mulOnce(t, many256, few, func(dst []float32, stride int, w []byte, blocks int, x []kInput, m int) {
		var room [unsafe.Sizeof(words256{}) + line - 1]byte
		words := unsafe.Pointer(&room[-uintptr(unsafe.Pointer(&room[0]))%line])
		for b := range blocks {
			block, to, in := w[b*size:][:size], &dst[0], &x[b]
			switch t {
			case npu.Q2_K:
				unpackQ2K((*unpackedK)(words), &block[0])
				mulManyQ2K(to, stride, (*unpackedK)(words), &block[unsafe.Offsetof(packedQ2K{}.scales)], in, blocks, m)
			case npu.Q3_K:
				unpackQ3K((*unpackedK)(words), &block[0])
				mulManyQ3K(to, stride, (*unpackedK)(words), &block[unsafe.Offsetof(packedQ3K{}.scales)], in, blocks, m)
			default:
				widenXS((*words256)(words), &block[0])
				mulWords256(to, stride, (*words256)(words), &block[unsafe.Offsetof(packedXS{}.d)], in, blocks, m)
			}
		}
	})
}

//go:noescape
func mulXSx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulXSx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulXSx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ6Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ6Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func mulQ6Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

var (
	q6kVNNI = tiles[kInput]{{8, mulQ6Kx8VNNI}, {4, mulQ6Kx4VNNI}, {1, mulQ6Kx1VNNI}}
	q2kAVX2 = tiles[kInput]{{4, mulQ2Kx4AVX2}, {1, mulQ2Kx1AVX2}}
	q2kVNNI = tiles[kInput]{{8, mulQ2Kx8VNNI}, {4, mulQ2Kx4VNNI}, {1, mulQ2Kx1VNNI}}
	q3kAVX2 = tiles[kInput]{{4, mulQ3Kx4AVX2}, {1, mulQ3Kx1AVX2}}
	q3kVNNI = tiles[kInput]{{8, mulQ3Kx8VNNI}, {4, mulQ3Kx4VNNI}, {1, mulQ3Kx1VNNI}}
	xsAVX2  = tiles[kInput]{{8, mulXSx8AVX2}, {4, mulXSx4AVX2}, {1, mulXSx1AVX2}}
	xsVNNI  = tiles[kInput]{{8, mulXSx8VNNI}, {4, mulXSx4VNNI}, {1, mulXSx1VNNI}}
	q5kVNNI = tiles[kInput]{{8, mulQ5Kx8VNNI}, {4, mulQ5Kx4VNNI}, {1, mulQ5Kx1VNNI}}
	q5kAVX2 = tiles[kInput]{{4, mulQ5Kx4AVX2}, {1, mulQ5Kx1AVX2}}
	q6kAVX2 = tiles[kInput]{{4, mulQ6Kx4AVX2}, {1, mulQ6Kx1AVX2}}
	q4kAVX2 = tiles[kInput]{{4, mulQ4Kx4AVX2}, {1, mulQ4Kx1AVX2}}
	q4kVNNI = tiles[kInput]{{8, mulQ4Kx8VNNI}, {4, mulQ4Kx4VNNI}, {1, mulQ4Kx1VNNI}}
)

//go:noescape
func dotQ4KAVX2(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ5KAVX2(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ6KAVX2(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ4KVNNI(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ5KVNNI(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func dotQ6KVNNI(dst *float32, w *byte, rows, blocks int, x *kInput)

//go:noescape
func turnQ4K(dst *kPanel, src *byte, stride int)

//go:noescape
func turnQ5K(dst *kPanel, src *byte, stride int)

//go:noescape
func turnQ6K(dst *kPanel, src *byte, stride int)

//go:noescape
func mulKPanel8(dst *float32, stride int, w *kPanel, blocks int, x *kInput, each int)

//go:noescape
func mulKPanel4(dst *float32, stride int, w *kPanel, blocks int, x *kInput, each int)

//go:noescape
func fetchBytes(p *byte, n int)

var vnniPanels = &kPanels{
	fetch: func(b []byte) {
		if len(b) > 0 {
			fetchBytes(&b[0], len(b))
		}
	},
	turn: func(t npu.DType, dst *kPanel, src []byte, stride int) {
		switch t {
		case npu.Q4_K:
			turnQ4K(dst, &src[0], stride)
		case npu.Q5_K:
			turnQ5K(dst, &src[0], stride)
		case npu.Q6_K:
			turnQ6K(dst, &src[0], stride)
		}
	},
	mul8: func(dst []float32, stride int, w []kPanel, x []kInput, each int) {
		mulKPanel8(&dst[0], stride, &w[0], len(w), &x[0], each*int(unsafe.Sizeof(x[0])))
	},
	mul4: func(dst []float32, stride int, w []kPanel, x []kInput, each int) {
		mulKPanel4(&dst[0], stride, &w[0], len(w), &x[0], each*int(unsafe.Sizeof(x[0])))
	},
}
