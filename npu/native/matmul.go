package native

import (
	"unsafe"

	"tandem/npu"
)

// activations are the rows of a matrix product's input, quantised in blocks of 32 as Q8_0 does: value =
// d·q, with d rounded to F16. Products that share their input share this too.
type activations struct {
	of npu.Value // whose rows they are; -1 for none
	q  []int8    // [rows × cols]
	d  []float32 // [rows × cols/32]

	ofK npu.Value // whose rows k are
	k   []kInput  // [rows × cols/256], for K-quants
}

// quantize fills the activations with the rows of the current node's input, unless they are there.
func (r *run) quantize() {
	a := &r.acts
	if v := r.node.Args[0]; a.of != v {
		a.of, a.q, a.d = v, grow(a.q, len(r.x)), grow(a.d, len(r.x)/32)
		r.share(loopQuantize, r.Rows, 4*len(r.x)/r.Rows)
	}
}

func (r *run) quantizeRows(lo, hi int) {
	a, cols := &r.acts, len(r.x)/r.Rows
	r.dev.k.quantize(a.q[lo*cols:hi*cols], a.d[lo*cols/32:hi*cols/32], r.x[lo*cols:hi*cols])
}

func (r *run) matMul() {
	w, cost := r.node.Weight, r.node.Weight.Cols*r.Rows
	switch w.Type {
	case npu.Q8_0, npu.Q4_0:
		r.quantize()
	case npu.Q4_K, npu.Q5_K, npu.Q6_K:
		r.quantizeK()
	default:
		cost *= 4
	}
	r.share(loopMatMul, w.Rows, cost)
	if r.node.Bias != nil {
		b, scratch := r.dev.floats(r.node.Bias)
		for i := range r.Rows {
			row := r.out[i*w.Rows:][:w.Rows]
			for j := range row {
				row[j] += b[j]
			}
		}
		r.dev.giveBack(scratch)
	}
}

// mulRows multiplies the rows lo to hi of the weights by all inputs.
func (r *run) mulRows(lo, hi int) {
	w, k, a := r.node.Weight, r.dev.k, &r.acts
	size := w.Type.RowBytes(w.Cols)
	switch w.Type {
	case npu.Q8_0:
		k.mulQ80(r.out[lo:], w.Rows, w.Data[lo*size:hi*size], hi-lo, w.Cols, a.q, a.d, r.Rows)
	case npu.Q4_0:
		k.mulQ40(r.out[lo:], w.Rows, w.Data[lo*size:hi*size], hi-lo, w.Cols, a.q, a.d, r.Rows)
	case npu.Q4_K, npu.Q5_K, npu.Q6_K:
		r.mulK(r.out, w, a.k, lo, hi)
	default:
		r.mulWide(r.out, w, r.x, lo, hi)
	}
}

// mulWide multiplies by float weights, in place or widened to float32: a few rows at a time, as many as stay
// in a processor's nearest cache while the rows of x pass by.
func (r *run) mulWide(out []float32, w *npu.Tensor, x []float32, lo, hi int) {
	const near = 16 << 10 // bytes
	k, rowBytes := r.dev.k, w.Type.RowBytes(w.Cols)
	rows := min(hi-lo, max(1, near/(4*w.Cols)))
	mul, stride := k.inPlace(w, r.Rows), rowBytes
	var wide []float32
	if mul == nil {
		mul, stride = k.dotsF32, 4*w.Cols
		scratch := r.dev.rows.Get().(*[]float32)
		defer r.dev.rows.Put(scratch)
		*scratch = grow(*scratch, rows*w.Cols)
		wide = *scratch
	}
	for ; lo < hi; lo += rows {
		rows := min(rows, hi-lo)
		data := w.Data[lo*rowBytes : (lo+rows)*rowBytes]
		p := unsafe.Pointer(&data[0])
		if wide != nil {
			k.widen(w.Type, wide[:rows*w.Cols], data)
			p = unsafe.Pointer(&wide[0])
		}
		for i := range r.Rows {
			mul(out[i*w.Rows+lo:][:rows], x[i*w.Cols:][:w.Cols], p, stride)
		}
	}
}

// inPlace returns the kernel that reads w as it is, or nil where w must be widened first or, for several
// inputs, had better be.
func (k *kernels) inPlace(w *npu.Tensor, inputs int) dots {
	switch {
	case uintptr(unsafe.Pointer(&w.Data[0]))%4 != 0:
		return nil
	case w.Type == npu.F32:
		return k.dotsF32
	case w.Type == npu.F16 && inputs == 1:
		return k.dotsF16
	case w.Type == npu.BF16 && inputs == 1:
		return k.dotsBF16
	}
	return nil
}

// asFloats views an F32 vector in place, where its alignment allows it.
func asFloats(w *npu.Tensor) ([]float32, bool) {
	p := unsafe.Pointer(&w.Data[0])
	if w.Type != npu.F32 || uintptr(p)%4 != 0 {
		return nil, false
	}
	return unsafe.Slice((*float32)(p), w.Cols), true
}

var bigEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 0
}()

// floats returns a vector's values, in place or in scratch that goes back to the device by giveBack.
func (d *Device) floats(w *npu.Tensor) (v []float32, scratch *[]float32) {
	if v, ok := asFloats(w); ok {
		return v, nil
	}
	scratch = d.rows.Get().(*[]float32)
	*scratch = grow(*scratch, w.Cols)
	d.k.widen(w.Type, *scratch, w.Data)
	return *scratch, scratch
}

func (d *Device) giveBack(scratch *[]float32) {
	if scratch != nil {
		d.rows.Put(scratch)
	}
}
