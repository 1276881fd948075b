package ggml

import (
	"fmt"
	"slices"
	"weak"

	"tandem/npu"
)

// The device attends to copies of keys and values in memory of its own: for each layer one matrix of keys
// and one of values, whose rows are called cells. The pages type says which cells hold what. npu.KV stays
// the truth: a copy can be dropped and made again at any time. Pages, not whole spans, are handed out, the
// lowest first, so that what a run attends to lies in the first few thousand cells.

// pageSize is the number of cells that are handed out together.
const pageSize = 32

// spanID names a span's memory: the first number of its keys of the first layer. A weak pointer never
// equals that of another span, even one that is later put at the same address, and keeps nothing alive.
type spanID = weak.Pointer[uint16]

func idOf(s *npu.Span) spanID { return weak.Make(&s.K[0][0]) }

// resident is a span with cells on the device.
type resident struct {
	pages []int // of its positions, pageSize each
	used  uint64
	valid []int // for each layer: so many positions are copies of the span's
	edits int   // the span's when they were made
}

// heed drops copies of what others than programs have changed since.
func (r *resident) heed(s *npu.Span) {
	n, from := s.Edits()
	switch n {
	case r.edits:
		return
	case r.edits + 1:
	default: // where the earlier ones began is not known
		from = 0
	}
	r.edits = n
	for layer := range r.valid {
		r.forget(layer, from)
	}
}

func (r *resident) cell(position int) int {
	return r.pages[position/pageSize]*pageSize + position%pageSize
}

// pages hands cells out. Page 0 is nobody's: rows that are not in use write there.
type pages struct {
	layers int
	free   []bool // of each page
	spans  map[spanID]*resident
	clock  uint64
}

func newPages(n, layers int) *pages {
	p := &pages{layers: layers, free: make([]bool, n)}
	p.clear()
	return p
}

// clear drops all copies.
func (p *pages) clear() {
	p.spans = map[spanID]*resident{}
	for i := range p.free {
		p.free[i] = i > 0
	}
}

// want is a span that a run attends to, and how many of its positions.
type want struct {
	span *npu.Span
	n    int
	*resident
}

// errFull says that the run needs so many pages.
type errFull struct{ need, have int }

func (e errFull) Error() string { return fmt.Sprintf("%d pages of %d", e.need, e.have) }

// place gives every wanted span cells for its positions and returns how many cells from 0 hold them all. It
// drops copies of others where it must; it fails only when the run alone needs more than there is.
func (p *pages) place(wants []want) (window int, err error) {
	p.clock++
	need := 1
	for i := range wants {
		need += pagesFor(wants[i].n)
	}
	if need > len(p.free) {
		return 0, errFull{need, len(p.free)}
	}
	if top, ok := p.assign(wants); ok && top <= 4*need+1024/pageSize {
		return top * pageSize, nil
	}
	// No room, or scattered so far that a run would look at much that is not its own: begin anew.
	p.clear()
	top, _ := p.assign(wants)
	return top * pageSize, nil
}

func pagesFor(positions int) int { return (positions + pageSize - 1) / pageSize }

// assign finds the wants' cells, and reports the number of pages from 0 that hold them, and whether there
// was room.
func (p *pages) assign(wants []want) (top int, ok bool) {
	lowest, top := 1, 1
	for i := range wants {
		id := idOf(wants[i].span)
		r := p.spans[id]
		if r == nil {
			r = &resident{valid: make([]int, p.layers)}
			p.spans[id] = r
		}
		r.heed(wants[i].span)
		r.used = p.clock
		for len(r.pages) < pagesFor(wants[i].n) {
			for lowest < len(p.free) && !p.free[lowest] {
				lowest++
			}
			if lowest == len(p.free) {
				if !p.evict() {
					return 0, false
				}
				lowest = 1
				continue
			}
			p.free[lowest] = false
			r.pages = append(r.pages, lowest)
		}
		wants[i].resident = r
		for _, page := range r.pages[:pagesFor(wants[i].n)] {
			top = max(top, page+1)
		}
	}
	return top, true
}

// evict frees the pages of spans that are no more, or else of the one that was used longest ago, but of
// none that this run has.
func (p *pages) evict() bool {
	freed := false
	var oldest spanID
	for id, r := range p.spans {
		switch {
		case r.used == p.clock:
		case id.Value() == nil:
			p.drop(id)
			freed = freed || len(r.pages) > 0
		case oldest == (spanID{}) || r.used < p.spans[oldest].used:
			oldest = id
		}
	}
	if !freed && oldest != (spanID{}) {
		p.drop(oldest)
		return true
	}
	return freed
}

func (p *pages) drop(id spanID) {
	for _, page := range p.spans[id].pages {
		p.free[page] = true
	}
	delete(p.spans, id)
}

// forget says that the copies of a layer's positions from n on cannot be trusted.
func (r *resident) forget(layer, n int) { r.valid[layer] = min(r.valid[layer], n) }

// stretch is n positions of a span from position at, whose copies lie in neighbouring cells from cell on.
type stretch struct{ at, cell, n int }

// stretches divides the positions from low to high by the cells that they lie in.
func (r *resident) stretches(low, high int) []stretch {
	var list []stretch
	for low < high {
		n := min(pageSize-low%pageSize, high-low)
		cell := r.cell(low)
		if k := len(list) - 1; k >= 0 && list[k].cell+list[k].n == cell {
			list[k].n += n
		} else {
			list = append(list, stretch{low, cell, n})
		}
		low += n
	}
	return list
}

// windowBucket is the number of cells that a graph for so many is built for: 256, and from 512 on powers of
// two and one and a half times them.
func windowBucket(cells int) int {
	for b := 256; ; b *= 2 {
		if cells <= b {
			return b
		}
		if half := b + b/2; b > 256 && cells <= half {
			return half
		}
	}
}

// rowBucket is the number of rows that a graph for n rows is built for: n up to 16, and at most an eighth more above.
func rowBucket(n, chunk int) int {
	step := 1
	for n > 16*step {
		step *= 2
	}
	return min((n+step-1)/step*step, chunk)
}

// sameSpans reports whether the caches are those that a plan was made for.
func sameSpans(a []spanRef, kv *npu.KV) bool {
	return slices.EqualFunc(a, kv.Spans, func(r spanRef, s npu.Span) bool {
		return r == refOf(&s)
	})
}

// spanRef is a span as a plan remembers it. It keeps the memory alive, so that no other span can come to
// lie there while the plan is in use.
type spanRef struct {
	first    *uint16
	n, edits int
}

func refOf(s *npu.Span) spanRef {
	edits, _ := s.Edits()
	return spanRef{firstOf(s), s.Len, edits}
}

func firstOf(s *npu.Span) *uint16 {
	if len(s.K) == 0 || len(s.K[0]) == 0 {
		return nil
	}
	return &s.K[0][0]
}
