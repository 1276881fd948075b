package pdf

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"tandem/retrieval/internal/blocks"
)

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
	g.cellPerField()
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
		tall = max(tall, b.height())
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
		heights = append(heights, b.height())
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
