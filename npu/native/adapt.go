package native

import (
	"encoding/binary"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// With adapters, each row is multiplied by its own matrices. Sums are formed in the order that dot and mixF16 define, or
// mulPacked and mixFactorPlain for factors in Q8_0, so a row's bits do not depend on other rows and their adapters. Missing
// factors are skipped, so a row without an adapter has the same bits as in a graph without adapters.

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
	for row := range r.Rows {
		if w := r.Factor(row, n.Factor); w != nil && w.Type == npu.Q8_0 {
			r.quantize()
			break
		}
	}
	groups := (n.Width + groupRows - 1) / groupRows
	r.share(loopFactor, r.Rows*groups, groupRows*n.Factor.Cols)
}

// factorRows computes units lo to hi−1: for each row, a unit for each group of ranks. Neighbouring rows with one adapter are
// multiplied together.
func (r *run) factorRows(lo, hi int) {
	f, width := r.node.Factor, r.node.Width
	groups := (width + groupRows - 1) / groupRows
	for lo < hi {
		row, from := lo/groups, lo%groups
		n, rows := min(hi-lo, groups-from), 1
		if w := r.Factor(row, f); w != nil {
			if n == groups {
				for lo+(rows+1)*groups <= hi && r.Factor(row+rows, f) == w {
					rows++
				}
			}
			if lo+n*rows < hi {
				r.ahead(row+rows, f)
			}
			if to := min((from+n)*groupRows, width, w.Rows-f.From); from*groupRows < to {
				r.dots(w, row, rows, from*groupRows, to)
			}
		}
		lo += n * rows
	}
}

// ahead prefetches the beginning of a row's factor, because the processor's own prefetcher does not predict the jump to
// another adapter's memory.
func (r *run) ahead(row int, f *npu.Factor) {
	const stretch = 128 // of 16 bits, keyBlock of them
	if w := r.Factor(row, f); w != nil && f.From == 0 && len(w.Data) >= 2*stretch*keyBlock {
		r.dev.k.fetch((*uint16)(unsafe.Pointer(&w.Data[0])), stretch, stretch)
	}
}

// dots multiplies some rows by the ranks of a factor that are the node's results from to to−1.
func (r *run) dots(w *npu.Tensor, row, rows, from, to int) {
	if w.Type == npu.Q8_0 {
		r.dotsQ80(w, row, rows, from, to)
		return
	}
	f, width := r.node.Factor, r.node.Width
	first := f.From + from
	for i := range rows {
		out, x := r.out[(row+i)*width+from:][:to-from], r.x[(row+i)*f.Cols:][:f.Cols]
		r.dev.k.dotsOf(w)(out, x, pointer(w, first*w.Cols), w.Type.RowBytes(w.Cols))
	}
}

// dotsQ80 does what dots does for a factor in Q8_0, as products with weights of that type are computed (see mulPacked).
func (r *run) dotsQ80(w *npu.Tensor, row, rows, from, to int) {
	f, width, blocks := r.node.Factor, r.node.Width, w.Cols/32
	group, skip := (f.From+from)/groupRows, (f.From+from)%groupRows
	size, n := groupBytes(npu.Q8_0, blocks), (skip+to-from+groupRows-1)/groupRows
	s := r.dev.near.Get().(*scratch)
	defer r.dev.near.Put(s)
	data := w.Data
	if w.Packed {
		data = data[group*size:]
	} else {
		data = s.bytes(n * size)
		for g := range n {
			packGroup(data[g*size:][:size], w, (group+g)*groupRows)
		}
	}
	inputs := r.acts.blocks[row*blocks:]
	if skip == 0 && from+n*groupRows <= width { // what is padded is zero
		r.dev.k.mul[npu.Q8_0](r.out[row*width+from:], width, data, n, blocks, inputs, rows)
		return
	}
	sums := s.floats(rows * n * groupRows)
	r.dev.k.mul[npu.Q8_0](sums, n*groupRows, data, n, blocks, inputs, rows)
	for i := range rows {
		copy(r.out[(row+i)*width+from:][:to-from], sums[i*n*groupRows+skip:])
	}
}

// adapt computes the sum of the node's first argument and the product v.
func (r *run) adapt(v npu.Value) {
	if &r.out[0] != &r.x[0] { // see layOut
		copy(r.out, r.x)
	}
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
			if lo+m < hi {
				r.ahead(row+1, f)
			}
			from, to := block*adaptColumns, min((block+m)*adaptColumns, n.Width)
			r.addMix(r.out[row*n.Width:][from:to], r.x[row*f.Rows:][:w.Rows], w, f.From+from)
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

// addMix adds x[j]·w[j][from+i] to acc[i], j ascending.
func (r *run) addMix(acc, x []float32, w *npu.Tensor, from int) {
	k := r.dev.k
	if w.Type == npu.Q8_0 {
		r.mixFactor(acc, x, w, from)
		return
	}
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

// mixFactor does what addMix does for a factor in Q8_0.
func (r *run) mixFactor(acc, x []float32, w *npu.Tensor, from int) {
	s := r.dev.near.Get().(*scratch)
	defer r.dev.near.Put(s)
	if eight := (w.Rows + 7) &^ 7; len(x) < eight { // the kernel reads eight at a time
		x = append(s.floats(eight)[:0], x...)[:eight]
	}
	size := mixBytes(w.Rows)
	var part [npu.FactorBlock]float32
	for len(acc) > 0 {
		block, skip := from/npu.FactorBlock, from%npu.FactorBlock
		n := len(acc) / npu.FactorBlock * npu.FactorBlock
		whole := skip == 0 && n > 0
		if !whole {
			n = min(len(acc), npu.FactorBlock-skip)
		}
		blocks := (skip + n + npu.FactorBlock - 1) / npu.FactorBlock
		data := w.Data
		if w.Packed {
			data = data[block*size:]
		} else {
			data = s.bytes(blocks * size)
			packMix(data, w, block)
		}
		if whole {
			r.dev.k.mixFactor(acc[:n], x, data, w.Rows)
		} else {
			copy(part[skip:], acc[:n])
			r.dev.k.mixFactor(part[:], x, data, w.Rows)
			copy(acc[:n], part[skip:])
		}
		acc, from = acc[n:], from+n
	}
}

// A factor that is multiplied by its columns, in Q8_0, is packed in blocks of FactorBlock columns. A block holds the F16
// scales of its ranks, padded to a multiple of eight, and then the integers, rank by rank.

// mixScales and mixBytes return the size in bytes of a block's scales, and of the block.
func mixScales(ranks int) int { return 2 * ((ranks + 7) &^ 7) }
func mixBytes(ranks int) int  { return mixScales(ranks) + npu.FactorBlock*ranks }

// packMix packs as many blocks as dst has, from a block on.
func packMix(dst []byte, w *npu.Tensor, block int) {
	size, each := mixBytes(w.Rows), npu.Q8_0.BlockBytes()
	for ; len(dst) > 0; dst, block = dst[size:], block+1 {
		from := w.Data[block*w.Rows*each:]
		scales, integers := dst[:mixScales(w.Rows)], dst[mixScales(w.Rows):]
		clear(scales)
		for j := range w.Rows {
			copy(scales[2*j:][:2], from[j*each:])
			copy(integers[npu.FactorBlock*j:][:npu.FactorBlock], from[j*each+2:])
		}
	}
}

// factorBytes returns the size of a factor in the device's layout.
func factorBytes(t *npu.Tensor, columns bool) int {
	switch {
	case t.Type != npu.Q8_0:
		return len(t.Data)
	case columns:
		return t.Cols / npu.FactorBlock * mixBytes(t.Rows)
	}
	return (t.Rows + groupRows - 1) / groupRows * groupBytes(t.Type, t.Cols/32)
}

// PackFactors implements npu.Packer. The factors are stored one after the other, those of a large adapter in a slab with huge
// pages: with small pages, a pass over rows of many adapters would wait for thousands of address translations.
func (d *Device) PackFactors(a, b []*npu.Tensor) {
	total := 0
	each := func(f func(t *npu.Tensor, columns bool, bytes int)) {
		for i := range a {
			for columns, t := range []*npu.Tensor{a[i], b[i]} {
				f(t, columns == 1, factorBytes(t, columns == 1))
			}
		}
	}
	each(func(_ *npu.Tensor, _ bool, bytes int) { total += (bytes + line - 1) / line * line })
	var all *slab
	if total < 2*hugePage { // a huge page for each small adapter would be too much
		all = &slab{left: align64(nil, total)}
	} else {
		all = newSlab(total)
	}
	each(func(t *npu.Tensor, columns bool, bytes int) {
		to := all.take(bytes)
		if t.Type == npu.Q8_0 {
			packFactor(to, t, columns)
			t.Packed = true
		} else {
			copy(to, t.Data)
		}
		t.Data = to
		keepFor(t, all)
	})
}

// packFactor packs a factor in Q8_0.
func packFactor(dst []byte, t *npu.Tensor, columns bool) {
	if columns {
		packMix(dst, t, 0)
		return
	}
	size := groupBytes(t.Type, t.Cols/32)
	for row := 0; row < t.Rows; row += groupRows {
		packGroup(dst[row/groupRows*size:][:size], t, row)
	}
}

// mixFactorPlain adds p[j]·v[j][i] to acc[i], j ascending from 0 to ranks−1. acc holds whole blocks and v as many
// packed ones. The product is that of p[j]·scale, rounded, and the integer.
func mixFactorPlain(acc, p []float32, v []byte, ranks int) {
	for size := mixBytes(ranks); len(acc) > 0; acc, v = acc[npu.FactorBlock:], v[size:] {
		for j := range ranks {
			by := p[j] * quant.F16ToF32(binary.LittleEndian.Uint16(v[2*j:]))
			for i, q := range v[mixScales(ranks)+npu.FactorBlock*j:][:npu.FactorBlock] {
				acc[i] += float32(by * float32(int8(q)))
			}
		}
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
