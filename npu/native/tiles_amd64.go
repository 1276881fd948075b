package native

import (
	"unsafe"

	"tandem/npu"
)

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

// words32 is a block of packed Q8_0 or IQ4_NL whose numbers are words: see words_amd64.s.
type words32 [16][groupRows][2]int16

//go:noescape
func widenQ80(dst *words32, w *byte)

//go:noescape
func widenNL(dst *words32, w *byte)

// mulWords32 multiplies quads of inputs by a block and by sixteen scales in F16. It adds the products to dst.
//
//go:noescape
func mulWords32(dst *float32, stride int, w *words32, scales *byte, x *wordQuad, blocks, quads int)

// quadWords makes words of four rows of inputs.
//
//go:noescape
func quadWords(dst *wordQuad, x *input, blocks int)

var avx2Words = &wordKernels{
	quad: func(dst []wordQuad, x []input) { quadWords(&dst[0], &x[0], len(dst)) },
	mul:  [types]mulPacked[wordQuad]{npu.Q8_0: mulWords(npu.Q8_0), npu.IQ4_NL: mulWords(npu.IQ4_NL)},
}

// mulWords widens each block once for all inputs.
func mulWords(t npu.DType) mulPacked[wordQuad] {
	form := &blockForms[t]
	return func(dst []float32, stride int, w []byte, groups, blocks int, x []wordQuad, m int) {
		var room [unsafe.Sizeof(words32{}) + line - 1]byte
		words := (*words32)(unsafe.Pointer(&room[-uintptr(unsafe.Pointer(&room[0]))%line]))
		for from := 0; from < m; from += nearInputs {
			n := min(nearInputs, m-from)
			for g := range groups {
				var sums [nearInputs][groupRows]float32
				for b := range blocks {
					scales, block := form.block(w[g*groupBytes(t, blocks):], b)
					if t == npu.Q8_0 {
						widenQ80(words, &block[0])
					} else {
						widenNL(words, &block[0])
					}
					mulWords32(&sums[0][0], groupRows, words, &scales[0], &x[from/4*blocks+b], blocks, (n+3)/4)
				}
				for i := range n {
					copy(dst[(from+i)*stride+g*groupRows:], sums[i][:])
				}
			}
		}
	}
}

// nearInputs is how many inputs are multiplied by a block of words before the next block. Meanwhile their sums are stored
// contiguously, because at the stride of dst they could evict each other from the first-level cache.
const nearInputs = 128

// bytes32 is a block of packed Q5_0, Q5_1 or MXFP4 with a byte for each number: see tiles_amd64.s.
type bytes32 [2][8][groupRows / 2][4]uint8

//go:noescape
func bytesQ5(dst *bytes32, w *byte)

//go:noescape
func bytesMX(dst *bytes32, w *byte)

// mulBytesQ50 multiplies m inputs, in fours, by a block with the scales and any minima after them. It adds the products to dst.
//
//go:noescape
func mulBytesQ50(dst *float32, stride int, w *bytes32, scales *byte, x *input, blocks, m int)

//go:noescape
func mulBytesQ51(dst *float32, stride int, w *bytes32, scales *byte, x *input, blocks, m int)

//go:noescape
func mulBytesMX(dst *float32, stride int, w *bytes32, scales *byte, x *input, blocks, m int)

// mulOnce32 is mulOnce for Q5_0, Q5_1 and MXFP4.
func mulOnce32(t npu.DType, few tiles[input]) mulPacked[input] {
	form := &blockForms[t]
	return mulOnce(t, many32, few, func(dst []float32, stride int, w []byte, blocks int, x []input, m int) {
		var room [unsafe.Sizeof(bytes32{}) + line - 1]byte
		bytes := (*bytes32)(unsafe.Pointer(&room[-uintptr(unsafe.Pointer(&room[0]))%line]))
		for b := range blocks {
			scales, block := form.block(w, b)
			to, in := &dst[0], &x[b]
			switch t {
			case npu.Q5_0:
				bytesQ5(bytes, &block[0])
				mulBytesQ50(to, stride, bytes, &scales[0], in, blocks, m)
			case npu.Q5_1:
				bytesQ5(bytes, &block[0])
				mulBytesQ51(to, stride, bytes, &scales[0], in, blocks, m)
			default:
				bytesMX(bytes, &block[0])
				mulBytesMX(to, stride, bytes, &scales[0], in, blocks, m)
			}
		}
	})
}

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
