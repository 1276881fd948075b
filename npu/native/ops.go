package native

import (
	"math"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// maxHeadDim limits the memory that a thread needs for one attention head.
const maxHeadDim = 1024

func (r *run) embed(out []float32, w *npu.Tensor, rows []int32) {
	for i := range r.Rows {
		r.dev.k.widen(w.Type, out[i*w.Cols:][:w.Cols], w.Row(int(rows[i])))
	}
}

func (r *run) normRows(lo, hi int) {
	n, k, width := r.node, r.dev.k, r.node.Width
	if n.Op == npu.OpLayerNorm {
		r.layerNormRows(lo, hi)
		return
	}
	w, scratch := r.dev.floats(n.Weight)
	defer r.dev.giveBack(scratch)
	lo, hi, width = lo*width/len(w), hi*width/len(w), len(w) // of parts
	for i := lo; i < hi; i++ {
		x, out := r.x[i*width:][:width], r.out[i*width:][:width]
		k.dotsF32(out[:1], x, unsafe.Pointer(&x[0]), 0)
		mean := out[0] / float32(width)
		scale := 1 / float32(math.Sqrt(float64(mean+n.Eps)))
		k.scale(out, x, w, scale)
	}
}

// layerNormRows sums in float64, one element at a time. RMSNorm sums in float32 in the kernels' order, but here subtracting
// a float32 mean would lose precision that is visible in the logits.
func (r *run) layerNormRows(lo, hi int) {
	n, width := r.node, r.node.Width
	w, wScratch := r.dev.floats(n.Weight)
	b, bScratch := r.dev.floats(n.Bias)
	defer r.dev.giveBack(wScratch)
	defer r.dev.giveBack(bScratch)
	for i := lo; i < hi; i++ {
		x, out := r.x[i*width:][:width], r.out[i*width:][:width]
		var sum, square float64
		for _, v := range x {
			sum += float64(v)
		}
		mean := sum / float64(width)
		for _, v := range x {
			d := float64(v) - mean
			square += float64(d * d)
		}
		scale := 1 / math.Sqrt(square/float64(width)+float64(n.Eps))
		for j, v := range x {
			out[j] = float32(float32((float64(v)-mean)*scale)*w[j]) + b[j]
		}
	}
}

func (r *run) rope(table *ropeTable) {
	last := int32(0)
	for _, pos := range r.Positions[:r.Rows] {
		last = max(last, pos)
	}
	r.turns = table.upTo(int(last) + 1)
	r.share(loopRope, r.Rows, 4*r.node.Width)
}

func (r *run) ropeRows(lo, hi int) {
	p, width := r.node.Rope, r.node.Width
	pairs := p.Dims / 2
	copy(r.out[lo*width:hi*width], r.x[lo*width:])
	for i := lo; i < hi; i++ {
		turns := r.turns[2*int(r.Positions[i])*pairs:]
		cos, sin := turns[:pairs], turns[pairs:][:pairs]
		for h := 0; h < width; h += p.HeadDim {
			head := r.out[i*width+h:][:p.Dims]
			if p.Pairing == npu.HalfSplit {
				r.dev.k.rotate(head[:pairs], head[pairs:], cos, sin)
				continue
			}
			for j := range pairs {
				a, b := &head[2*j], &head[2*j+1]
				*a, *b = float32(*a*cos[j])-float32(*b*sin[j]), float32(*a*sin[j])+float32(*b*cos[j])
			}
		}
	}
}

// elementRows computes the elementwise operations.
func (r *run) elementRows(lo, hi int) {
	n := r.node
	out, x := r.out[lo*n.Width:hi*n.Width], r.x[lo*n.Width:hi*n.Width]
	switch n.Op {
	case npu.OpReLU:
		r.dev.k.floor(out, x, 0, 0)
	case npu.OpScale:
		for j, v := range x {
			out[j] = v * n.Scale
		}
	case npu.OpGeGLU:
		r.geGLU(out, x, r.y[lo*n.Width:hi*n.Width])
	case npu.OpGELU:
		r.geGLU(out, x, nil)
	case npu.OpSoftcap:
		for j, v := range x {
			out[j] = softcap(v, n.Scale)
		}
	case npu.OpTimes:
		for j, v := range r.y[lo*n.Width : hi*n.Width] {
			out[j] = x[j] * v
		}
	case npu.OpClippedSwiGLU:
		r.clippedSwiGLU(out, x, r.y[lo*n.Width:hi*n.Width])
	case npu.OpTemper:
		for j, v := range x {
			out[j] = v * n.Temper(r.Positions[lo+j/n.Width])
		}
	case npu.OpAdd:
		r.dev.k.add(out, x, r.y[lo*n.Width:hi*n.Width])
	}
}

// geGLU computes gelu(gate)·up, or gelu(gate) if up is nil. As tanh(u) is 2σ(2u)−1, gelu(x) is x·σ(z) with z =
// 2·√(2/π)·(x + 0.044715·x³), and so silu(z)·x/z, which swiGLU's kernel computes.
func (r *run) geGLU(out, gate, up []float32) {
	const c = 1.5957691216 // 2·√(2/π)
	var zs, ys [256]float32
	for len(out) > 0 {
		n := min(len(out), len(zs))
		z, y := zs[:n], ys[:n]
		for j, x := range gate[:n] {
			p := c * float32(1+float32(0.044715*float32(x*x)))
			z[j], y[j] = float32(x*p), 1/p
		}
		if up != nil {
			for j, v := range up[:n] {
				y[j] *= v
			}
			up = up[n:]
		}
		r.dev.k.swiGLU(out[:n], z, y)
		out, gate = out[n:], gate[n:]
	}
}

// clippedSwiGLU computes x·σ(c·x)·(y+1), where x is the gate and y is up, both clipped, as silu(c·x)·(y+1)/c.
func (r *run) clippedSwiGLU(out, gate, up []float32) {
	const c, limit = 1.702, 7
	var zs, ys [256]float32
	for len(out) > 0 {
		n := min(len(out), len(zs))
		z, y := zs[:n], ys[:n]
		for j, x := range gate[:n] {
			z[j] = c * min(x, limit)
			y[j] = (min(max(up[j], -limit), limit) + 1) / c
		}
		r.dev.k.swiGLU(out[:n], z, y)
		out, gate, up = out[n:], gate[n:], up[n:]
	}
}

func (r *run) swiGLU(up []float32) {
	out, gate := r.out, r.x
	r.y = up
	r.share(loopSwiGLU, len(out)/32, 32*8)
	if whole := len(out) / 32 * 32; whole < len(out) {
		r.dev.k.swiGLU(out[whole:], gate[whole:], up[whole:])
	}
}

// place returns the slot for a row's key and value.
func (r *run) place(row int) int { return int(r.Mask(row).Slot) }

// reach returns the number of slots that a row attends to.
func (r *run) reach(row int) int {
	return r.Mask(row).Count(r.node.Attention.Window)
}

// store writes the rows' keys and values to their slots.
func (r *run) store(keys, values []float32, a *npu.Attention) {
	width, row, narrow := a.KVHeads*a.HeadDim, a.CacheRow(), r.dev.k.narrow
	if a.Cache == npu.CacheQ8_0 {
		r.cached = grow(r.cached, width/npu.CacheBlock)
		narrow = r.narrowQ80
	}
	for i := range r.Rows {
		s, at := r.KV[i].At(r.place(i))
		narrow(s.K[a.Layer][at*row:][:row], keys[i*width:][:width])
		narrow(s.V[a.Layer][at*row:][:row], values[i*width:][:width])
	}
}

// narrowQ80 rounds numbers to blocks of a CacheQ8_0, as products round their inputs.
func (r *run) narrowQ80(dst []uint16, src []float32) {
	r.dev.k.quantize(r.cached, src)
	for i := range r.cached {
		b, in := dst[i*npu.CacheBlockSize:][:npu.CacheBlockSize], &r.cached[i]
		b[0] = quant.F32ToF16(in.d)
		for j := range b[1:] {
			b[1+j] = uint16(uint8(in.q[2*j])) | uint16(uint8(in.q[2*j+1]))<<8
		}
	}
}

// path calls f, in order, for each run of slots that a row attends to: m slots from slot at of span s.
func (r *run) path(row int, f func(s *npu.Span, at, m int)) {
	r.Mask(row).Within(r.node.Attention.Window, func(slot, n int) { stretch(r.KV[row].Spans, slot, n, f) })
}

func stretch(spans []npu.Span, slot, n int, f func(s *npu.Span, at, m int)) {
	for i := range spans {
		s := &spans[i]
		if slot >= s.Len {
			slot -= s.Len
			continue
		}
		m := min(s.Len-slot, n)
		if m <= 0 {
			return
		}
		f(s, slot, m)
		slot, n = 0, n-m
	}
}
