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

func (r *run) quantized(v npu.Value) *activations {
	a := &r.acts
	if a.of != v {
		x := r.value(v)
		a.of, a.q, a.d = v, grow(a.q, len(x)), grow(a.d, len(x)/32)
		r.dev.pool.each(r.Rows, 4*len(x)/r.Rows, func(lo, hi int) {
			cols := len(x) / r.Rows
			r.dev.k.quantize(a.q[lo*cols:hi*cols], a.d[lo*cols/32:hi*cols/32], x[lo*cols:hi*cols])
		})
	}
	return a
}

func (r *run) matMul(out []float32, n *npu.Node) {
	w, k := n.Weight, r.dev.k
	rowBytes := w.Type.RowBytes(w.Cols)
	switch w.Type {
	case npu.Q8_0, npu.Q4_0:
		mul := k.mulQ80
		if w.Type == npu.Q4_0 {
			mul = k.mulQ40
		}
		a := r.quantized(n.Args[0])
		r.dev.pool.each(w.Rows, w.Cols*r.Rows, func(lo, hi int) {
			mul(out[lo:], w.Rows, w.Data[lo*rowBytes:hi*rowBytes], hi-lo, w.Cols, a.q, a.d, r.Rows)
		})
	case npu.Q4_K, npu.Q5_K, npu.Q6_K:
		x := r.quantizedK(n.Args[0])
		r.dev.pool.each(w.Rows, w.Cols*r.Rows, func(lo, hi int) {
			r.mulK(out, w, x, lo, hi)
		})
	default:
		x := r.value(n.Args[0])
		r.dev.pool.each(w.Rows, 4*w.Cols*r.Rows, func(lo, hi int) {
			r.mulWide(out, w, x, lo, hi)
		})
	}
	if n.Bias != nil {
		b, give := r.dev.floats(n.Bias)
		for i := range r.Rows {
			row := out[i*w.Rows:][:w.Rows]
			for j := range row {
				row[j] += b[j]
			}
		}
		give()
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

// floats returns a vector's values, in place or in scratch that give returns to the device.
func (d *Device) floats(w *npu.Tensor) (v []float32, give func()) {
	if v, ok := asFloats(w); ok {
		return v, func() {}
	}
	scratch := d.rows.Get().(*[]float32)
	*scratch = grow(*scratch, w.Cols)
	d.k.widen(w.Type, *scratch, w.Data)
	return *scratch, func() { d.rows.Put(scratch) }
}
