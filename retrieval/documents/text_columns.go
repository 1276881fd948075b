package documents

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// tallRow is a row of a table in plain text whose cells may have several lines.
type tallRow struct {
	first aligned    // its first line
	lines [][]string // the cells of all lines
}

// extent is where a cell or a column stands in a line, in characters.
type extent struct{ begin, end int }

// distance returns how far an extent is from another, 0 if they overlap.
func (s extent) distance(t extent) int { return max(0, t.begin-s.end+1, s.begin-t.end+1) }

// extents returns where the cells of a line stand.
func (a aligned) extents() []extent {
	out := make([]extent, len(a.cells))
	for i, cell := range a.cells {
		out[i] = extent{a.begins[i], a.begins[i] + utf8.RuneCountInString(cell)}
	}
	return out
}

// columnExtents returns where the columns of a table stand. Cells that overlap are in one column.
func columnExtents(rows []tallRow) (out []extent) {
	var all []extent
	for _, row := range rows {
		all = append(all, row.first.extents()...)
	}
	all = slices.DeleteFunc(all, func(s extent) bool { return s.begin == s.end })
	slices.SortFunc(all, func(s, t extent) int { return s.begin - t.begin })
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && out[last].distance(s) == 0 {
			out[last].end = max(out[last].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// place returns the cells of a row in the columns that they are next to.
func place(cells []string, at, columns []extent) []string {
	out := make([]string, len(columns))
	for i, cell := range cells {
		best := 0
		for c := range columns {
			if at[i].distance(columns[c]) < at[i].distance(columns[best]) {
				best = c
			}
		}
		out[best] = strings.TrimSpace(out[best] + " " + cell)
	}
	return out
}

// wordExtents returns the words of a line and where they stand.
func wordExtents(a aligned) (words []string, at []extent) {
	for i, cell := range a.cells {
		begin := a.begins[i]
		for word := range strings.SplitSeq(cell, " ") {
			words, at = append(words, word), append(at, extent{begin, begin + utf8.RuneCountInString(word)})
			begin += utf8.RuneCountInString(word) + 1
		}
	}
	return words, at
}

// placed returns the rows of a table with each cell in its column. Rows may lack cells, and the names of columns may have no
// more than a space between them. If it is unclear where the columns stand, cells count from the left.
func placed(rows []tallRow) [][]string {
	out := make([][]string, len(rows))
	most, least := 0, len(rows[0].first.cells) // cells of a row
	for i, row := range rows {
		out[i] = stacked(row.lines)
		most, least = max(most, len(row.first.cells)), min(least, len(row.first.cells))
	}
	if most == least {
		return out
	}
	columns := columnExtents(rows)
	if len(columns) != most {
		if columns = columnExtents(rows[1:]); len(columns) != most {
			return out
		}
		words, at := wordExtents(rows[0].first)
		rows, out[0] = rows[1:], place(words, at, columns)
	}
	body := out[len(out)-len(rows):]
	for i, row := range rows {
		body[i] = place(body[i], row.first.extents(), columns)
	}
	return out
}
