package blocks

import (
	"slices"
	"strings"
	"testing"
)

// A table of any cells, of which some span others, becomes blocks whose text is bounded by that of the cells, and whose rows all
// have the same number of cells.
func FuzzTable(f *testing.F) {
	f.Add("Name|Price\nBread|2.50\nMilk|1.20", uint8(0), uint8(2))
	f.Add("||\na|b|c\nTotal||9", uint8(3), uint8(1))
	f.Add("wide"+strings.Repeat("|a", 40)+"\n1"+strings.Repeat("|b", 40), uint8(1), uint8(3))
	f.Add("2019|2020\n1|2\n| \n", uint8(7), uint8(0))
	f.Fuzz(func(t *testing.T, text string, spans, head uint8) {
		if len(text) > 1<<12 || strings.Count(text, "\n") > 200 {
			t.Skip()
		}
		var table Table
		cells := 0
		for r, line := range strings.Split(text, "\n") {
			table.BeginRow()
			for c, cell := range strings.Split(line, "|") {
				columns, rows := 1, 1
				if (r+c)%5 == int(spans%5) {
					columns, rows = int(spans%7), int(spans/7)
				}
				table.AddCell(cell, columns, rows)
				cells++
			}
		}
		rows, _ := table.JoinHeads(table.GuessHeads())
		var doc Document
		doc.AddTable(rows, Headed(head%4))
		size, bars := 0, -1
		for _, b := range doc.Blocks {
			size += len(b.Text)
			if b.Kind != TableRow && b.Kind != TableHead {
				continue
			}
			n := strings.Count(b.Text, " |")
			if strings.HasPrefix(b.Text, "|") {
				n++
			}
			if bars >= 0 && n != bars {
				t.Fatalf("rows of %d and %d cells: %q", bars+1, n+1, texts(doc))
			}
			bars = n
		}
		if most := (2*maxName+8)*(len(text)+cells) + 1<<16; size > most {
			t.Fatalf("%d bytes of text from %d", size, len(text))
		}
	})
}

func texts(d Document) (out []string) {
	for _, b := range d.Blocks {
		out = append(out, b.Text)
	}
	return slices.Clip(out)
}
