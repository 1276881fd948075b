package native

import (
	"encoding/binary"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// kernels are the inner loops. There is one set in plain Go, which defines every result to the bit, and
// faster ones for processors that have the instructions. Lengths are the caller's care.
type kernels struct {
	name string

	// widen reads len(dst) values of type t.
	widen func(t npu.DType, dst []float32, src []byte)
	// quantize rounds x to blocks of 32 int8 with a scale each.
	quantize func(q []int8, d []float32, x []float32)
	// mulQ80 and mulQ40 multiply rows of cols weights by m rows of quantised activations:
	// dst[i·stride + r] = w[r]·x[i].
	mulQ80, mulQ40 func(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int)
	// quantizeK, unpackK and mulK multiply K-quants: see kquants.go. dst is as in mulQ80, and the rows of w
	// and of the m inputs x are equally long.
	quantizeK func(dst []kInput, x []float32)
	unpackK   func(t npu.DType, dst []kBlock, src []byte)
	mulK      func(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int)
	// dotsF32, dotsF16 and dotsBF16 are dst[j] = x·w[j], where the vectors w[j], of x's length and stride
	// bytes apart, hold the type's numbers.
	dotsF32, dotsF16, dotsBF16 dots
	// mixF16 adds p[j]·v[j·stride + i] to acc[i], j ascending.
	mixF16 func(acc, p []float32, v []uint16, stride int)
	// softmax turns scores s into e^(scale·s − max) / Σ.
	softmax func(s []float32, scale float32)
	// swiGLU is out = silu(gate)·up.
	swiGLU func(out, gate, up []float32)
}

func bestKernels() *kernels {
	k := available()
	return k[len(k)-1]
}

// dots computes many dot products with one vector; see kernels.
type dots func(dst, x []float32, w unsafe.Pointer, stride int)

var plainKernels = kernels{
	name:      "plain Go",
	widen:     widen,
	quantize:  quantizePlain,
	mulQ80:    mulQ80Plain,
	mulQ40:    mulQ40Plain,
	quantizeK: quantizeKPlain,
	unpackK:   unpackKPlain,
	mulK:      mulKPlain,
	dotsF32:   dotsF32Plain,
	dotsF16:   dotsF16Plain,
	dotsBF16:  dotsBF16Plain,
	mixF16:    mixF16Plain,
	softmax:   softmaxPlain,
	swiGLU:    swiGLUPlain,
}

// lanes is the accumulator of a vector sum: element i of a stretch goes to lane i mod 8.
type lanes [8]float32

// sum adds the lanes in the order that halving a vector gives.
func (l *lanes) sum() float32 {
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}

// dot defines the order of float sums: stretches of 32 go to four accumulators of eight lanes, further
// stretches of 8 to the first; the accumulators add up as (0+1)+(2+3); what is left of the vectors
// follows, one by one. at(i) is element i of the other vector.
func dot(x []float32, at func(i int) float32) float32 {
	var acc [4]lanes
	i := 0
	for ; i+32 <= len(x); i += 32 {
		for j := range acc {
			for l := range 8 {
				acc[j][l] += float32(x[i+8*j+l] * at(i+8*j+l))
			}
		}
	}
	for ; i+8 <= len(x); i += 8 {
		for l := range 8 {
			acc[0][l] += float32(x[i+l] * at(i+l))
		}
	}
	for l := range acc[0] {
		acc[0][l] = (acc[0][l] + acc[1][l]) + (acc[2][l] + acc[3][l])
	}
	s := acc[0].sum()
	for ; i < len(x); i++ {
		s += float32(x[i] * at(i))
	}
	return s
}

func dotsF32Plain(dst, x []float32, w unsafe.Pointer, stride int) {
	for j := range dst {
		row := unsafe.Slice((*float32)(unsafe.Add(w, j*stride)), len(x))
		dst[j] = dot(x, func(i int) float32 { return row[i] })
	}
}

func dotsF16Plain(dst, x []float32, w unsafe.Pointer, stride int) {
	for j := range dst {
		row := unsafe.Slice((*byte)(unsafe.Add(w, j*stride)), 2*len(x))
		dst[j] = dot(x, func(i int) float32 { return quant.F16ToF32(binary.LittleEndian.Uint16(row[2*i:])) })
	}
}

func dotsBF16Plain(dst, x []float32, w unsafe.Pointer, stride int) {
	for j := range dst {
		row := unsafe.Slice((*byte)(unsafe.Add(w, j*stride)), 2*len(x))
		dst[j] = dot(x, func(i int) float32 { return quant.BF16ToF32(binary.LittleEndian.Uint16(row[2*i:])) })
	}
}

// widen reads values of any type; its errors are ruled out by Graph.Check.
func widen(t npu.DType, dst []float32, src []byte) {
	if err := quant.Dequantize(t, dst, src); err != nil {
		panic(err)
	}
}

func mixF16Plain(acc, p []float32, v []uint16, stride int) {
	for j, w := range p {
		row := v[j*stride:]
		for i := range acc {
			acc[i] += float32(w * quant.F16ToF32(row[i]))
		}
	}
}

// softmaxPlain sums as dotF32 does with one accumulator: element i goes to lane i mod 8, the rest follows.
func softmaxPlain(s []float32, scale float32) {
	top := s[0]
	for i, v := range s {
		s[i] = v * scale
		if i == 0 || s[i] > top {
			top = s[i]
		}
	}
	var acc lanes
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := (*lanes)(s[i:])
		for l, v := range x {
			x[l] = exp(v - top)
			acc[l] += x[l]
		}
	}
	sum := acc.sum()
	for ; i < len(s); i++ {
		s[i] = exp(s[i] - top)
		sum += s[i]
	}
	inv := 1 / sum
	for i := range s {
		s[i] *= inv
	}
}

func swiGLUPlain(out, gate, up []float32) {
	for i, g := range gate {
		out[i] = silu(g) * up[i]
	}
}

// quantizePlain rounds each block of 32 to int8 of the scale max|x|/127, halves to even. The products use
// the scale as an F16 would hold it, as ggml does.
func quantizePlain(q []int8, d []float32, x []float32) {
	const magic = 3 << 22 // adding and taking it away rounds to an integer, halves to even
	for b := range d {
		x, q := x[32*b:][:32], q[32*b:][:32]
		var top float32
		for _, v := range x {
			top = max(top, v, -v)
		}
		inv := float32(0)
		if top > 1e-30 { // less has the scale 0, and its inverse might overflow
			inv = 127 / top
		}
		d[b] = quant.F16ToF32(quant.F32ToF16(top / 127))
		for i, v := range x {
			q[i] = int8(int32(float32(v*inv) + magic - magic))
		}
	}
}

// dotBlock adds the product of two blocks of 32 int8 to acc: lane l takes the integers of elements
// 4l to 4l+3, exact, times the scale.
func dotBlock(acc *lanes, w *[32]int8, q []int8, scale float32) {
	q = q[:32]
	for l := range acc {
		s := int32(w[4*l])*int32(q[4*l]) + int32(w[4*l+1])*int32(q[4*l+1]) +
			int32(w[4*l+2])*int32(q[4*l+2]) + int32(w[4*l+3])*int32(q[4*l+3])
		acc[l] += float32(float32(s) * scale)
	}
}

func mulQ80Plain(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	mulBlocks(dst, stride, w, rows, cols, q, d, m, 34, func(w *[32]int8, b []byte) {
		for i := range w {
			w[i] = int8(b[i])
		}
	})
}

func mulQ40Plain(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m int) {
	mulBlocks(dst, stride, w, rows, cols, q, d, m, 18, func(w *[32]int8, b []byte) {
		for i, v := range b[:16] {
			w[i], w[i+16] = int8(v&15)-8, int8(v>>4)-8
		}
	})
}

func mulBlocks(dst []float32, stride int, w []byte, rows, cols int, q []int8, d []float32, m, size int, unpack func(*[32]int8, []byte)) {
	blocks := cols / 32
	acc := make([]lanes, m)
	var block [32]int8
	for r := range rows {
		clear(acc)
		for b := range blocks {
			at := w[(r*blocks+b)*size:][:size]
			scale := quant.F16ToF32(binary.LittleEndian.Uint16(at))
			unpack(&block, at[2:])
			for i := range acc {
				dotBlock(&acc[i], &block, q[i*cols+32*b:], scale*d[i*blocks+b])
			}
		}
		for i := range acc {
			dst[i*stride+r] = acc[i].sum()
		}
	}
}
