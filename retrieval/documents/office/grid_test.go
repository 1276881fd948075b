package office

import (
	"runtime"
	"testing"

	"tandem/retrieval/internal/blocks"
)

// Rows without text take no memory, and more rows with text than a document may have blocks are refused before they are kept.
func TestRowsOfSheets(t *testing.T) {
	var empty grid
	for range sheetCells / 2 {
		empty.addRow()
	}
	if empty.put(1, "x"); len(empty.rows) != 1 || empty.err != nil {
		t.Errorf("%d rows, %v", len(empty.rows), empty.err)
	}
	var many grid
	for range 2*blocks.MaxBlocks + 10 {
		if many.addRow(); many.err == nil {
			many.put(0, "x")
		}
	}
	if many.err != errRows || len(many.rows) > 2*blocks.MaxBlocks+1 {
		t.Errorf("%d rows, %v", len(many.rows), many.err)
	}
}

// Rows that have ended have little room to grow.
func TestMemoryOfCells(t *testing.T) {
	const rows, columns = 1 << 10, 520 // a row of 520 cells has grown to 848
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var g grid
	for range rows {
		g.addRow()
		for c := range columns {
			g.put(c, "x")
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if per := float64(after.HeapAlloc-before.HeapAlloc) / (rows * columns); per > 20 || len(g.rows) != rows {
		t.Errorf("%.0f bytes for each cell of %d rows", per, len(g.rows))
	}
}
