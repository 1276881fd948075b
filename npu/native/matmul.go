package native

import (
	"unsafe"

	"tandem/npu"
)

// activations holds the converted rows of a matrix product's input. Products of the same input share them.
type activations struct {
	of     npu.Value // the value that blocks was made from; −1 for none
	blocks []input   // [rows × cols/32], for weights in blocks of 32

	ofWords npu.Value  // the value that words was made from
	words   []wordQuad // [rows/4 × cols/32], for many rows

	ofK npu.Value // the value that k was made from
	k   []kInput  // [rows × cols/256], for weights in blocks of 256

	ofWide npu.Value // the value that wide was made from
	wide   []float32 // [rows/4 × cols/32 × 4 × 32], for tiles of float weights
}

// quantize fills r.acts.blocks with the rows of the current node's input, unless it already holds them.
func (r *run) quantize() {
	a := &r.acts
	if v := r.node.Args[0]; a.of != v {
		a.of, a.blocks = v, grow(a.blocks, len(r.x)/32)
		r.share(loopQuantize, r.Rows, 4*len(r.x)/r.Rows)
	}
}

func (r *run) quantizeRows(lo, hi int) {
	cols := len(r.x) / r.Rows
	r.dev.k.quantize(r.acts.blocks[lo*cols/32:hi*cols/32], r.x[lo*cols:hi*cols])
}

// wordQuad is a block of four inputs as words, for processors that multiply words as fast as bytes.
type wordQuad struct {
	q [4][32]int16
	d [4]float32
}

// wordKernels multiply inputs as words.
type wordKernels struct {
	quad func(dst []wordQuad, x []input) // of four rows of as many blocks
	mul  [types]mulPacked[wordQuad]      // nil for types whose inputs stay bytes; m counts inputs
}

// minWordInputs is the number of inputs from which they are multiplied as words.
const minWordInputs = 32

// asWords returns the kernel for inputs as words, or nil if they stay bytes.
func (r *run) asWords(t npu.DType) mulPacked[wordQuad] {
	if k := r.dev.k.words; k != nil && r.Rows >= minWordInputs {
		return k.mul[t]
	}
	return nil
}

// widenInputs fills r.acts.words from r.acts.blocks, unless it already holds them.
func (r *run) widenInputs() {
	a := &r.acts
	if v := r.node.Args[0]; a.ofWords != v {
		quads, blocks := (r.Rows+3)/4, len(a.blocks)/r.Rows
		a.ofWords, a.words = v, grow(a.words, quads*blocks)
		r.share(loopWords, quads, 4*32*blocks)
	}
}

func (r *run) widenQuads(lo, hi int) {
	a, blocks := &r.acts, len(r.acts.blocks)/r.Rows
	for q := lo; q < hi; q++ {
		from, to := a.blocks[4*q*blocks:], a.words[q*blocks:][:blocks]
		if rest := r.Rows - 4*q; rest < 4 {
			rows := make([]input, 4*blocks) // zeros after the last
			copy(rows, from[:rest*blocks])
			from = rows
		}
		r.dev.k.words.quad(to, from)
	}
}

// product is one of the matrix products that the threads currently share.
type product struct {
	node   *npu.Node
	packed packed // the weights in groups, if they are packed
	out    []float32
	lo, hi int // its groups of rows of weights, numbered across all products
}

// matMul computes the given nodes, all products of the same input, in one loop over groups of sixteen rows of weights.
func (r *run) matMul(nodes []int) {
	r.products = r.products[:0]
	units, cost := 0, 0
	for _, i := range nodes {
		n := &r.graph.Nodes[i]
		w, each := n.Weight, n.Weight.Cols*r.Rows*groupRows
		switch w.Type.BlockSize() {
		case 32:
			if r.quantize(); r.asWords(w.Type) != nil {
				r.widenInputs()
			}
		case 256:
			r.quantizeK()
		default:
			if each *= 4; r.Rows > 1 && tiled(w) {
				r.interleave()
			}
		}
		p := product{node: n, packed: r.loaded(i), out: r.result(i), lo: units}
		units += (w.Rows + groupRows - 1) / groupRows
		p.hi, cost = units, max(cost, each)
		r.products = append(r.products, p)
	}
	r.share(loopMatMul, units, cost)
	clear(r.products)
}

// mulUnits computes the groups lo to hi−1 of all products.
func (r *run) mulUnits(lo, hi int) {
	for i := range r.products {
		p := &r.products[i]
		if from, to := max(lo, p.lo), min(hi, p.hi); from < to {
			r.mulGroups(p, from-p.lo, to-p.lo)
		}
	}
}

// mulGroups multiplies groups of weights by all inputs and adds the bias.
func (r *run) mulGroups(p *product, lo, hi int) {
	w, first, end := p.node.Weight, lo*groupRows, min(hi*groupRows, p.node.Weight.Rows)
	switch {
	case w.Type.BlockSize() == 32 && r.asWords(w.Type) != nil:
		mulPackedGroups(r, p, lo, hi, r.asWords(w.Type), r.acts.words)
	case w.Type.BlockSize() == 32:
		mulPackedGroups(r, p, lo, hi, r.dev.k.mul[w.Type], r.acts.blocks)
	case p.packed.groups != nil || packs(w.Type):
		mulPackedGroups(r, p, lo, hi, r.dev.k.mulK256[w.Type], r.acts.k)
	case w.Type.BlockSize() == 256:
		r.mulK(p.out, w, r.acts.k, first, end)
	default:
		r.mulWide(p.out, w, r.x, first, end)
	}
	if p.node.Bias == nil {
		return
	}
	bias, scratch := r.dev.floats(p.node.Bias)
	for i := range r.Rows {
		row := p.out[i*w.Rows+first : i*w.Rows+end]
		r.dev.k.add(row, row, bias[first:end])
	}
	r.dev.giveBack(scratch)
}

// mulPackedGroups multiplies groups of packed weights. With several inputs it processes as many groups at a time as fit in a
// near cache. Staged weights (see npu.Stage) that are not packed yet are packed in every run, just before use.
func mulPackedGroups[T any](r *run, p *product, lo, hi int, mul mulPacked[T], x []T) {
	const near = 64 << 10 // bytes
	w, blocks := p.node.Weight, p.node.Weight.Cols/p.node.Weight.Type.BlockSize()
	size := groupBytes(w.Type, blocks)
	step := hi - lo
	if r.Rows > 1 || p.packed.groups == nil {
		step = max(1, near/size)
	}
	var s *scratch
	if p.packed.groups == nil || hi*groupRows > w.Rows {
		s = r.dev.near.Get().(*scratch)
		defer r.dev.near.Put(s)
	}
	for ; lo < hi; lo += step {
		n := min(step, hi-lo)
		var groups []byte
		if p.packed.groups != nil {
			groups = p.packed.group(lo, n)
		} else {
			groups = s.bytes(n * size)
			for g := range n {
				packGroup(groups[g*size:][:size], w, (lo+g)*groupRows)
			}
		}
		if (lo+n)*groupRows > w.Rows {
			n--
			mulLast(r, p, groups[n*size:], s, mul, x)
		}
		if n > 0 {
			mul(p.out[lo*groupRows:], w.Rows, groups, n, blocks, x, r.Rows)
		}
	}
}

// mulLast multiplies a partial last group.
func mulLast[T any](r *run, p *product, group []byte, s *scratch, mul mulPacked[T], x []T) {
	w := p.node.Weight
	sums := s.floats(r.Rows * groupRows)
	mul(sums, groupRows, group, 1, w.Cols/w.Type.BlockSize(), x, r.Rows)
	from := w.Rows &^ (groupRows - 1)
	for i := range r.Rows {
		copy(p.out[i*w.Rows+from:(i+1)*w.Rows], sums[i*groupRows:])
	}
}

// scratch is temporary memory of one thread.
type scratch struct {
	b []byte
	f []float32
}

func (s *scratch) bytes(n int) []byte {
	s.b = grow(s.b, n+63)
	return align64(s.b, n)
}

func (s *scratch) floats(n int) []float32 {
	s.f = grow(s.f, n)
	return s.f
}

// mulWide multiplies by float weights. For one input it reads them in place. For several inputs it widens them to float32.
func (r *run) mulWide(out []float32, w *npu.Tensor, x []float32, lo, hi int) {
	const near = 16 << 10 // bytes
	k, rowBytes := r.dev.k, w.Type.RowBytes(w.Cols)
	if dots := k.inPlace(w); dots != nil && r.Rows == 1 {
		dots(out[lo:hi], x, unsafe.Pointer(&w.Data[lo*rowBytes]), rowBytes)
		return
	}
	if r.Rows > 1 && tiled(w) {
		r.mulTiled(out, w, lo, hi)
		return
	}
	rows := min(hi-lo, max(1, near/(4*w.Cols)))
	scratch := r.dev.rows.Get().(*[]float32)
	defer r.dev.rows.Put(scratch)
	*scratch = grow(*scratch, rows*w.Cols)
	for ; lo < hi; lo += rows {
		n := min(rows, hi-lo)
		wide := (*scratch)[:n*w.Cols]
		k.widen(w.Type, wide, w.Data[lo*rowBytes:(lo+n)*rowBytes])
		for i := range r.Rows {
			k.dotsF32(out[i*w.Rows+lo:][:n], x[i*w.Cols:][:w.Cols], unsafe.Pointer(&wide[0]), 4*w.Cols)
		}
	}
}

// inPlace returns the kernel that reads w in place, or nil if there is none.
func (k *kernels) inPlace(w *npu.Tensor) dots {
	switch {
	case uintptr(unsafe.Pointer(&w.Data[0]))%4 != 0:
		return nil
	case w.Type == npu.F32:
		return k.dotsF32
	case w.Type == npu.F16:
		return k.dotsF16
	case w.Type == npu.BF16:
		return k.dotsBF16
	}
	return nil
}

// asFloats returns an F32 vector in place, if its alignment allows it.
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

// floats returns a vector's values, in place or in scratch memory to be returned by giveBack.
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
