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

// mulWide multiplies by float weights, and by K-quants, which it widens to float32 row by row, each weight
// row once for all rows of x. Products are symmetric: a weight row times many inputs is computed like an
// input times many weight rows.
func (r *run) mulWide(out []float32, w *npu.Tensor, x []float32, lo, hi int) {
	k, rowBytes := r.dev.k, w.Type.RowBytes(w.Cols)
	if r.Rows == 1 {
		var d dots
		switch w.Type {
		case npu.F32:
			d = k.dotsF32
		case npu.F16:
			d = k.dotsF16
		case npu.BF16:
			d = k.dotsBF16
		}
		if d != nil && uintptr(unsafe.Pointer(&w.Data[0]))%4 == 0 {
			d(out[lo:hi], x, unsafe.Pointer(&w.Data[lo*rowBytes]), rowBytes)
			return
		}
	}
	scratch := r.dev.rows.Get().(*[]float32)
	defer r.dev.rows.Put(scratch)
	*scratch = grow(*scratch, w.Cols+r.Rows)
	results := (*scratch)[w.Cols:]
	for j := lo; j < hi; j++ {
		row, ok := asFloats(w, j)
		if !ok {
			row = (*scratch)[:w.Cols]
			k.widen(w.Type, row, w.Row(j))
		}
		k.dotsF32(results, row, unsafe.Pointer(&x[0]), 4*w.Cols)
		for i, v := range results {
			out[i*w.Rows+j] = v
		}
	}
}

// asFloats views row i of an F32 tensor in place, where the machine's bytes allow it.
func asFloats(w *npu.Tensor, i int) ([]float32, bool) {
	if w.Type != npu.F32 {
		return nil, false
	}
	p := unsafe.Pointer(unsafe.SliceData(w.Row(i)))
	if uintptr(p)%4 != 0 {
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
	if v, ok := asFloats(w, 0); ok {
		return v, func() {}
	}
	scratch := d.rows.Get().(*[]float32)
	*scratch = grow(*scratch, w.Cols)
	d.k.widen(w.Type, *scratch, w.Data)
	return *scratch, func() { d.rows.Put(scratch) }
}
