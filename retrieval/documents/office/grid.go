package office

import (
	"fmt"
	"slices"

	"tandem/retrieval/internal/blocks"
)

// Bounds of reading a workbook. Without them a few bytes, in a cell far to the right or with a long text that many cells share,
// could become many.
const (
	sheetColumns = 1 << 10
	sheetCells   = 4 << 20 // of a workbook, with the empty ones before others
)

var errWide = fmt.Errorf("a sheet has more than %d columns (save the part that matters as CSV)", sheetColumns)

// grid holds the cells of a sheet. Its counts are those of all sheets so far.
type grid struct {
	rows     [][]string
	cells    int
	size     int // bytes of text
	repeated int // bytes of what the file has once for several cells or rows
	err      error
}

// put sets a cell of the last row.
func (g *grid) put(column int, text string) {
	row := &g.rows[len(g.rows)-1]
	before := len(*row)
	switch {
	case g.err != nil:
		return
	case column >= sheetColumns:
		g.err = errWide
		return
	}
	if n := column + 1 - before; n > 0 {
		*row = append(*row, make([]string, n)...)
	}
	(*row)[column] = text
	g.count(len(*row)-before, len(text))
}

// count adds cells and bytes of text.
func (g *grid) count(cells, size int) {
	g.cells, g.size = g.cells+cells, g.size+size
	if g.size > blocks.MaxText {
		g.err = blocks.ErrMuchText
	} else if g.cells > sheetCells {
		g.err = fmt.Errorf("it has more than %d cells (save the part that matters as CSV)", sheetCells)
	}
}

// barSize is what a cell adds to its row, apart from its text.
const barSize = len(" | ")

// again reports whether a text may be repeated: what is repeated may not be much longer than what is not.
func (g *grid) again(size int) bool {
	if g.err != nil || g.repeated+size > 8*max(0, g.size-g.repeated)+512 {
		return false
	}
	g.repeated += size
	return true
}

// repeatRow appends the last row up to n times more.
func (g *grid) repeatRow(n int) {
	row := g.rows[len(g.rows)-1]
	size := 0
	for _, cell := range row {
		size += len(cell)
	}
	for ; n > 0 && size > 0 && g.again(size+barSize*len(row)); n-- {
		g.rows = append(g.rows, slices.Clone(row))
		g.count(len(row), size)
	}
}
