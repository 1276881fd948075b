package pdf

import (
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"

	"tandem/retrieval/internal/textline"
)

// This file finds tables without ruling lines, by the positions of pieces of text. Programs draw a table row by row, and a row
// cell by cell or line by line. So a table is a sequence of pieces that lie in columns and return to the left for each row,
// whereas columns of running text are drawn one after the other. The columns are separated by the strips of the page that all
// pieces leave free.

// Distances in a table without lines, in units of the font's size.
const (
	pieceGap    = 0.55 // pieces of a line with a wider gap may be cells,
	spaceGap    = 0.35 // if it is also wider than most spaces by that much
	madeGap     = 0.3  // and so may they with a narrower one without a space in the file
	sureGap     = 1.0  // the narrowest gap between columns of few rows of single lines
	wideSpace   = 1.3  // the widest space between words of a cell
	cellLeading = 1.9  // the greatest distance of the lines of a cell
	rowDistance = 3.4  // the greatest distance of rows, unless those above are as far apart
	otherSize   = 1.15 // a piece that is larger by that much than all others is a heading
)

// maxCellLines is the greatest number of lines by which a cell begins above the one before it in its row.
const maxCellLines = 4

// sureRows is the least number of rows of single lines that show where columns are by narrow gaps.
const sureRows = 4

// maxUnruledRows is the greatest number of rows of a table without lines.
const maxUnruledRows = 1 << 11

// maxRowPieces is the number of pieces of a row to which no further line is joined.
const maxRowPieces = 1 << 8

// maxMerged is the greatest number of rows of a table when two of its columns are found to be one.
const maxMerged = 16

// unruledTable is a table that grows with the pieces of a page, in the order in which they are drawn.
type unruledTable struct {
	columns          []box // from left to right; only their left and right edges count
	rows             [][]run
	low              []float64 // by row: the base of its lowest line
	step             float64   // the greatest distance of two rows
	largest, tiniest float64   // sizes
}

// unruledGrids returns the grids that pieces make which stand in no grid and run in the direction of most of the page's text.
func unruledGrids(pieces []run, angle float64) (grids []grid) {
	from := 0
	for i := 0; i+1 < len(pieces) && len(grids) < maxPageGrids; {
		begin, ok := firstCell(pieces, from, i, angle)
		if !ok {
			i++
			continue
		}
		var t unruledTable
		end := begin + t.grow(pieces[begin:], angle)
		if g, ok := t.grid(); ok {
			grids = append(grids, g)
		}
		i = max(end, i+1)
		from = i
	}
	return grids
}

// firstCell reports whether piece i ends the first cell of a row, which is so if the next piece is to its right, and returns
// the index at which that cell begins: at the line at the height of the next piece, or as far above that line as the cell
// extends below it.
func firstCell(pieces []run, from, i int, angle float64) (begin int, ok bool) {
	a, b := pieces[i], pieces[i+1]
	size := max(a.font.size, b.font.size)
	if !inText(a, angle) || !inText(b, angle) || b.box.left-a.box.right < pieceGap*size || b.base < a.base-0.5*size || b.base > a.base+maxCellLines*cellLeading*size {
		return 0, false
	}
	most := b.base + 0.3*size
	for begin = i; begin > from && pieces[begin].base < b.base-0.3*size; begin-- {
		above := pieces[begin-1]
		if dy := above.base - pieces[begin].base; !inText(above, angle) || above.box.right > b.box.left || dy <= 0 || dy > cellLeading*size || above.base > most+b.base-a.base {
			break
		}
	}
	return begin, true
}

// inText reports whether a piece may stand in a table without lines.
func inText(p run, angle float64) bool { return p.grid == 0 && !turned(p.angle, angle) }

// grow adds pieces from the start of pieces on, as long as they may be those of one table. It returns the number of them that
// are in whole rows.
func (t *unruledTable) grow(pieces []run, angle float64) int {
	for i, p := range pieces {
		t.merge(p)
		t.reopen(p)
		next, top := t.begins(p), p.base
		if last := len(t.rows) - 1; last >= 0 && i+1 < len(pieces) && pieces[i+1].box.left > p.box.right && pieces[i+1].base < t.low[last]-0.3*p.font.size {
			top = max(top, pieces[i+1].base) // the next cell begins higher
		}
		if !inText(p, angle) || len(t.rows) > 0 && !t.holds(p, next, top) {
			if last := len(t.rows) - 1; !next && last > 0 { // the last row is not whole
				i -= len(t.rows[last])
				t.rows = t.rows[:last]
			}
			return i
		}
		t.add(p, next, top)
	}
	return len(pieces)
}

// reopen joins the last two rows if a piece is as high as the first of them, and the second is only the next line of one of its
// cells. Some programs draw the first lines of all cells before the others.
func (t *unruledTable) reopen(p run) {
	last := len(t.rows) - 1
	if last < 1 || p.base < t.low[last-1]-0.3*p.font.size || t.filled(t.rows[last]) > 1 || t.filled(t.rows[last-1]) < 2 {
		return
	}
	c := t.column(p)
	for _, q := range t.rows[last-1] {
		if t.column(q) == c {
			return
		}
	}
	t.rows[last-1] = append(t.rows[last-1], t.rows[last]...)
	t.low[last-1] = min(t.low[last-1], t.low[last])
	t.rows, t.low = t.rows[:last], t.low[:last]
}

// begins reports whether a piece begins a row.
func (t *unruledTable) begins(p run) bool {
	if len(t.rows) == 0 {
		return true
	}
	row, low := t.rows[len(t.rows)-1], t.low[len(t.rows)-1]
	last := row[len(row)-1]
	size := max(p.font.size, last.font.size)
	beside := math.Abs(p.base-last.base) < 0.5*size
	at, before := t.column(p), t.column(last)
	switch {
	case beside:
		return false
	case at == before:
		return p.base > last.base || last.base-p.base > cellLeading*size
	case at > before:
		return p.base < low-0.5*size
	}
	return true
}

// column returns where a piece stands among the columns: twice the index of the last column that begins left of it or that
// it touches, and one more if it touches none.
func (t *unruledTable) column(p run) int {
	c := sort.Search(len(t.columns), func(i int) bool { return t.columns[i].right > p.box.left-0.1*p.font.size })
	if c < len(t.columns) && t.columns[c].left < p.box.right {
		return 2 * c
	}
	return 2*c - 1
}

// merge makes one column of those over which a piece reaches if none of the rows, of which there are few, has cells in two of
// them. Pieces of a line with gaps that are only wide spaces are those of one cell.
func (t *unruledTable) merge(p run) {
	c := t.column(p)
	first, last := c/2, t.lastBelow(p)
	if c < 0 || c%2 > 0 || last <= first || len(t.rows) > maxMerged {
		return
	}
	for _, row := range t.rows {
		before := run{}
		for _, q := range row {
			if at := t.column(q) / 2; at < first || at > last {
				continue
			}
			if before.text != "" && t.column(before) != t.column(q) && (first == 0 || before.box.gap(q.box) > wideSpace*q.font.size || math.Abs(before.base-q.base) > 0.5*q.font.size) {
				return
			}
			before = q
		}
	}
	for _, other := range t.columns[first+1 : last+1] {
		t.columns[first] = t.columns[first].union(other)
	}
	t.columns = slices.Delete(t.columns, first+1, last+1)
}

// lastBelow returns the index of the last column over which a piece reaches.
func (t *unruledTable) lastBelow(p run) int {
	return sort.Search(len(t.columns), func(i int) bool { return t.columns[i].left > p.box.right+0.3*p.font.size }) - 1
}

// holds reports whether a piece may stand in the table, at the start of a row that reaches up to top or in the last row.
func (t *unruledTable) holds(p run, next bool, top float64) bool {
	last, size := len(t.rows)-1, p.font.size
	c := t.column(p)
	switch {
	case t.lastBelow(p) > max(c, 0)/2: // above or below several columns
		return false
	case c%2 != 0 && len(t.columns) == maxCells, next && len(t.rows) == maxUnruledRows:
		return false
	case next && len(t.columns) < 3 && c == 0 && textline.ListMark.MatchString(p.text) != textline.ListMark.MatchString(t.rows[last][0].text): // a list begins or ends
		return false
	case next:
		down := t.low[last] - top
		return down > 0.3*size && down < max(rowDistance*t.largest, 1.5*t.step) && (len(t.rows) < 2 || size < otherSize*t.largest && size > t.tiniest/otherSize)
	case last > 0:
		return p.base < t.low[last-1]-0.3*size
	}
	return p.base < t.rows[0][0].base+maxCellLines*cellLeading*size
}

// add adds a piece that the table holds.
func (t *unruledTable) add(p run, next bool, top float64) {
	if next {
		if n := len(t.rows); n > 0 {
			t.step = max(t.step, t.low[n-1]-top)
		}
		t.rows, t.low = append(t.rows, nil), append(t.low, p.base)
	}
	last := len(t.rows) - 1
	t.rows[last], t.low[last] = append(t.rows[last], p), min(t.low[last], p.base)
	t.largest = max(t.largest, p.font.size)
	if t.tiniest == 0 || p.font.size < t.tiniest {
		t.tiniest = p.font.size
	}
	if c := t.column(p); c%2 == 0 {
		t.columns[c/2] = t.columns[c/2].union(p.box)
	} else {
		t.columns = slices.Insert(t.columns, (c+1)/2, p.box)
	}
}

// grid returns the grid of a table that has grown. ok is false if the pieces make none.
func (t *unruledTable) grid() (g grid, ok bool) {
	whole := t.goesUp()
	if !whole {
		if t.isText() {
			return g, false
		}
		t.joinLines()
	}
	for len(t.rows) > 0 && t.isOther(t.rows[len(t.rows)-1]) {
		t.rows = t.rows[:len(t.rows)-1]
	}
	for len(t.rows) > 0 && t.isOther(t.rows[0]) {
		t.rows = t.rows[1:]
	}
	several := 0
	for _, row := range t.rows {
		several += min(1, t.filled(row)-1)
	}
	if several < 2 || len(t.columns) < 2 || several < sureRows && !whole && !t.isApart() && t.narrowest() < sureGap*t.largest || t.isList() {
		return g, false
	}
	t.place(&g)
	return g, true
}

// isOther reports whether a row at the edge of a table is none of it but a line of text in one column, or a heading: "7
// SERVICE".
func (t *unruledTable) isOther(row []run) bool {
	return t.filled(row) < 2 || len(row) == 2 && sectionNumber.MatchString(row[0].text) && textline.IsMarked(row[0].text+" "+row[1].text)
}

// sectionNumber is the number of a section.
var sectionNumber = regexp.MustCompile(`^\d{1,2}(\.\d{1,2})*\.?$`)

// goesUp reports whether cells are drawn one after the other, so that the drawing position moves up from the last line of a
// cell to the first line of the next.
func (t *unruledTable) goesUp() bool {
	for _, row := range t.rows {
		for i := 1; i < len(row); i++ {
			if row[i].base > row[i-1].base+0.5*row[i].font.size {
				return true
			}
		}
	}
	return false
}

// isList reports whether the first of two columns has the marks of a list.
func (t *unruledTable) isList() bool {
	marks := 0
	for _, row := range t.rows {
		if t.column(row[0]) == 0 && textline.ListMark.MatchString(row[0].text) {
			marks++
		}
	}
	return len(t.columns) == 2 && 2*marks > len(t.rows)
}

// isText reports whether the lines of two columns are running text.
func (t *unruledTable) isText() bool {
	columns := make([][]run, len(t.columns))
	for _, p := range slices.Concat(t.rows...) {
		c := t.column(p) / 2
		columns[c] = append(columns[c], p)
	}
	texts := 0
	for _, column := range columns {
		if isText(byLine(column)) {
			texts++
		}
	}
	return texts > 1
}

// byLine groups pieces that are drawn one after the other on a line.
func byLine(pieces []run) (lines [][]run) {
	for _, p := range pieces {
		if n := len(lines); n > 0 && math.Abs(lines[n-1][0].base-p.base) < 0.5*p.font.size {
			lines[n-1] = append(lines[n-1], p)
		} else {
			lines = append(lines, []run{p})
		}
	}
	return lines
}

// filled returns the number of columns in which a row has text.
func (t *unruledTable) filled(row []run) (n int) {
	used := make([]bool, len(t.columns))
	for _, p := range row {
		if c := t.column(p) / 2; !used[c] {
			used[c] = true
			n++
		}
	}
	return n
}

// isApart reports whether the file has spaces, but none between the cells.
func (t *unruledTable) isApart() bool {
	for _, row := range t.rows {
		for _, p := range row {
			if p.joined && !p.apart {
				return false
			}
		}
	}
	return true
}

// narrowest returns the width of the narrowest gap between columns.
func (t *unruledTable) narrowest() float64 {
	gap := math.Inf(1)
	for i := 1; i < len(t.columns); i++ {
		gap = min(gap, t.columns[i].left-t.columns[i-1].right)
	}
	return gap
}

// joinLines makes rows of lines that are drawn one after the other across the cells.
func (t *unruledTable) joinLines() {
	var rows [][]run
	lines := byLine(slices.Concat(t.rows...))
	near, named := t.closeStep(lines), areNamed(lines)
	for i, line := range lines {
		if last := len(rows) - 1; i > 0 && (named && i%2 > 0 || !named && t.goesOn(rows[last], line, lines[i-1][0].base-line[0].base < near)) {
			rows[last] = append(rows[last], line...)
		} else {
			rows = append(rows, slices.Clone(line))
		}
	}
	t.rows = rows
}

// areNamed reports whether each second line has values, in larger letters than the names in the line above it.
func areNamed(lines [][]run) bool {
	for i := 1; i < len(lines); i += 2 {
		if lines[i-1][0].font.size > 0.9*lines[i][0].font.size {
			return false
		}
	}
	return len(lines) > 2 && len(lines)%2 == 0
}

// closeStep returns the distance below which lines are of one row, if those of rows are further apart: most of the lines that
// are close to the one above have fewer cells.
func (t *unruledTable) closeStep(lines [][]run) float64 {
	least, most := math.Inf(1), 0.0
	for i := 1; i < len(lines); i++ {
		step := lines[i-1][0].base - lines[i][0].base
		least, most = min(least, step), max(most, step)
	}
	if most < 1.2*least {
		return 0
	}
	near, fewer := 0, 0
	for i := 1; i < len(lines); i++ {
		if lines[i-1][0].base-lines[i][0].base < 1.1*least {
			near++
			if t.filled(lines[i]) < t.filled(lines[i-1]) || t.column(lines[i][0]) > 0 {
				fewer++
			}
		}
	}
	if 2*fewer <= near {
		return 0
	}
	return 1.1 * least
}

// goesOn reports whether a line continues the cells of the row above it. A near line does unless it begins a cell. Another
// line does only if its text continues a sentence and it has no first cell.
func (t *unruledTable) goesOn(row, line []run, near bool) bool {
	if len(row) > maxRowPieces {
		return false
	}
	for _, p := range line {
		above := -1
		for i, q := range row {
			if t.column(q) == t.column(p) {
				above = i
			}
		}
		if above < 0 {
			return false
		}
		c := t.columns[t.column(p)/2]
		word, _, _ := strings.Cut(p.text, " ")
		wide := p.box.width() * float64(len(word)+1) / float64(len(p.text))
		fits := c.width()-row[above].box.width() > wide
		if !near && !textline.BeginsLower(p.text) && (t.column(line[0]) == 0 || fits || textline.IsFigure(p.text)) {
			return false
		}
	}
	return true
}

// place makes the cells of a grid: one for each row and column.
func (t *unruledTable) place(g *grid) {
	for i, c := range t.columns {
		if i == 0 {
			g.xs = append(g.xs, c.left-1)
		} else {
			g.xs = append(g.xs, (t.columns[i-1].right+c.left)/2)
		}
	}
	g.xs = append(g.xs, t.columns[len(t.columns)-1].right+1)
	var bottom float64
	for i, row := range t.rows {
		box, high, low, size := row[0].box, row[0].base, row[0].base, row[0].font.size
		for _, p := range row {
			box = box.union(p.box)
			high, low = max(high, p.base), min(low, p.base)
			size = min(size, p.font.size)
		}
		if i == 0 {
			g.ys = append(g.ys, box.top+1)
		} else {
			g.ys = append(g.ys, (bottom+high)/2+0.3*size)
		}
		bottom = low
		if i == len(t.rows)-1 {
			g.ys = append(g.ys, box.bottom-1)
		}
	}
	g.cellPerField()
}
