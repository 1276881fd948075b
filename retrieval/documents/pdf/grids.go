package pdf

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// This file makes grids of the lines on a page, and says in which cell a character stands. Lines that cross or touch make
// a grid. Where the lines between two fields are missing, the fields are one cell. Lines that only run below each other, or
// a box that only such lines divide, make the rows of a grid; columns.go finds its columns.

// grid is a grid of cells between the lines on a page.
type grid struct {
	xs, ys []float64 // of the lines, from left to right and from the top down
	cells  []cell    // row by row
	fields []int     // the cell of each field between lines, row by row
}

// cell is a cell of a grid: the field in its upper left corner, and how many fields it has each way.
type cell struct{ row, column, rows, columns int }

// rule is a line: horizontal at a y, or vertical at an x.
type rule struct{ at, from, to float64 }

const (
	ruleJoin   = 4.0     // points: lines that are no further apart touch, or are one
	maxCrosses = 1 << 22 // pairs of lines that are looked at on a page
	maxFields  = 1 << 13 // fields of a grid
)

// gridsOf returns the grids of a page with text in several cells. Of grids that lie in each other only the innermost are
// returned.
func gridsOf(lines []box, ink *pageInk) (grids []grid) {
	across, down := rulesOf(lines)
	if len(across)*len(down) > maxCrosses {
		return nil
	}
	for _, part := range connected(across, down) {
		g, ok := newGrid(part.across, part.down)
		if !ok {
			continue
		}
		if len(g.xs) == 2 && !g.split(ink, len(part.down) == 0) && len(part.down) == 0 {
			continue
		}
		filled := 0
		for _, letters := range g.letters(ink) {
			filled += min(1, len(letters))
		}
		if filled > 1 && !g.cutsWords(ink) {
			grids = append(grids, g)
		}
		if ink.left < 0 {
			return nil
		}
	}
	return innermost(grids)
}

// maxLooks is the greatest number of letters that are looked at for all grids of a page. A page that needs more is a drawing.
const maxLooks = 1 << 23

// pageInk is the letters of a page.
type pageInk struct {
	boxes []box // in the order of reading
	up    []int // indices of boxes, from the lowest middle to the highest
	left  int   // letters that may still be looked at
}

func newInk(boxes []box) *pageInk {
	k := &pageInk{boxes, make([]int, len(boxes)), maxLooks}
	for i := range k.up {
		k.up[i] = i
	}
	slices.SortFunc(k.up, func(i, j int) int { return cmp.Compare(k.middle(i), k.middle(j)) })
	return k
}

// middle returns the y of the middle of letter i.
func (k *pageInk) middle(i int) float64 { return (k.boxes[i].bottom + k.boxes[i].top) / 2 }

// between returns the letters whose middles lie between two heights, in the order of reading. It returns none once too many
// have been looked at.
func (k *pageInk) between(low, high float64) []int {
	from := sort.Search(len(k.up), func(n int) bool { return k.middle(k.up[n]) >= low })
	n := sort.Search(len(k.up)-from, func(n int) bool { return k.middle(k.up[from+n]) > high })
	if k.left -= n; k.left < 0 {
		return nil
	}
	return slices.Sorted(slices.Values(k.up[from : from+n]))
}

// in returns the letters at the height of a grid.
func (k *pageInk) in(g *grid) []int { return k.between(g.ys[len(g.ys)-1], g.ys[0]) }

// cutsWords reports whether lines run through many words, as those of a chart do.
func (g *grid) cutsWords(ink *pageInk) bool {
	pairs, cut := 0, 0
	last, before := -1, -1 // the cell and the index of the letter before
	for _, i := range ink.in(g) {
		b := ink.boxes[i]
		cell := g.cellAt(b.center())
		if cell >= 0 && last >= 0 && before == i-1 && touches(ink.boxes[before], b) {
			if pairs++; cell != last {
				cut++
			}
		}
		last, before = cell, i
	}
	return cut > 2 && 12*cut > pairs
}

// touches reports whether a letter stands in the line of the one before it, without a space between them.
func touches(before, b box) bool {
	height := b.height()
	return min(b.top, before.top)-max(b.bottom, before.bottom) > 0.3*height && math.Abs(before.gap(b)) < 0.3*height
}

// innermost returns the grids that hold no other grid, from the top of the page down.
func innermost(grids []grid) (out []grid) {
	for i, g := range grids {
		if !slices.ContainsFunc(grids, func(o grid) bool {
			x, y := (o.xs[0]+o.xs[len(o.xs)-1])/2, (o.ys[0]+o.ys[len(o.ys)-1])/2
			return g.cellAt(x, y) >= 0 && o.width()*o.height() < g.width()*g.height()
		}) && len(out) < maxPageGrids {
			out = append(out, grids[i])
		}
	}
	slices.SortStableFunc(out, func(a, b grid) int { return cmp.Compare(b.ys[0], a.ys[0]) })
	return out
}

// maxPageGrids is the greatest number of grids of a page.
const maxPageGrids = 64

func (g *grid) width() float64  { return g.xs[len(g.xs)-1] - g.xs[0] }
func (g *grid) height() float64 { return g.ys[0] - g.ys[len(g.ys)-1] }

// rulesOf returns lines by their direction. Pieces of a line are joined.
func rulesOf(lines []box) (across, down []rule) {
	for _, l := range lines {
		if l.width() > l.height() {
			across = append(across, rule{(l.bottom + l.top) / 2, l.left, l.right})
		} else {
			down = append(down, rule{(l.left + l.right) / 2, l.bottom, l.top})
		}
	}
	return joinRules(across), joinRules(down)
}

// maxRules is the greatest number of lines of a page in one direction; a page with more is a drawing.
const maxRules = 1 << 12

// joinRules joins lines of one direction that go on from each other. It returns none if there are too many.
func joinRules(rules []rule) (out []rule) {
	if len(rules) > maxRules {
		return nil
	}
	slices.SortFunc(rules, func(a, b rule) int {
		return cmp.Or(cmp.Compare(math.Round(a.at), math.Round(b.at)), cmp.Compare(a.from, b.from))
	})
	for _, r := range rules {
		joined := false
		for i := len(out) - 1; i >= 0 && r.at-out[i].at < 2 && !joined; i-- {
			if o := &out[i]; math.Abs(r.at-o.at) <= 1 && r.from <= o.to+ruleJoin && r.to >= o.from-ruleJoin {
				o.from, o.to, joined = min(o.from, r.from), max(o.to, r.to), true
			}
		}
		if !joined {
			out = append(out, r)
		}
	}
	return out
}

// gridRules is the lines of a grid.
type gridRules struct{ across, down []rule }

// connected returns the lines that cross or touch each other together, and so the horizontal ones without a vertical one
// that begin and end alike.
func connected(across, down []rule) (parts []gridRules) {
	sets := newSets(len(across) + len(down))
	alone := make([]bool, len(across))
	for i, a := range across {
		alone[i] = true
		for j, d := range down {
			if d.at >= a.from-ruleJoin && d.at <= a.to+ruleJoin && a.at >= d.from-ruleJoin && a.at <= d.to+ruleJoin {
				sets.join(i, len(across)+j)
				alone[i] = false
			}
		}
	}
	last := map[[2]int]int{} // the index of a line that begins and ends there
	for i, a := range across {
		if !alone[i] {
			continue
		}
		ends := [2]int{int(math.Round(a.from / ruleJoin)), int(math.Round(a.to / ruleJoin))}
		if before, ok := last[ends]; ok {
			sets.join(i, before)
		}
		last[ends] = i
	}
	byRoot := map[int]*gridRules{}
	var roots []int
	of := func(i int) *gridRules {
		root := sets.root(i)
		if byRoot[root] == nil {
			byRoot[root] = &gridRules{}
			roots = append(roots, root)
		}
		return byRoot[root]
	}
	for i, a := range across {
		p := of(i)
		p.across = append(p.across, a)
	}
	for j, d := range down {
		p := of(len(across) + j)
		p.down = append(p.down, d)
	}
	for _, root := range roots {
		parts = append(parts, *byRoot[root])
	}
	return parts
}

// newGrid returns the grid that lines make. The ends of lines close it at sides where it is open. ok is false for what is
// no grid: lines in one direction only, a single box, or cells that are no rectangles.
func newGrid(across, down []rule) (g grid, ok bool) {
	if len(across) == 0 || len(across)+len(down) < 3 {
		return g, false
	}
	g.xs, g.ys = places(down, across), places(across, down)
	columns, rows := len(g.xs)-1, len(g.ys)-1
	if columns < 1 || rows < 1 || rows*columns < 2 || rows*columns > maxFields {
		return g, false
	}
	below := covered(across, g.ys, g.xs) // by line and column
	beside := covered(down, g.xs, g.ys)  // by line and row
	slices.Reverse(g.ys)
	sets := newSets(rows * columns)
	for r := range rows {
		for c := range columns {
			if up := rows - 1 - r; c+1 < columns && !beside[(c+1)*rows+up] {
				sets.join(r*columns+c, r*columns+c+1)
			}
			if line := rows - 1 - r; r+1 < rows && !below[line*columns+c] {
				sets.join(r*columns+c, (r+1)*columns+c)
			}
		}
	}
	return g, g.fill(sets)
}

// places returns where lines are, in ascending order, and the ends of the lines across them where these reach further.
func places(rules, ends []rule) (at []float64) {
	var all []float64
	for _, r := range rules {
		all = append(all, r.at)
	}
	slices.Sort(all)
	for i := 0; i < len(all); {
		n, sum := i, 0.0
		for ; n < len(all) && all[n]-all[i] <= ruleJoin; n++ {
			sum += all[n]
		}
		at = append(at, sum/float64(n-i))
		i = n
	}
	if len(ends) == 0 {
		return at
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, e := range ends {
		low, high = min(low, e.from), max(high, e.to)
	}
	if len(at) == 0 || low < at[0]-2*ruleJoin {
		at = slices.Insert(at, 0, low)
	}
	if high > at[len(at)-1]+2*ruleJoin {
		at = append(at, high)
	}
	return at
}

// covered reports for each place of lines and each stretch between the places across them whether lines run along most of it.
func covered(rules []rule, at, across []float64) []bool {
	stretches := len(across) - 1
	long := make([]float64, len(at)*stretches)
	for _, r := range rules {
		line := nearest(at, r.at)
		for s := max(0, sort.SearchFloat64s(across, r.from)-1); s < stretches && across[s] < r.to; s++ {
			long[line*stretches+s] += max(0, min(r.to, across[s+1])-max(r.from, across[s]))
		}
	}
	out := make([]bool, len(long))
	for i, l := range long {
		s := i % stretches
		out[i] = l > 0.5*(across[s+1]-across[s])
	}
	return out
}

// nearest returns the index of the number in ascending ones that is nearest to x.
func nearest(ascending []float64, x float64) int {
	i := min(sort.SearchFloat64s(ascending, x), len(ascending)-1)
	if i > 0 && x-ascending[i-1] < ascending[i]-x {
		i--
	}
	return i
}

// fill makes the cells of sets of fields. It reports whether all are rectangles.
func (g *grid) fill(sets sets) bool {
	columns, rows := len(g.xs)-1, len(g.ys)-1
	g.fields = make([]int, rows*columns)
	count := []int{} // fields by cell
	at := map[int]int{}
	for i := range g.fields {
		root := sets.root(i)
		n, known := at[root]
		if !known {
			n = len(g.cells)
			at[root] = n
			g.cells, count = append(g.cells, cell{i / columns, i % columns, 1, 1}), append(count, 0)
		}
		c := &g.cells[n]
		if i%columns < c.column {
			return false
		}
		c.rows, c.columns = max(c.rows, i/columns-c.row+1), max(c.columns, i%columns-c.column+1)
		count[n]++
		g.fields[i] = n
	}
	for n, c := range g.cells {
		if count[n] != c.rows*c.columns {
			return false
		}
	}
	return len(g.cells) > 1
}

// cellPerField makes each field a cell.
func (g *grid) cellPerField() {
	columns, rows := len(g.xs)-1, len(g.ys)-1
	g.cells, g.fields = make([]cell, rows*columns), make([]int, rows*columns)
	for i := range g.fields {
		g.cells[i], g.fields[i] = cell{i / columns, i % columns, 1, 1}, i
	}
}

// cellAt returns the index of the cell at a place, or -1 if the place is outside the grid.
func (g *grid) cellAt(x, y float64) int {
	columns, rows := len(g.xs)-1, len(g.ys)-1
	c := sort.SearchFloat64s(g.xs, x) - 1
	r := sort.Search(rows+1, func(i int) bool { return g.ys[i] <= y }) - 1
	if c < 0 || c >= columns || r < 0 || r >= rows {
		return -1
	}
	return g.fields[r*columns+c]
}

// letters returns the boxes of the letters in each cell.
func (g *grid) letters(ink *pageInk) [][]box {
	out := make([][]box, len(g.cells))
	for _, i := range ink.in(g) {
		b := ink.boxes[i]
		if n := g.cellAt(b.center()); n >= 0 {
			out[n] = append(out[n], b)
		}
	}
	return out
}

// sets are disjoint sets of numbers from 0 on: each number's parent, which is itself for the root of a set.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) root(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(i, j int) { s[s.root(i)] = s.root(j) }
