package native

import (
	"tandem/npu"
	"tandem/npu/quant"
)

// Attention goes through the keys in blocks of 16. A block is transposed once, so that a vector holds one element of
// sixteen keys. It then serves all queries that attend to it: those of the heads that share it, and those of the rows of a
// tile, whether these are neighbours in one sequence, nodes of a draft tree or rows of sequences with a common prefix. A
// score is Σ q[d]·k[d] over ascending d, so results do not depend on the other rows of the tile.

// keyBlock is how many keys are transposed together.
const keyBlock = 16

// tiling says how the rows of a run are divided for attention.
type tiling struct {
	rows  int // of a tile
	parts int // of the heads that share keys: more than one if there are more threads than work
	slots int // queries of a row: the heads of a part, up to a multiple of 4
	reach int // the most slots that a row attends to
}

func (r *run) tiling(a *npu.Attention) tiling {
	const near = 1 << 16 // scores that fit in a near cache
	t := tiling{parts: 1}
	for row := range r.Rows {
		t.reach = max(t.reach, r.reach(row))
	}
	threads, group := r.dev.pool.helpers+1, a.Heads/a.KVHeads
	if have := r.Rows * a.KVHeads; have < threads {
		t.parts = min(group, (threads+have-1)/have)
	}
	t.slots = ((group+t.parts-1)/t.parts + 3) &^ 3
	t.rows = min(r.Rows, 16, max(1, near/(t.slots*t.room())), (r.Rows*a.KVHeads+threads-1)/threads)
	return t
}

// room is the length of a query's scores, block by block for each run of slots of its path. The last block may write
// beyond the end.
func (t *tiling) room() int { return (t.reach + 2*keyBlock) &^ (keyBlock - 1) }

// attention computes, for each row and head, Σ_j softmax_j(q·k_j·scale)·v_j over the slots j of the row's mask, in their
// order, however spans divide them.
func (r *run) attention(a *npu.Attention) {
	r.tile = r.tiling(a)
	tiles := (r.Rows + r.tile.rows - 1) / r.tile.rows
	cost := r.tile.rows * 2 * a.HeadDim * (a.Heads / a.KVHeads / r.tile.parts) * (r.tile.reach + 8)
	r.share(loopAttention, tiles*a.KVHeads*r.tile.parts, cost)
}

// attend computes units lo to hi−1. A unit is a tile of rows and a part of the heads that share a key-value head.
func (r *run) attend(lo, hi int) {
	a, t := r.node.Attention, &r.tile
	w := r.dev.attends.Get().(*attendance)
	defer r.dev.attends.Put(w)
	group := a.Heads / a.KVHeads
	each := (group + t.parts - 1) / t.parts
	for u := lo; u < hi; u++ {
		first, part := u/(a.KVHeads*t.parts)*t.rows, u%t.parts
		w.run, w.a, w.kv = r, a, u/t.parts%a.KVHeads
		w.first, w.rows = first, min(t.rows, r.Rows-first)
		w.head, w.heads = w.kv*group+part*each, min(each, group-part*each)
		if w.heads > 0 {
			w.begin()
			w.score()
			w.finish()
		}
	}
	w.run, w.a = nil, nil
	clear(w.steps[:cap(w.steps)]) // let go of the caches
}

// attendance is a thread's work on one unit, with its memory.
type attendance struct {
	*run
	a           *npu.Attention
	kv          int // key-value head
	first, rows int
	head, heads int

	queries, sums []float32 // [rows × slots × HeadDim]
	scores        []float32 // [rows × slots × room]
	turned        []float32 // [HeadDim × keyBlock]
	last          []uint16  // [keyBlock × HeadDim]: keys of a block that is not full
	steps         []step    // the rows' paths, row by row
	paths         []path    // [rows]
}

// step is a run of slots in a row's path: n slots from slot at of a span.
type step struct {
	span  *npu.Span
	at, n int
}

// path is how far a row has come.
type path struct {
	next, end int // the steps that are left
	done      int // how many scores it has
}

// begin gathers queries and paths.
func (w *attendance) begin() {
	dim, width, slots := w.a.HeadDim, w.a.Heads*w.a.HeadDim, w.tile.slots
	w.queries = grow(w.queries, w.rows*slots*dim)
	w.sums = grow(w.sums, w.rows*slots*dim)
	w.scores = grow(w.scores, w.rows*slots*w.tile.room())
	w.turned = grow(w.turned, dim*keyBlock)
	w.last = grow(w.last, dim*keyBlock)
	w.paths = grow(w.paths, w.rows)
	clear(w.sums)
	steps := w.steps[:0]
	for i := range w.rows {
		row := w.queries[i*slots*dim:][:slots*dim]
		n := copy(row, w.x[(w.first+i)*width+w.head*dim:][:w.heads*dim])
		clear(row[n:])
		from := len(steps)
		w.run.path(w.first+i, func(s *npu.Span, at, n int) { steps = append(steps, step{s, at, n}) })
		w.paths[i] = path{from, len(steps), 0}
	}
	w.steps = steps
}

// score computes all scores. Rows whose next step begins at the same keys take it together.
func (w *attendance) score() {
	for i := range w.paths {
		for p := &w.paths[i]; p.next < p.end; {
			// Take the longest: sequences may see different lengths of a shared span.
			s := w.steps[p.next]
			for j := i; j < w.rows; j++ {
				if w.joins(j, s) {
					if o := w.steps[w.paths[j].next]; o.n > s.n {
						s = o
					}
				}
			}
			for at := 0; at < s.n; at += keyBlock {
				w.fetch(s, at)
				w.turn(s.span, s.at+at)
				w.scoreBlock(i, s, at)
			}
			for j := i; j < w.rows; j++ {
				if w.joins(j, s) {
					q := &w.paths[j]
					q.done += w.steps[q.next].n
					q.next++
				}
			}
		}
	}
}

// joins reports whether row i goes on at the beginning of s.
func (w *attendance) joins(i int, s step) bool {
	p := &w.paths[i]
	if p.next >= p.end {
		return false
	}
	o := &w.steps[p.next]
	return o.at == s.at && &o.span.K[w.a.Layer][0] == &s.span.K[w.a.Layer][0]
}

// fetch prefetches the keys of the block after the next, and this block's values, which are mixed later. The processor does
// not predict these reads with a stride.
func (w *attendance) fetch(s step, at int) {
	dim, stride := w.a.HeadDim, w.a.KVHeads*w.a.HeadDim
	from := func(of [][]uint16, at int) *uint16 { return &of[w.a.Layer][(s.at+at)*stride+w.kv*dim] }
	if ahead := at + 2*keyBlock; ahead < s.n {
		w.dev.k.fetch(from(s.span.K, ahead), stride, dim)
	}
	w.dev.k.fetch(from(s.span.V, at), stride, dim)
}

// turn transposes the keys from slot at of a span.
func (w *attendance) turn(s *npu.Span, at int) {
	dim, stride := w.a.HeadDim, w.a.KVHeads*w.a.HeadDim
	keys := s.K[w.a.Layer][at*stride+w.kv*dim:]
	if s.Len-at >= keyBlock {
		w.dev.k.turn(w.turned, keys, stride, dim)
		return
	}
	clear(w.last)
	for j := range s.Len - at { // later slots belong to others
		copy(w.last[j*dim:][:dim], keys[j*stride:])
	}
	w.dev.k.turn(w.turned, w.last, dim, dim)
}

// scoreBlock scores the transposed keys, those from at of step s, for the rows from i that reach them. Neighbours go
// together. What it writes beyond the end of a row's step is overwritten by the next step, or never read.
func (w *attendance) scoreBlock(i int, s step, at int) {
	dim, slots, room := w.a.HeadDim, w.tile.slots, w.tile.room()
	reaches := func(j int) bool { return w.joins(j, s) && w.steps[w.paths[j].next].n > at }
	for ; i < w.rows; i++ {
		if !reaches(i) {
			continue
		}
		from, done := i, w.paths[i].done
		for i+1 < w.rows && reaches(i+1) && w.paths[i+1].done == done {
			i++
		}
		w.dev.k.scores(w.scores[from*slots*room+done+at:], room, w.turned, w.queries[from*slots*dim:], dim, (i+1-from)*slots)
	}
}

// finish turns scores into weights and mixes the values.
func (w *attendance) finish() {
	k, dim, slots, room := w.dev.k, w.a.HeadDim, w.tile.slots, w.tile.room()
	width, stride := w.a.Heads*dim, w.a.KVHeads*dim
	for i := range w.rows {
		n := w.reach(w.first + i)
		for h := range w.heads {
			k.softmax(w.scores[(i*slots+h)*room:][:n], w.a.Scale)
		}
		done := 0
		w.run.path(w.first+i, func(s *npu.Span, at, n int) {
			values := s.V[w.a.Layer][at*stride+w.kv*dim:]
			for h := 0; h < w.heads; {
				sums, weights := w.sums[(i*slots+h)*dim:], w.scores[(i*slots+h)*room+done:]
				if w.heads-h > 2 {
					k.mix4(sums[:4*dim], weights, room, n, values, stride)
					h += 4
					continue
				}
				k.mixF16(sums[:dim], weights[:n], values, stride)
				h++
			}
			done += n
		})
		copy(w.out[(w.first+i)*width+w.head*dim:], w.sums[i*slots*dim:][:w.heads*dim])
	}
}

// turnPlain computes dst[d·16 + j] = k[j·stride + d].
func turnPlain(dst []float32, k []uint16, stride, dim int) {
	for j := range keyBlock {
		for d := range dim {
			dst[d*keyBlock+j] = quant.F16ToF32(k[j*stride+d])
		}
	}
}

// scoresPlain computes dst[i·stride + j] = Σ_d q[i·dim + d]·turned[d·16 + j], d ascending.
func scoresPlain(dst []float32, stride int, turned, q []float32, dim, m int) {
	for i := range m {
		row := dst[i*stride:][:keyBlock]
		clear(row)
		for d, v := range q[i*dim:][:dim] {
			for j := range row {
				row[j] += float32(v * turned[d*keyBlock+j])
			}
		}
	}
}

// mix4By makes mix4 from mixF16: four times acc[i·dim + d] += p[i·stride + j]·v[j·stepV + d], j ascending.
func mix4By(mix func(acc, p []float32, v []uint16, stride int)) func(acc, p []float32, stride, n int, v []uint16, stepV int) {
	return func(acc, p []float32, stride, n int, v []uint16, stepV int) {
		dim := len(acc) / 4
		for i := range 4 {
			mix(acc[i*dim:][:dim], p[i*stride:][:n], v, stepV)
		}
	}
}

func narrowPlain(dst []uint16, src []float32) {
	for i, v := range src {
		dst[i] = quant.F32ToF16(v)
	}
}
