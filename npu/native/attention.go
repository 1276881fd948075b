package native

import (
	"tandem/npu"
	"tandem/npu/quant"
)

// Attention processes the keys in blocks of 16. Each block is transposed once, so that a vector holds one element of
// sixteen keys, and then used for every query that attends to it: the queries of all heads that share the keys and of all
// rows of a tile. These rows may be neighbors in one sequence, nodes of a draft tree, or rows of sequences with a common
// prefix. A score is Σ q[d]·k[d] with d ascending, so a result does not depend on the other rows of its tile.

// keyBlock is the number of keys that are transposed together.
const keyBlock = 16

// tiling describes how attention divides the rows of a run.
type tiling struct {
	rows  int // rows in a tile
	parts int // parts into which heads that share keys are split; more than 1 if there are more threads than work
	slots int // queries per row: the heads of a part, rounded up to a multiple of 4
	reach int // largest number of slots that any row attends to
}

func (r *run) tiling(a *npu.Attention) tiling {
	const near = 1 << 16 // number of scores that fit in a near cache
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

// room returns the length of the buffer for one query's scores. It leaves space for the last block, which may write
// past the end.
func (t *tiling) room() int { return (t.reach + 2*keyBlock) &^ (keyBlock - 1) }

// attention computes Σ_j softmax_j(q·k_j·scale)·v_j for each row and head. The sum is over the slots j of the row's mask,
// in order. How the slots are divided into spans does not affect the result.
func (r *run) attention(a *npu.Attention) {
	r.tile = r.tiling(a)
	tiles := (r.Rows + r.tile.rows - 1) / r.tile.rows
	cost := r.tile.rows * 2 * a.HeadDim * (a.Heads / a.KVHeads / r.tile.parts) * (r.tile.reach + 8)
	r.share(loopAttention, tiles*a.KVHeads*r.tile.parts, cost)
}

// attend computes units lo to hi−1. A unit is one tile of rows and one part of the heads that share a key-value head.
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
	clear(w.steps[:cap(w.steps)]) // drop references to the caches
}

// attendance is the state and scratch memory of a thread that works on one unit.
type attendance struct {
	*run
	a           *npu.Attention
	kv          int // key-value head
	first, rows int
	head, heads int

	queries, sums []float32 // [rows × slots × HeadDim]
	scores        []float32 // [rows × slots × room]
	turned        []float32 // [HeadDim × keyBlock]
	last          []uint16  // [keyBlock × HeadDim]: keys of a partial block
	steps         []step    // the rows' paths, row by row
	row, head1    int       // elements of a slot of the cache, and of one head of it
	*cacheKernels
	paths []path // [rows]
}

// step is a run of n slots in a row's path, starting at slot at of a span.
type step struct {
	span  *npu.Span
	at, n int
}

// path records a row's progress.
type path struct {
	next, end int // the remaining steps
	done      int // number of scores computed
}

// begin collects the queries and paths.
func (w *attendance) begin() {
	dim, width, slots := w.a.HeadDim, w.a.Heads*w.a.HeadDim, w.tile.slots
	w.row, w.head1, w.cacheKernels = w.a.CacheRow(), w.a.Cache.Row(dim), &w.dev.k.caches[w.a.Cache]
	w.queries = grow(w.queries, w.rows*slots*dim)
	w.sums = grow(w.sums, w.rows*slots*dim)
	w.scores = grow(w.scores, w.rows*slots*w.tile.room())
	w.turned = grow(w.turned, dim*keyBlock)
	w.last = grow(w.last, w.head1*keyBlock)
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

// score computes all scores. Rows whose next step starts at the same keys are processed together.
func (w *attendance) score() {
	for i := range w.paths {
		for p := &w.paths[i]; p.next < p.end; {
			// Take the longest step: sequences may see different lengths of a shared span.
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

// joins reports whether the next step of row i starts where s does.
func (w *attendance) joins(i int, s step) bool {
	p := &w.paths[i]
	if p.next >= p.end {
		return false
	}
	o := &w.steps[p.next]
	return o.at == s.at && &o.span.K[w.a.Layer][0] == &s.span.K[w.a.Layer][0]
}

// fetch prefetches the keys two blocks ahead and the values of this block, which are needed later. The processor's own
// prefetcher does not predict these strided reads.
func (w *attendance) fetch(s step, at int) {
	dim, stride := w.head1, w.row
	from := func(of [][]uint16, at int) *uint16 { return &of[w.a.Layer][(s.at+at)*stride+w.kv*dim] }
	if ahead := at + 2*keyBlock; ahead < s.n {
		w.dev.k.fetch(from(s.span.K, ahead), stride, dim)
	}
	w.dev.k.fetch(from(s.span.V, at), stride, dim)
}

// turn transposes a block of keys, starting at slot at of a span.
func (w *attendance) turn(s *npu.Span, at int) {
	size := w.head1
	keys := s.K[w.a.Layer][at*w.row+w.kv*size:]
	if s.Len-at >= keyBlock {
		w.turnKeys(w.turned, keys, w.row, w.a.HeadDim)
		return
	}
	clear(w.last)
	for j := range s.Len - at { // later slots are not part of the span
		copy(w.last[j*size:][:size], keys[j*w.row:])
	}
	w.turnKeys(w.turned, w.last, size, w.a.HeadDim)
}

// scoreBlock computes the scores of the transposed keys, which start at offset at of step s, for row i and every later row
// that reaches them. Adjacent rows share one kernel call. Scores past the end of a row's step are overwritten by the next
// step or never read.
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

// finish converts scores to weights and computes the weighted sums of the values.
func (w *attendance) finish() {
	k, dim, slots, room := w.dev.k, w.a.HeadDim, w.tile.slots, w.tile.room()
	var sinks []float32
	if w.a.Sinks != nil {
		var scratch *[]float32
		sinks, scratch = w.dev.floats(w.a.Sinks)
		defer w.dev.giveBack(scratch)
	}
	width := w.a.Heads * dim
	for i := range w.rows {
		n := w.reach(w.first + i)
		for h := range w.heads {
			scores, scale := w.scores[(i*slots+h)*room:][:n], w.a.Scale
			if limit := w.a.Softcap; limit != 0 {
				for j, s := range scores {
					scores[j] = softcap(float32(s*scale), limit)
				}
				scale = 1
			}
			if sinks != nil { // one more score; there is room for it
				for j, s := range scores {
					scores[j] = s * scale
				}
				scores, scale = append(scores, sinks[w.head+h]), 1
			}
			k.softmax(scores, scale)
		}
		done := 0
		w.run.path(w.first+i, func(s *npu.Span, at, n int) {
			values := s.V[w.a.Layer][at*w.row+w.kv*w.head1:]
			for h := 0; h < w.heads; {
				sums, weights := w.sums[(i*slots+h)*dim:], w.scores[(i*slots+h)*room+done:]
				if w.heads-h > 2 {
					w.mix4(sums[:4*dim], weights, room, n, values, w.row)
					h += 4
					continue
				}
				w.mix(sums[:dim], weights[:n], values, w.row)
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

// turnQ80Plain is turnPlain for keys in a CacheQ8_0. dim is a multiple of 32; stride counts elements of the cache.
func turnQ80Plain(dst []float32, k []uint16, stride, dim int) {
	for j := range keyBlock {
		for d := range dim {
			dst[d*keyBlock+j] = cachedQ80(k[j*stride:], d)
		}
	}
}

// cachedQ80 returns number i of blocks in a CacheQ8_0. The product is exact.
func cachedQ80(row []uint16, i int) float32 {
	b := row[i/npu.CacheBlock*npu.CacheBlockSize:]
	pair := b[1+i%npu.CacheBlock/2]
	return quant.F16ToF32(b[0]) * float32(int8(pair>>(i%2*8)))
}

// mixQ80Plain is mixF16Plain for values in a CacheQ8_0.
func mixQ80Plain(acc, p []float32, v []uint16, stride int) {
	for j, w := range p {
		for i := range acc {
			acc[i] += float32(w * cachedQ80(v[j*stride:], i))
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

// mix4By returns a mix4 kernel that calls mix four times: acc[i·dim + d] += p[i·stride + j]·v[j·stepV + d] for i from 0
// to 3, j ascending.
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
