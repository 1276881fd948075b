package native

import "tandem/npu"

// Products of float weights with several inputs are computed in blocks that fit in the caches. As many inputs as fit in
// half of the second-level cache are multiplied by a group of rows, whose columns are widened to float32 one block at a
// time. The rows and inputs of a tile (two rows, four inputs) are interleaved, 32 columns of each, because at their normal
// stride they would evict each other from the first-level cache. A tile's sums stay in memory between blocks of columns.
// They are added in the same order as in dot, for any block size.
const (
	wideInputs  = 384 << 10 // bytes of inputs in a block
	wideColumns = 1024      // columns in a block, a multiple of 32
)

// panel is a thread's scratch memory for one group of rows.
type panel struct {
	weights [groupRows / 2 * 2 * wideColumns]float32 // [pairs × columns/32 × 2 × 32]
	sums    []tileSums                               // [quads of inputs × pairs of rows]
	tile    [8]float32
}

// interleave fills r.acts.wide with the rows of the current node's input, four at a time, unless it already holds them.
func (r *run) interleave() {
	a := &r.acts
	if v := r.node.Args[0]; a.ofWide != v {
		quads, cols := (r.Rows+3)/4, len(r.x)/r.Rows
		a.ofWide, a.wide = v, grow(a.wide, 4*quads*cols)
		r.share(loopInterleave, quads, 4*cols)
	}
}

func (r *run) interleaveQuads(lo, hi int) {
	cols := len(r.x) / r.Rows
	for q := lo; q < hi; q++ {
		for i := range 4 {
			row := r.x[min(4*q+i, r.Rows-1)*cols:][:cols] // repeat the last row if there are fewer than four
			to := r.acts.wide[4*q*cols+32*i:]
			for at := 0; at < cols; at += 32 {
				copy(to[4*at:][:32], row[at:][:32])
			}
		}
	}
}

// tiled reports whether products of w with several inputs are computed in tiles.
func tiled(w *npu.Tensor) bool {
	return w.Cols%32 == 0 && (w.Type == npu.F16 || w.Type == npu.BF16 || w.Type == npu.F32)
}

// mulTiled multiplies the rows lo to hi−1 of w by all inputs.
func (r *run) mulTiled(out []float32, w *npu.Tensor, lo, hi int) {
	p := r.dev.wide.Get().(*panel)
	defer r.dev.wide.Put(p)
	quads, near := (r.Rows+3)/4, max(1, wideInputs/(16*w.Cols))
	for from := 0; from < quads; from += near {
		for row := lo; row < hi; row += groupRows {
			r.mulPanel(p, out, w, row, min(row+groupRows, hi), from, min(from+near, quads))
		}
	}
}

// mulPanel multiplies the rows lo to hi−1, at most groupRows, by the quads of inputs from to to−1.
func (r *run) mulPanel(p *panel, out []float32, w *npu.Tensor, lo, hi, from, to int) {
	k, x := r.dev.k, r.acts.wide
	pairs := (hi - lo + 1) / 2
	p.sums = grow(p.sums, (to-from)*pairs)
	clear(p.sums)
	for at := 0; at < w.Cols; at += wideColumns {
		n := min(wideColumns, w.Cols-at)
		first, last := w.Type.RowBytes(at), w.Type.RowBytes(at+n)
		for j := range pairs {
			a, b := w.Row(lo+2*j), w.Row(min(lo+2*j+1, hi-1)) // repeat the row if there is only one
			k.pair(w.Type, p.weights[2*j*n:][:2*n], a[first:last], b[first:last])
		}
		for q := from; q < to; q++ {
			for j := range pairs {
				k.tile(&p.sums[(q-from)*pairs+j], &x[4*(q*w.Cols+at)], &p.weights[2*j*n], n/32)
			}
		}
	}
	for q := from; q < to; q++ {
		for j, row := 0, lo; j < pairs; j, row = j+1, row+2 {
			k.sumTile(&p.tile, &p.sums[(q-from)*pairs+j])
			first := out[4*q*w.Rows+row:]
			if row+2 > hi || 4*q+4 > r.Rows { // part of the tile is padding
				for i := range min(4, r.Rows-4*q) {
					copy(first[i*w.Rows:][:min(2, hi-row)], p.tile[2*i:])
				}
				continue
			}
			for i := range 4 {
				to := (*[2]float32)(first[i*w.Rows:])
				to[0], to[1] = p.tile[2*i], p.tile[2*i+1]
			}
		}
	}
}
