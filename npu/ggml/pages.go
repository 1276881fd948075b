package ggml

import (
	"cmp"
	"fmt"
	"slices"
	"weak"

	"tandem/npu"
)

// The device attends to copies of keys and values in its own memory. Each layer has one matrix of keys and one of values,
// whose rows are called cells. The type pages records what each cell holds. npu.KV remains authoritative: a copy can be
// dropped and made again at any time. Cells are allocated by page rather than by span, lowest first, because a run attends
// to all cells up to the last that it needs, if only through a mask, and each number of cells takes a graph of its own.

// pageSize is the number of cells in a page. Sequences that grow have spans of 16 positions first.
const pageSize = 16

// spanID identifies a span's memory by a weak pointer to its first key. It never equals that of another span, even of a later
// one at the same address, and keeps nothing alive.
type spanID = weak.Pointer[uint16]

func idOf(s *npu.Span) spanID { return weak.Make(&s.K[0][0]) }

// resident is a span with cells on the device. It has none if they were taken for others.
type resident struct {
	pages []int  // of its positions, pageSize each
	used  uint64 // the last run that wanted it
	gap   uint64 // the most runs after which it was wanted again, if that is soon and it had lost its pages; or 0
	valid []int  // for each layer, how many positions are copies of the span's
	edits int    // the span's when they were made
}

// invalidateEdited invalidates copies of positions that something other than a program has changed since they were
// copied (npu.Span.Touch).
func (r *resident) invalidateEdited(s *npu.Span) {
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

// pages allocates cells. The last page is reserved: unused rows write to it.
type pages struct {
	layers int
	free   []bool // of each page
	spans  map[spanID]*resident
	clock  uint64 // counts runs
}

func newPages(n, layers int) *pages {
	p := &pages{layers: layers, free: make([]bool, n), spans: map[spanID]*resident{}}
	for i := range n - 1 {
		p.free[i] = true
	}
	return p
}

// unused is the cell that unused rows write to.
func (p *pages) unused() int { return (len(p.free) - 1) * pageSize }

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
//
// The window is at most windowBucket of twice the cells that the wanted and the spared spans need. It is that of the wanted
// ones alone if other spans have to give up their pages for that, but no wanted span has to be copied again.
func (p *pages) place(wants []want) (cells int, err error) {
	p.clock++
	need := 0
	for i := range wants {
		need += pagesFor(wants[i].n)
	}
	if need >= len(p.free) {
		return 0, errFull{need + 1, len(p.free)}
	}
	for i := range wants {
		wants[i].resident = p.find(wants[i].span)
	}
	if top(wants) > windowPages(2*need) {
		limit := windowPages(2 * (need + p.spared()))
		for i := range wants {
			p.cut(&wants[i], limit)
		}
	}
	lack := 0
	for i := range wants {
		lack += pagesFor(wants[i].n) - len(wants[i].inUse())
	}
	if lack > 0 {
		p.makeRoom(wants, need, lack)
	}
	lowest := 0
	for i := range wants {
		r := wants[i].resident
		for len(r.pages) < pagesFor(wants[i].n) {
			for !p.free[lowest] {
				lowest++
			}
			p.free[lowest] = false
			r.pages = append(r.pages, lowest)
		}
	}
	return top(wants) * pageSize, nil
}

// inUse returns the pages of the wanted positions.
func (w *want) inUse() []int { return w.pages[:min(len(w.pages), pagesFor(w.n))] }

// top returns the number of pages, counted from 0, that contain the wanted ones.
func top(wants []want) (n int) {
	for i := range wants {
		for _, page := range wants[i].inUse() {
			n = max(n, page+1)
		}
	}
	return n
}

func pagesFor(positions int) int { return (positions + pageSize - 1) / pageSize }

// windowPages returns how many pages there are in the smallest window for n pages.
func windowPages(n int) int { return windowBucket(n*pageSize) / pageSize }

// soon is the number of runs in which a span that lost its pages must be wanted again to be spared later.
const soon = 64

// find returns the device's copy of a span. If a span is wanted again soon after its copies were dropped, it takes turns
// with others; from then on its copies are spared, so that its next turn finds them.
func (p *pages) find(s *npu.Span) *resident {
	id := idOf(s)
	r := p.spans[id]
	if r == nil {
		r = &resident{valid: make([]int, p.layers), used: p.clock}
		p.spans[id] = r
	}
	if gap := p.clock - r.used; gap <= soon && (len(r.pages) == 0 || r.gap > 0) {
		r.gap = max(r.gap, gap)
	}
	r.used = p.clock
	r.invalidateEdited(s)
	return r
}

// spares reports whether the run does not want the span, but another that is expected soon does.
func (p *pages) spares(r *resident) bool { return r.used < p.clock && p.clock-r.used <= 2*r.gap }

// spared returns the number of pages of spans that p spares.
func (p *pages) spared() (n int) {
	for id, r := range p.spans {
		if p.spares(r) && id.Value() != nil {
			n += len(r.pages)
		}
	}
	return n
}

// cut frees a wanted span's pages from the first on that is not below the limit.
func (p *pages) cut(w *want, limit int) {
	for i, page := range w.inUse() {
		if page >= limit {
			p.shorten(w.resident, i)
			return
		}
	}
}

// shorten frees all but a span's first n pages.
func (p *pages) shorten(r *resident, n int) {
	for _, page := range r.pages[n:] {
		p.free[page] = true
	}
	r.pages = r.pages[:n]
	for layer := range r.valid {
		r.forget(layer, n*pageSize)
	}
}

// makeRoom frees low pages until lack of them are free, for a run that needs the given number in all. It tries first for the
// smallest window, and then for the largest that place allows.
func (p *pages) makeRoom(wants []want, need, lack int) {
	if p.clear(windowPages(need), lack, false) {
		return
	}
	for i := range wants { // pages of positions that no longer exist
		if r, n := wants[i].resident, pagesFor(wants[i].n); len(r.pages) > n {
			p.shorten(r, n)
		}
	}
	if !p.clear(windowPages(2*(need+p.spared())), lack, false) {
		p.clear(len(p.free), lack, true)
	}
}

// clear drops copies of spans that the run does not want until lack pages below the limit are free, and reports whether
// they are. It begins with spans that no longer exist and goes on with those that were not wanted for longest. It drops
// spared ones only if all is set.
func (p *pages) clear(limit, lack int, all bool) bool {
	limit = min(limit, len(p.free))
	free := 0
	for _, ok := range p.free[:limit] {
		if ok {
			free++
		}
	}
	if free >= lack {
		return true
	}
	var others []*resident // with pages below the limit
	for id, r := range p.spans {
		if r.used == p.clock {
			continue
		}
		low := 0
		for _, page := range r.pages {
			if page < limit {
				low++
			}
		}
		switch {
		case id.Value() == nil:
			p.shorten(r, 0)
			delete(p.spans, id)
			free += low
		case low > 0 && (all || !p.spares(r)):
			others = append(others, r)
		}
	}
	slices.SortFunc(others, func(a, b *resident) int { return cmp.Compare(a.used, b.used) })
	for _, r := range others {
		if free >= lack {
			break
		}
		for _, page := range r.pages {
			if page < limit {
				free++
			}
		}
		p.shorten(r, 0)
	}
	return free >= lack
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
