package blocks

import (
	"runtime"
	"testing"
)

// Names in many rows above a table are joined without a copy for each row: four times the rows take about four times the memory.
func TestHeadsAreJoinedOnce(t *testing.T) {
	cost := func(rows int) uint64 {
		var table Table
		for i := range rows {
			table.BeginRow()
			table.AddCell([]string{"one", "two"}[i%2], 1, 1)
		}
		table.BeginRow()
		table.AddCell("1", 1, 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, head := table.JoinHeads(rows); head != HasHead {
			t.Fatal("no head")
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, four := cost(1<<12), cost(1<<14); four > 8*one {
		t.Errorf("%d kB, %d kB for four times the rows", one>>10, four>>10)
	}
}
