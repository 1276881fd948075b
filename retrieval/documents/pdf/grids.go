package pdf

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"tandem/retrieval/internal/blocks"
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
		cell := g.cellAt((b.left+b.right)/2, (b.bottom+b.top)/2)
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
	height := b.top - b.bottom
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
		if l.right-l.left > l.top-l.bottom {
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
		if n := g.cellAt((b.left+b.right)/2, (b.bottom+b.top)/2); n >= 0 {
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

// This file finds the columns of a grid whose lines divide only rows: they are where all rows leave a gap.

// split divides the only column of a grid at the gaps that its rows share, and so makes it a table. It does nothing and
// returns false if the rows are not those of a table but paragraphs between lines, or tables between headings. An open grid
// may have another row above its first line or below its last.
func (g *grid) split(ink *pageInk, open bool) bool {
	rows := g.letters(ink)
	gaps := sharedGaps(rows)
	if len(gaps) == 0 || len(gaps) >= blocks.MaxColumns || len(rows) != len(g.ys)-1 { // a line is missing somewhere
		return false
	}
	xs := slices.Concat(g.xs[:1], gaps, g.xs[1:])
	high, single := 0, 0 // rows with a cell of several lines; of them those with one of a single line
	var filled [][]box
	for _, row := range rows {
		used, least, most := countCells(row, xs)
		if used > 1 {
			filled = append(filled, row)
		}
		if used > 1 && most > 1 {
			high++
			single += min(1, max(0, 2-least))
		}
	}
	if len(filled) < 2 || 2*len(filled) < len(rows) || 2*single < high {
		return false
	}
	if g.xs = xs; open {
		g.extend(ink, slices.Concat(filled...))
	}
	columns := len(g.xs) - 1
	g.cells, g.fields = nil, make([]int, (len(g.ys)-1)*columns)
	for i := range g.fields {
		g.fields[i] = i
		g.cells = append(g.cells, cell{i / columns, i % columns, 1, 1})
	}
	return true
}

// countCells returns how many cells of a row have letters, and the least and the greatest number of lines in these.
func countCells(row []box, xs []float64) (used, least, most int) {
	cells := make([][]box, len(xs)-1)
	for _, b := range row {
		if c := sort.SearchFloat64s(xs, (b.left+b.right)/2) - 1; c >= 0 && c < len(cells) {
			cells[c] = append(cells[c], b)
		}
	}
	for _, cell := range cells {
		if n := countLines(cell); n > 0 {
			if used++; used == 1 {
				least = n
			}
			least, most = min(least, n), max(most, n)
		}
	}
	return used, least, most
}

// extend adds the row above the first line and that below the last if its letters leave the gaps between those of the other
// rows: the names of the columns often stand above all lines, and the last row below.
func (g *grid) extend(ink *pageInk, letters []box) {
	for _, above := range []bool{true, false} {
		row := g.rowBeyond(ink, letters, above)
		if row == nil {
			continue
		}
		xs := g.between(letters, row)
		if used, least, _ := countCells(row, xs); used < 2 || least > 1 {
			continue
		}
		letters = append(letters, row...)
		if g.xs = xs; above {
			top := slices.MaxFunc(row, func(a, b box) int { return cmp.Compare(a.top, b.top) }).top
			g.ys = slices.Insert(g.ys, 0, top+1)
		} else {
			bottom := slices.MinFunc(row, func(a, b box) int { return cmp.Compare(a.bottom, b.bottom) }).bottom
			g.ys = append(g.ys, bottom-1)
		}
	}
}

// between returns where the columns divide letters and those of another row: at the widest gap of that row within each gap
// between the others. It returns only the ends if there is none.
func (g *grid) between(letters, row []box) []float64 {
	last := len(g.xs) - 1
	xs := slices.Clone(g.xs)
	row = slices.SortedFunc(slices.Values(row), func(a, b box) int { return cmp.Compare(a.left, b.left) })
	for i := 1; i < last; i++ {
		low, high, widest := g.xs[0], g.xs[last], 1.0
		for _, b := range letters {
			if b.left+b.right < 2*g.xs[i] {
				low = max(low, b.right)
			} else {
				high = min(high, b.left)
			}
		}
		for _, b := range append(row, box{left: high, right: high}) {
			if wide := min(b.left, high) - low; wide > widest {
				xs[i], widest = low+wide/2, wide
			}
			low = max(low, b.right)
		}
		if widest == 1 {
			return []float64{xs[0], xs[last]}
		}
	}
	return xs
}

// maxHeadLines is the greatest number of lines of a row above or below all lines.
const maxHeadLines = 4

// rowBeyond returns the letters that stand close above the first line or below the last, if none is outside the table.
func (g *grid) rowBeyond(ink *pageInk, letters []box, above bool) []box {
	tall := 0.0
	for _, b := range letters {
		tall = max(tall, b.top-b.bottom)
	}
	away := func(b box) (from, to float64) { return b.bottom - g.ys[0], b.top - g.ys[0] }
	low, high := g.ys[0]-1, g.ys[0]+2*maxHeadLines*tall
	if last := g.ys[len(g.ys)-1]; !above {
		away = func(b box) (from, to float64) { return last - b.top, last - b.bottom }
		low, high = last-2*maxHeadLines*tall, last+1
	}
	var near []box
	for _, i := range ink.between(low, high) {
		b := ink.boxes[i]
		if from, to := away(b); from > -1 && to < 2*maxHeadLines*tall && b.right > g.xs[0] && b.left < g.xs[len(g.xs)-1] {
			near = append(near, b)
		}
	}
	slices.SortFunc(near, func(a, b box) int {
		x, _ := away(a)
		y, _ := away(b)
		return cmp.Compare(x, y)
	})
	reach := 0.8 * tall
	for n, b := range near {
		from, to := away(b)
		if from > reach+0.7*tall {
			return near[:n]
		}
		if b.left < g.xs[0]-ruleJoin || b.right > g.xs[len(g.xs)-1]+ruleJoin {
			return nil
		}
		reach = max(reach, to)
	}
	return near
}

// usualHeight returns the middle one of the heights of letters.
func usualHeight(letters []box) float64 {
	var heights []float64
	for _, b := range letters {
		heights = append(heights, b.top-b.bottom)
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}

// sharedGaps returns the middles of the gaps that the letters of all rows leave, but for rows of a single text without a
// gap, if they are few.
func sharedGaps(rows [][]box) []float64 {
	all := slices.Concat(rows...)
	if len(all) == 0 {
		return nil
	}
	height := usualHeight(all)
	var most []box
	single, filled := 0, 0
	for _, row := range rows {
		switch {
		case len(row) == 0:
			continue
		case countLines(row) == 1 && len(gapsOf(row, height)) == 0:
			single++
		default:
			most = append(most, row...)
		}
		filled++
	}
	gaps := gapsOf(all, height)
	if len(gaps) == 0 && 3*single <= filled {
		gaps = gapsOf(most, height)
	}
	return gaps
}

// gapsOf returns the middles of the gaps between letters, seen from above, that are wider than most letters are high.
func gapsOf(letters []box, height float64) (gaps []float64) {
	letters = slices.Clone(letters)
	slices.SortFunc(letters, func(a, b box) int { return cmp.Compare(a.left, b.left) })
	for i, right := 0, math.Inf(1); i < len(letters); i++ {
		if letters[i].left-right > height {
			gaps = append(gaps, (letters[i].left+right)/2)
		}
		if i == 0 {
			right = letters[0].right
		}
		right = max(right, letters[i].right)
	}
	return gaps
}

// countLines returns the number of lines that letters make.
func countLines(letters []box) (n int) {
	letters = slices.Clone(letters)
	slices.SortFunc(letters, func(a, b box) int { return cmp.Compare(b.bottom+b.top, a.bottom+a.top) })
	bottom := math.Inf(1)
	for _, b := range letters {
		if (b.bottom+b.top)/2 < bottom {
			n++
			bottom = b.bottom
		}
	}
	return n
}
