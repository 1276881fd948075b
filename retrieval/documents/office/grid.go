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
	sheetCells   = 4 << 20 // of a workbook, with rows and the empty cells before others; also of texts that cells share
)

var errCells = fmt.Errorf("it has more than %d rows and cells (save the part that matters as CSV)", sheetCells)

var errRows = fmt.Errorf("a sheet has more than %d rows: divide it into several files", blocks.MaxBlocks)

var errWide = fmt.Errorf("a sheet has more than %d columns (save the part that matters as CSV)", sheetColumns)

// grid holds the cells of a sheet. Its counts are those of all sheets so far.
type grid struct {
	rows     [][]string
	cells    int
	size     int // bytes of text
	repeated int // bytes of what the file has once for several cells or rows
	err      error
}

// addRow begins a row. Empty rows that follow each other become one: they could be most of a file, and tell no more.
func (g *grid) addRow() {
	last := len(g.rows) - 1
	switch {
	case !g.count(1, 0), last >= 0 && len(g.rows[last]) == 0:
		return
	case last >= 2*blocks.MaxBlocks: // at least half of them have text, so they would become too many blocks
		g.err = errRows
		return
	case last >= 0:
		g.rows[last] = slices.Clone(g.rows[last]) // without the room to grow
	}
	g.rows = append(g.rows, nil)
}

// put sets a cell of the last row.
func (g *grid) put(column int, text string) {
	if column >= sheetColumns && g.err == nil {
		g.err = errWide
	}
	if g.err != nil {
		return
	}
	row := &g.rows[len(g.rows)-1]
	missing := max(0, column+1-len(*row))
	if !g.count(missing, len(text)) {
		return
	}
	if missing > 0 {
		*row = append(*row, make([]string, missing)...)
	}
	(*row)[column] = text
}

// count counts rows or cells, and bytes of text. It reports whether there may be as many more.
func (g *grid) count(cells, size int) bool {
	g.cells, g.size = g.cells+cells, g.size+size
	if g.size > blocks.MaxText {
		g.err = blocks.ErrMuchText
	} else if g.cells > sheetCells {
		g.err = errCells
	}
	return g.err == nil
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
