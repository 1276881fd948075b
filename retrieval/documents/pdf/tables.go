package pdf

import (
	"math"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// This file makes tables from the texts in the cells of grids.

// table is a table of a PDF.
type table struct {
	blocks.Table
	bold  []bool    // by row: all its text is bold
	lefts []float64 // where its columns begin
}

// cellRuns returns the runs of each cell of each grid.
func (p page) cellRuns() [][][]run {
	cells := make([][][]run, len(p.grids))
	for i, g := range p.grids {
		cells[i] = make([][]run, len(g.cells))
	}
	for _, r := range p.runs {
		if r.grid > 0 {
			cells[r.grid-1][r.cell] = append(cells[r.grid-1][r.cell], r)
		}
	}
	return cells
}

// gridLines returns the tables of a grid, or the lines of cell after cell if the grid only places text on the page: it has
// text in one row or column only, or a long cell.
func gridLines(g grid, cells [][]run, words compounds) (out []line) {
	rows, columns, most := map[int]bool{}, map[int]bool{}, 0
	for n, runs := range cells {
		long := 0
		for _, r := range runs {
			long += english.CountWords(r.text)
		}
		if most = max(most, long); len(runs) > 0 {
			rows[g.cells[n].row], columns[g.cells[n].column] = true, true
		}
	}
	if len(rows) < 2 || len(columns) < 2 || most > blocks.LayoutWords {
		for _, runs := range cells {
			out = append(out, linesOf(rowsOf(runs))...)
		}
		return out
	}
	for _, part := range g.parts() {
		if form := g.formLines(part, cells, words); form != nil {
			out = append(out, form...)
		} else {
			out = append(out, line{run: lowest(part, cells), table: g.table(part, cells, words)})
		}
	}
	return out
}

// lowest returns the lowest run in some cells.
func lowest(part []int, cells [][]run) (low run) {
	for _, n := range part {
		for _, r := range cells[n] {
			if low.text == "" || r.base < low.base {
				low = r
			}
		}
	}
	return low
}

// parts returns the cells of each table of a grid, by their indices. Tables directly below each other share a grid. A row
// begins another table if it is divided at a place where the rows above are not, and these are divided at a place where
// it is not.
func (g *grid) parts() (parts [][]int) {
	columns := len(g.xs) - 1
	var above []bool // by column: a cell begins there in a row above
	for n := 0; n < len(g.cells); {
		row := g.cells[n].row
		begins, fresh := make([]bool, columns), true
		for c, field := range g.fields[row*columns:][:columns] {
			cell := g.cells[field]
			begins[c] = cell.column == c
			fresh = fresh && cell.row == row
		}
		more, fewer := false, false
		for c := range above {
			more, fewer = more || begins[c] && !above[c], fewer || above[c] && !begins[c]
		}
		if above == nil || more && fewer && fresh {
			parts, above = append(parts, nil), begins
		}
		for c := range above {
			above[c] = above[c] || begins[c]
		}
		for ; n < len(g.cells) && g.cells[n].row == row; n++ {
			parts[len(parts)-1] = append(parts[len(parts)-1], n)
		}
	}
	return parts
}

// table returns the table of some cells of a grid, in order.
func (g *grid) table(part []int, cells [][]run, words compounds) *table {
	column, row := make([]int, len(g.xs)), make([]int, len(g.ys)) // of the table, by those of the grid
	for _, n := range part {
		column[g.cells[n].column], row[g.cells[n].row] = 1, 1
	}
	t := &table{}
	for c, begins := range column {
		if begins > 0 {
			t.lefts = append(t.lefts, g.xs[c])
		}
	}
	number := func(begin []int) {
		n := 0
		for i, begins := range begin {
			begin[i] = n
			n += begins
		}
	}
	number(column)
	number(row)
	last := -1
	for _, n := range part {
		c := g.cells[n]
		if c.row != last {
			t.BeginRow()
			t.bold, last = append(t.bold, true), c.row
		}
		text, bold := words.cell(cells[n])
		t.AddCell(text, column[c.column+c.columns]-column[c.column], row[c.row+c.rows]-row[c.row])
		t.bold[len(t.bold)-1] = t.bold[len(t.bold)-1] && (bold || text == "")
	}
	return t
}

// goOn appends a table that stands directly below, mostly at the top of the next page, if its columns are the same. The names of
// the columns may be repeated there.
func (t *table) goOn(next *table) bool {
	if len(t.lefts) != len(next.lefts) || len(t.lefts) < 2 {
		return false
	}
	for i, left := range t.lefts {
		if math.Abs(left-next.lefts[i]) > ruleJoin {
			return false
		}
	}
	rows, bold := next.Rows, next.bold
	if len(rows) > 0 && len(t.Rows) > 0 && strings.Join(rows[0], "|") == strings.Join(t.Rows[0], "|") {
		rows, bold = rows[1:], bold[1:]
	}
	t.Rows, t.bold = append(t.Rows, rows...), append(t.bold, bold...)
	return true
}

// endTable adds the table that was kept because it might go on.
func (b *blockBuilder) endTable() {
	if b.table == nil {
		return
	}
	t := b.table
	b.table, b.plain = nil, 0
	heads := 0
	for heads < len(t.bold) && t.bold[heads] {
		heads++
	}
	if heads == 0 || heads == len(t.Rows) {
		b.doc.AddTable(t.Rows, blocks.GuessHead)
		return
	}
	b.doc.AddTable(t.JoinHeads(heads))
}
