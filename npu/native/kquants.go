package native

import (
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// Products with K-quants take the inputs rounded to 8 bits in blocks of 256, as ggml does (its Q8_K). Of a
// weight d·s·q − m·n and an input e·a, everything but d, m and e is an integer: the products of a block add
// up exactly, and only eight sums of it become floats. Rows of weights are unpacked first, a few at a
// time, into a form that all three types share and that stays in the nearest cache while inputs pass by.

// kInput is a block of 256 inputs: value = d·q, d = max|x|/127.
type kInput struct {
	q    [256]int8
	sums [16]int16 // of 16 q each
	d    float32
	_    [28]byte // to whole cache lines
}

// kBlock is an unpacked block of 256 weights: value = d·scale·q − m·minimum, with a scale and a minimum for
// every 16 values. The scales of even sixteens stand before those of odd ones; that is how vectors of 32
// products want them.
type kBlock struct {
	q      [256]uint8
	scales [16]int16
	minima [16]int16
	d, m   float32
	_      [56]byte // to whole cache lines
}

// quantizeKPlain rounds halves to even.
func quantizeKPlain(dst []kInput, x []float32) {
	const magic = 3 << 22 // adding and taking it away rounds to an integer, halves to even
	for b := range dst {
		x, dst := x[256*b:][:256], &dst[b]
		var top float32
		for _, v := range x {
			top = max(top, v, -v)
		}
		inv := float32(0)
		dst.d = 0
		if top > 1e-30 { // the inverse of less might overflow
			inv = 127 / top
			dst.d = 1 / inv
		}
		clear(dst.sums[:])
		for i, v := range x {
			dst.q[i] = int8(int32(float32(v*inv) + magic - magic))
			dst.sums[i/16] += int16(dst.q[i])
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

// mulKPlain defines the sums. Lane l of a block is Σ scale·q·a over the elements 4l to 4l+3 of each 32,
// and Σ minimum·(sum of a) over the sixteens 2l and 2l+1. Both are exact; as floats and scaled, they are
// added to and taken from lane l of the row, block by block.
func mulKPlain(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int) {
	blocks := len(w) / rows
	for r := range rows {
		for i := range m {
			var acc lanes
			for b := range blocks {
				w, x := &w[r*blocks+b], &x[i*blocks+b]
				d, n := w.d*x.d, w.m*x.d
				for l := range acc {
					sum, least := w.lane(x, l), int32(w.minima[2*l])*int32(x.sums[2*l])+int32(w.minima[2*l+1])*int32(x.sums[2*l+1])
					acc[l] += float32(float32(sum) * d)
					acc[l] -= float32(float32(least) * n)
				}
			}
			dst[i*stride+r] = acc.sum()
		}
	}
}

func (w *kBlock) lane(x *kInput, l int) (sum int32) {
	for p := range 8 {
		q, a := w.q[32*p+4*l:][:4], x.q[32*p+4*l:][:4]
		dot := int32(q[0])*int32(a[0]) + int32(q[1])*int32(a[1]) + int32(q[2])*int32(a[2]) + int32(q[3])*int32(a[3])
		sum += int32(w.scales[l/4*8+p]) * dot
	}
	return sum
}

// quantizeK fills the activations as quantize does, for K-quants.
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

// mulK multiplies the rows lo to hi of w by all inputs.
func (r *run) mulK(out []float32, w *npu.Tensor, x []kInput, lo, hi int) {
	const near = 16 << 10 // bytes of unpacked rows
	k, blocks, rowBytes := r.dev.k, w.Cols/256, w.Type.RowBytes(w.Cols)
	rows := min(hi-lo, max(1, near/int(unsafe.Sizeof(kBlock{}))/blocks))
	scratch := r.dev.panels.Get().(*[]kBlock)
	defer r.dev.panels.Put(scratch)
	*scratch = grow(*scratch, rows*blocks)
	for ; lo < hi; lo += rows {
		rows := min(rows, hi-lo)
		panel := (*scratch)[:rows*blocks]
		k.unpackK(w.Type, panel, w.Data[lo*rowBytes:(lo+rows)*rowBytes])
		k.mulK(out[lo:], w.Rows, panel, rows, x, r.Rows)
	}
}
