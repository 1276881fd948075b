package passages

import (
	"strings"

	"tandem/retrieval/documents"
)

// CellMark stands between the cells of a table's row.
const CellMark = " |"

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
	marks := strings.Count(text[row:end(row)], CellMark)
	head := row
	for head > 0 {
		above := strings.LastIndexByte(text[:head-1], '\n') + 1
		if strings.Count(text[above:head-1], CellMark) != marks {
			break
		}
		head = above
	}
	if head == row {
		return nil
	}
	names := strings.Split(text[head:end(head)], CellMark)
	for i, n := range names {
		names[i] = strings.TrimSuffix(strings.TrimSpace(n), ":")
	}
	if !documents.NamesColumns(names) {
		return nil
	}
	return names
}
