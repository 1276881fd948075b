package native

import (
	"unsafe"

	"tandem/npu"
)

// Adapters are products with matrices of the rows' own. Each row is computed alone, in the order that dot and mixF16 define,
// so its bits do not depend on the other rows and their adapters. What a row's adapter lacks is skipped, so a row without an
// adapter has the bits of a graph without adapters.

// fuse returns, for each sum whose second argument is a product with an adapter's columns that nothing else reads, that
// product. The sum then adds it in place.
func fuse(g *npu.Graph) []npu.Value {
	adds, uses := make([]npu.Value, len(g.Nodes)), make([]int, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			uses[a]++
		}
	}
	for i, n := range g.Nodes {
		if n.Op != npu.OpAdd {
			continue
		}
		v := n.Args[1]
		if f := &g.Nodes[v]; f.Op == npu.OpFactor && f.Factor.Columns && uses[v] == 1 {
			adds[i] = v
		}
	}
	return adds
}

// fused reports whether a sum computes the product.
func (r *run) fused(v npu.Value) bool {
	for _, a := range r.adds[v:] {
		if a == v {
			return true
		}
	}
	return false
}

// adaptColumns is how many columns of a sum are a unit of work.
const adaptColumns = 4 * npu.FactorBlock

// factor computes a product with factors.
func (r *run) factor(n *npu.Node) {
	clear(r.out)
	if r.Adapters == nil {
		return
	}
	if n.Factor.Columns {
		r.mixUnits(n)
		return
	}
	r.share(loopFactor, r.Rows*n.Width, 4*n.Factor.Cols)
}

// factorRows computes units lo to hi−1: for each row, a unit for each rank.
func (r *run) factorRows(lo, hi int) {
	f, width := r.node.Factor, r.node.Width
	for lo < hi {
		row, from := lo/width, lo%width
		n := min(hi-lo, width-from)
		if w := r.Factor(row, f); w != nil {
			to := min(from+n+f.From, w.Rows)
			if first := from + f.From; first < to {
				r.dev.k.dotsOf(w)(r.out[row*width+from:][:to-first], r.x[row*f.Cols:][:f.Cols], pointer(w, first*w.Cols), w.Type.RowBytes(w.Cols))
			}
		}
		lo += n
	}
}

// adapt computes the sum of the node's first argument and the product v.
func (r *run) adapt(v npu.Value) {
	copy(r.out, r.x)
	if r.Adapters == nil {
		return
	}
	n := &r.graph.Nodes[v]
	r.x = r.value(n.Args[0])
	r.mixUnits(n)
}

// mixUnits adds products of r.x with columns of factors to r.out.
func (r *run) mixUnits(n *npu.Node) {
	r.node = n
	blocks := (n.Width + adaptColumns - 1) / adaptColumns
	r.share(loopAdapt, r.Rows*blocks, 4*adaptColumns*n.Factor.Rows)
}

// adaptRows computes units lo to hi−1: for each row, a unit for each block of columns.
func (r *run) adaptRows(lo, hi int) {
	n := r.node
	f, blocks := n.Factor, (n.Width+adaptColumns-1)/adaptColumns
	for lo < hi {
		row, block := lo/blocks, lo%blocks
		m := min(hi-lo, blocks-block)
		if w := r.Factor(row, f); w != nil {
			from, to := block*adaptColumns, min((block+m)*adaptColumns, n.Width)
			r.dev.k.mix(r.out[row*n.Width:][from:to], r.x[row*f.Rows:][:w.Rows], w, f.From+from)
		}
		lo += m
	}
}

// mixBlocksBy returns a mixBlocks kernel that uses mixF16.
func mixBlocksBy(mixF16 func(acc, p []float32, v []uint16, stride int)) func(acc, p []float32, v []uint16) {
	return func(acc, p []float32, v []uint16) {
		for ; len(acc) > 0; acc, v = acc[npu.FactorBlock:], v[npu.FactorBlock*len(p):] {
			mixF16(acc[:npu.FactorBlock], p, v, npu.FactorBlock)
		}
	}
}

// mix adds x[j]·w[j][from+i] to acc[i], j ascending.
func (k *kernels) mix(acc, x []float32, w *npu.Tensor, from int) {
	if whole := len(acc) / npu.FactorBlock * npu.FactorBlock; whole > 0 && w.Type == npu.F16 && from%npu.FactorBlock == 0 {
		k.mixBlocks(acc[:whole], x, unsafe.Slice((*uint16)(unsafe.Pointer(&w.Data[0])), w.Rows*w.Cols)[from*w.Rows:])
		acc, from = acc[whole:], from+whole
	}
	for len(acc) > 0 {
		at, width := npu.FactorAt(w.Rows, w.Cols, 0, from), min(npu.FactorBlock, w.Cols-from/npu.FactorBlock*npu.FactorBlock)
		n := min(len(acc), width-from%npu.FactorBlock)
		if w.Type == npu.F16 {
			k.mixF16(acc[:n], x, unsafe.Slice((*uint16)(unsafe.Pointer(&w.Data[0])), w.Rows*w.Cols)[at:], width)
		} else {
			mixF32(acc[:n], x, unsafe.Slice((*float32)(unsafe.Pointer(&w.Data[0])), w.Rows*w.Cols)[at:], width)
		}
		acc, from = acc[n:], from+n
	}
}

func mixF32(acc, x, w []float32, stride int) {
	for j, v := range x {
		for i, e := range w[j*stride:][:len(acc)] {
			acc[i] += float32(v * e)
		}
	}
}

// dotsOf returns the kernel for a factor, which is F16 or F32.
func (k *kernels) dotsOf(w *npu.Tensor) dots {
	if w.Type == npu.F16 {
		return k.dotsF16
	}
	return k.dotsF32
}

// pointer returns the address of an element of a factor.
func pointer(w *npu.Tensor, element int) unsafe.Pointer {
	return unsafe.Pointer(&w.Data[w.Type.RowBytes(element)])
}

// selectParts keeps one part of each row.
func (r *run) selectParts(n *npu.Node) {
	clear(r.out)
	part := n.Width / n.Parts
	for row := range r.Rows {
		if a := r.Adapter(row); a != nil {
			copy(r.out[row*n.Width+a.Task*part:][:part], r.x[row*n.Width+a.Task*part:])
		}
	}
}
