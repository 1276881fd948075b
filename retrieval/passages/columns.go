package passages

import (
	"strings"

	"tandem/retrieval/internal/blocks"
)

// CellMark stands between the cells of a table's row.
const CellMark = " |"

// Cells returns where the cells of a table's row begin and end in its line, without blanks around them. A line that
// begins with the mark has an empty first cell: no line begins with a blank.
func Cells(line string) (out [][2]int) {
	at := 0
	if strings.HasPrefix(line, strings.TrimSpace(CellMark)) {
		out, at = append(out, [2]int{0, 0}), 1
	}
	for _, c := range strings.Split(line[at:], CellMark) {
		inner := strings.TrimSpace(c)
		from := at + strings.Index(c, inner)
		out = append(out, [2]int{from, from + len(inner)})
		at += len(c) + len(CellMark)
	}
	return out
}

// CodeMark stands before each line of code in a window.
const CodeMark = "    "

// Columns returns the names of the columns of a table, one of whose rows has the byte at in a passage's text. It is nil if the
// table, as far as it stands in the passage, names none.
func Columns(text string, at int) []string {
	end := func(begin int) int {
		if n := strings.IndexByte(text[begin:], '\n'); n >= 0 {
			return begin + n
		}
		return len(text)
	}
	row := strings.LastIndexByte(text[:at], '\n') + 1
	width := len(Cells(text[row:end(row)]))
	head := row
	for head > 0 {
		above := strings.LastIndexByte(text[:head-1], '\n') + 1
		if len(Cells(text[above:head-1])) != width {
			break
		}
		head = above
	}
	if head == row {
		return nil
	}
	var names []string
	for _, c := range Cells(text[head:end(head)]) {
		names = append(names, strings.TrimSuffix(text[head+c[0]:head+c[1]], ":"))
	}
	if !blocks.NamesColumns(names) {
		return nil
	}
	return names
}
