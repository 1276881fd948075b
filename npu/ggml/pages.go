package ggml

import (
	"fmt"
	"slices"
	"weak"

	"tandem/npu"
)

// The device attends to copies of keys and values in its own memory. Each layer has one matrix of keys and one of values,
// whose rows are called cells. The type pages records what each cell holds. npu.KV remains authoritative: a copy can be
// dropped and made again at any time. Cells are allocated by page rather than by span, lowest first, so that everything a
// run attends to is in the first few thousand cells.

// pageSize is the number of cells in a page.
const pageSize = 32

// spanID identifies a span's memory by a weak pointer to its first key. It never equals that of another span, even of a later
// one at the same address, and keeps nothing alive.
type spanID = weak.Pointer[uint16]

func idOf(s *npu.Span) spanID { return weak.Make(&s.K[0][0]) }

// resident is a span with cells on the device.
type resident struct {
	pages []int // of its positions, pageSize each
	used  uint64
	valid []int // for each layer, how many positions are copies of the span's
	edits int   // the span's when they were made
}

// heed invalidates the copies of positions that something other than a program has changed since they were made.
func (r *resident) heed(s *npu.Span) {
	n, from := s.Edits()
	switch n {
	case r.edits:
		return
	case r.edits + 1:
	default: // the positions of the earlier edits are not known
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

// pages allocates cells. Page 0 is reserved: unused rows write to it.
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

// want is a span that a run attends to and the number of its positions that are needed.
type want struct {
	span *npu.Span
	n    int
	*resident
}

// errFull reports how many pages the run needs.
type errFull struct{ need, have int }

func (e errFull) Error() string { return fmt.Sprintf("%d pages of %d", e.need, e.have) }

// place assigns cells to the positions of every wanted span and returns the number of cells, counted from 0, that contain
// them all. It drops copies of other spans if necessary, and fails only if the run alone needs more cells than there are.
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
	// There are too few free pages, or they are so scattered that a run would attend to many masked cells: start over.
	p.clear()
	top, _ := p.assign(wants)
	return top * pageSize, nil
}

func pagesFor(positions int) int { return (positions + pageSize - 1) / pageSize }

// assign finds cells for the wants. It returns the number of pages, counted from 0, that contain them, and whether there
// were enough.
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

// evict frees the pages of spans that no longer exist, or else those of the least recently used span that the current run
// does not want.
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

// forget marks the copies of a layer's positions from n on as invalid.
func (r *resident) forget(layer, n int) { r.valid[layer] = min(r.valid[layer], n) }

// stretch is n positions of a span, starting at position at, whose copies are in consecutive cells, starting at cell.
type stretch struct{ at, cell, n int }

// stretches divides the positions from low to high into stretches.
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

// windowBucket returns the size of the graph's window for a number of cells: 256, or from 512 on a power of two or one and a
// half times that.
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

// rowBucket returns the number of rows that a graph for n rows is built for: n up to 16, above that at most an eighth more.
func rowBucket(n, chunk int) int {
	step := 1
	for n > 16*step {
		step *= 2
	}
	return min((n+step-1)/step*step, chunk)
}

// sameSpans reports whether the caches are the ones that a plan was made for.
func sameSpans(a []spanRef, kv *npu.KV) bool {
	return slices.EqualFunc(a, kv.Spans, func(r spanRef, s npu.Span) bool {
		return r == refOf(&s)
	})
}

// spanRef is a span in a plan. It keeps the memory alive, so that no other span can have the same address while the plan is in
// use.
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
