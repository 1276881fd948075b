package blocks

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"tandem/internal/allocated"
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
		return allocated.Bytes(func() {
			if _, head := table.JoinHeads(rows); head != HasHead {
				t.Fatal("no head")
			}
		})
	}
	if one, four := cost(1<<12), cost(1<<14); four > 8*one {
		t.Errorf("%d kB, %d kB for four times the rows", one>>10, four>>10)
	}
}

// Merged cells that reach down do not make each row wider than the one above without end.
func TestMergedCellsAreBounded(t *testing.T) {
	const rows = 1 << 9
	var table Table
	for range rows {
		table.BeginRow()
		table.AddCell("merged", MaxColumns, rows)
		table.AddCell("own", 1, 1)
	}
	cells := 0
	for _, row := range table.Rows {
		cells += len(row)
	}
	if cells > 10*2*rows+1000 {
		t.Errorf("%d cells of %d", cells, 2*rows)
	}
}

// A table is trimmed in its own memory: that of a large sheet is most of what reading it takes.
func TestTrimmingCopiesNoCells(t *testing.T) {
	rows := make([][]string, 1<<6)
	for i := range rows {
		rows[i] = make([]string, 1<<14)
		rows[i][1], rows[i][len(rows[i])-1] = "x", "y"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _ := trimTable(rows)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 || len(out) != len(rows) || !slices.Equal(out[9], []string{"x", "y"}) {
		t.Errorf("%d kB; %d rows, such as %q", took>>10, len(out), out[9])
	}
}

// Days of a week with their dates name columns; a row of figures does not.
func TestNamesColumnsDays(t *testing.T) {
	for _, c := range []struct {
		cells string
		want  bool
	}{
		{"|Mon 6.4.|Tue 7.4.", true},
		{"Who|Mo 06/04|Di 07/04", true},
		{"Mon 6.4.|Ada|early", false},
		{"Mon 6.4.|7-15|8-16", false},
		{"Ada|Mon 6.4.|17.20", false},
		{"Ada|B12 6.4.|B13 7.4.", false},
	} {
		if got := NamesColumns(strings.Split(c.cells, "|")); got != c.want {
			t.Errorf("%q: %v", c.cells, got)
		}
	}
}
