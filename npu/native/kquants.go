package native

import (
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// Products with K-quants round inputs to 8 bits in blocks of 256, as ggml does (Q8_K). In a weight d·s·q − m·n and an input
// e·a, everything except d, m and e is an integer. So the products of a block are added exactly, in any order, and only two
// sums per block become floats. Rows of weights are unpacked a few at a time into a form that all three types share, which
// stays in the first-level cache while it is multiplied by the inputs. For few inputs, kernels.dotsK, if available, reads
// the weights in their file format instead.

// kInput is a block of 256 inputs: value = d·q, d = max|x|/127.
type kInput struct {
	q    [256]int8
	sums [16]int16 // of 16 q each
	d    float32
	wide [8]int16 // the sums of 32 q each
	_    [12]byte // padding to whole cache lines
}

// kBlock is an unpacked block of 256 weights: value = d·scale·q − m·minimum, with one scale and one minimum for each group
// of 16 values. The scales of the even groups come before those of the odd ones, the order that vectors of 32 products need.
type kBlock struct {
	q      [256]uint8
	scales [16]int16
	minima [16]int16
	d, m   float32
	_      [56]byte // padding to whole cache lines
}

// quantizeKPlain rounds halves to even.
func quantizeKPlain(dst []kInput, x []float32) {
	const magic = 3 << 22 // adding and subtracting it rounds to an integer, halves to even
	for b := range dst {
		x, dst := x[256*b:][:256], &dst[b]
		var top float32
		for _, v := range x {
			top = max(top, v, -v)
		}
		inv := float32(0)
		dst.d = 0
		if !(top <= 1e-30) { // the inverse of a smaller value might overflow
			inv = 127 / top
			dst.d = 1 / inv // of NaN, NaN
		}
		clear(dst.sums[:])
		clear(dst.wide[:])
		for i, v := range x {
			dst.q[i] = int8(int32(float32(v*inv) + magic - magic))
			dst.sums[i/16] += int16(dst.q[i])
			dst.wide[i/32] += int16(dst.q[i])
		}
	}
}

func unpackKPlain(t npu.DType, dst []kBlock, src []byte) {
	layout, size := quant.LayoutOf(t), t.BlockBytes()
	for b := range dst {
		block, dst := src[b*size:][:size], &dst[b]
		var scales [16]int16
		dst.d, dst.m = quant.KIntegers(t, block, &scales, &dst.minima)
		for j := range 8 {
			dst.scales[j], dst.scales[8+j] = scales[2*j], scales[2*j+1]
		}
		for p, part := range layout.Parts {
			low, high := block[part.Low:][:32], block[part.High:][:32]
			for i := range low {
				dst.q[32*p+i] = low[i]>>part.LowShift&15 | high[i]>>part.HighShift&byte(layout.HighMask)<<4
			}
		}
	}
}

// mulKPlain defines the sums. Each block has two exact integer sums: Σ scale·q·a over its elements, and Σ minimum·(sum of a)
// over its groups of 16. Both are converted to float32 and scaled. Then the second is subtracted from the first, and the
// difference is added to the sum of the previous blocks.
func mulKPlain(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
	blocks := len(w) / rows
	for r := range rows {
		for i := range m {
			acc := float32(0)
			for b := range blocks {
				w, x := &w[r*blocks+b], &x[i*blocks+b]
				sum, least := w.sums(x)
				acc += float32(float32(sum)*float32(w.d*x.d)) - float32(float32(least)*float32(w.m*x.d))
			}
			dst[i*stride+r] = acc
		}
	}
}

func (w *kBlock) sums(x *kInput) (sum, least int32) {
	for s := range 16 {
		dot := int32(0)
		for j, q := range w.q[16*s:][:16] {
			dot += int32(q) * int32(x.q[16*s+j])
		}
		sum += int32(w.scales[s%2*8+s/2]) * dot
		least += int32(w.minima[s]) * int32(x.sums[s])
	}
	return sum, least
}

// quantizeK is quantize for K-quants.
func (r *run) quantizeK() {
	a := &r.acts
	if v := r.node.Args[0]; a.ofK != v {
		a.ofK, a.k = v, grow(a.k, len(r.x)/256)
		r.share(loopQuantizeK, r.Rows, 4*len(r.x)/r.Rows)
	}
}

func (r *run) quantizeKRows(lo, hi int) {
	cols := len(r.x) / r.Rows
	r.dev.k.quantizeK(r.acts.k[lo*cols/256:hi*cols/256], r.x[lo*cols:hi*cols])
}

// mulK multiplies the rows lo to hi−1 of w by all inputs.
func (r *run) mulK(out []float32, w *npu.Tensor, x []kInput, lo, hi int) {
	s := r.dev.panels.Get().(*kScratch)
	defer r.dev.panels.Put(s)
	rowBytes := w.Type.RowBytes(w.Cols)
	r.dev.k.mulRows(s, out[lo:], w.Rows, w.Type, w.Data[lo*rowBytes:hi*rowBytes], rowBytes, x, r.Rows)
}

// kScratch is a thread's scratch memory for unpacked weights.
type kScratch struct {
	rows   []kBlock
	inputs []kInput // in the order of kTurned
	panels [nearPanels]kPanel
	bytes  []byte    // weights of a partial group, padded
	sums   []float32 // sums of that group
	last   [4 * groupRows]float32
}

// minUnpackInputs is the smallest number of inputs for which unpacking the weights pays off.
const minUnpackInputs = 4

// mulRows multiplies rows of weights in their file format by m inputs: dst[i·stride + r] = w[r]·x[i].
func (k *kernels) mulRows(s *kScratch, dst []float32, stride int, t npu.DType, w []byte, rowBytes int, x []kInput, m int) {
	switch {
	case m < minUnpackInputs && k.dotsK != nil:
		k.mulDots(dst, stride, t, w, rowBytes, x, m)
	case k.panels != nil:
		k.panels.mul(s, dst, stride, t, w, rowBytes, x, m)
	default:
		k.mulUnpacked(s, dst, stride, t, w, rowBytes, x, m)
	}
}

// mulDots is mulRows without unpacking. It processes as many rows at a time as fit in a near cache.
func (k *kernels) mulDots(dst []float32, stride int, t npu.DType, w []byte, rowBytes int, x []kInput, m int) {
	blocks := len(x) / m
	for len(w) > 0 {
		rows := min(groupRows, len(w)/rowBytes)
		for i := range m {
			k.dotsK(t, dst[i*stride:][:rows], w, x[i*blocks:][:blocks])
		}
		dst, w = dst[rows:], w[rows*rowBytes:]
	}
}

// kTurned holds kernels for blocks of Q4_K and Q5_K whose bytes, and those of the inputs, are in another order: parts
// of 32 values, which share a scale, lie side by side in groups of four. Products of up to four such vectors fit 16
// bits, and only their sum is multiplied by the scales. The sums are those of mulKPlain.
type kTurned struct {
	inputs func(dst, src []kInput)
	unpack func(t npu.DType, dst []kBlock, src []byte)
	mul    func(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) // of at least four inputs
}

// mulUnpacked is mulRows on rows that are unpacked a few at a time.
func (k *kernels) mulUnpacked(s *kScratch, dst []float32, stride int, t npu.DType, w []byte, rowBytes int, x []kInput, m int) {
	const near = 16 << 10 // bytes of unpacked rows
	blocks := len(x) / m
	unpack, mul := k.unpackK, k.mulK
	if k.turned != nil && t != npu.Q6_K && m >= 4 {
		s.inputs = grow(s.inputs, len(x))
		k.turned.inputs(s.inputs, x)
		x, unpack, mul = s.inputs, k.turned.unpack, k.turned.mul
	}
	step := max(1, near/int(unsafe.Sizeof(kBlock{}))/blocks)
	for len(w) > 0 {
		rows := min(step, len(w)/rowBytes)
		s.rows = grow(s.rows, rows*blocks)
		unpack(t, s.rows, w[:rows*rowBytes])
		mul(dst, stride, s.rows, rows, x, m)
		dst, w = dst[rows:], w[rows*rowBytes:]
	}
}

// kPanel is one block of sixteen rows of weights, with the same values as kBlock. Each lane of a vector is a row, so no sum
// runs across lanes. This pays off for several inputs.
type kPanel struct {
	q      [64][groupRows][4]uint8 // elements 4i to 4i+3 of each row
	scales [16][groupRows]int32    // one for each 16 values
	minima [8][groupRows][2]int16  // one for each 16 values, in pairs
	d, m   [groupRows]float32
}

// kPanels holds the kernels for panels. They give the same sums as mulKPlain.
type kPanels struct {
	// turn makes a panel from one block of each of sixteen rows, which are stride bytes apart.
	turn func(t npu.DType, dst *kPanel, src []byte, stride int)
	// mul8 and mul4 multiply the blocks of w by those of eight or four inputs and add the products to dst[i·stride + r].
	// The inputs are each blocks apart.
	mul8, mul4 func(dst []float32, stride int, w []kPanel, x []kInput, each int)
	// fetch prefetches bytes.
	fetch func(b []byte)
}

const nearPanels = 4 // panels that fit in the first-level cache together with their inputs

// mul is mulRows with panels, for at least four inputs.
func (k *kPanels) mul(s *kScratch, dst []float32, stride int, t npu.DType, w []byte, rowBytes int, x []kInput, m int) {
	for step := groupRows * rowBytes; len(w) > 0; w = w[min(step, len(w)):] {
		group := w[:min(step, len(w))]
		rows := len(group) / rowBytes
		if rows == groupRows {
			k.mulGroup(s, dst, stride, t, group, w[step:min(2*step, len(w))], x, m)
		} else {
			s.bytes, s.sums = grow(s.bytes, step), grow(s.sums, groupRows*m)
			clear(s.bytes[copy(s.bytes, group):step])
			k.mulGroup(s, s.sums, groupRows, t, s.bytes[:step], nil, x, m)
			for i := range m {
				copy(dst[i*stride:][:rows], s.sums[i*groupRows:])
			}
		}
		dst = dst[rows:]
	}
}

// mulGroup is mul for sixteen rows and at least four inputs. It processes a few blocks at a time and prefetches next, the
// following group. Without that, reading sixteen rows in parallel would stall at each block.
func (k *kPanels) mulGroup(s *kScratch, dst []float32, stride int, t npu.DType, w, next []byte, x []kInput, m int) {
	for i := range m {
		clear(dst[i*stride:][:groupRows])
	}
	clear(s.last[:])
	blocks, size := len(x)/m, t.BlockBytes()
	for b := 0; b < blocks; b += nearPanels {
		panels := s.panels[:min(nearPanels, blocks-b)]
		for i := range panels {
			k.fetch(next[len(next)*(b+i)/blocks : len(next)*(b+i+1)/blocks])
			k.turn(t, &panels[i], w[(b+i)*size:], len(w)/groupRows)
		}
		i := 0
		for ; i+8 <= m; i += 8 {
			k.mul8(dst[i*stride:], stride, panels, x[i*blocks+b:], blocks)
		}
		for ; i+4 <= m; i += 4 {
			k.mul4(dst[i*stride:], stride, panels, x[i*blocks+b:], blocks)
		}
		if i < m { // compute the last four separately, because some of them have already been added
			k.mul4(s.last[:], groupRows, panels, x[(m-4)*blocks+b:], blocks)
		}
	}
	for i := m &^ 3; i < m; i++ {
		copy(dst[i*stride:][:groupRows], s.last[(i-m+4)*groupRows:])
	}
}
