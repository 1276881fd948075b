package extract

import (
	"strings"

	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// withColumnNames returns a text on one line. Each cell of a table's row, or of a part of it, has the name of its column before
// it: "Day: Monday; Opens: 9:40". Commas separate cells without names.
func (p passage) withColumnNames(from, to int) string {
	text := p.text[from:to]
	if from < p.body || !strings.Contains(text, passages.CellMark) || strings.Contains(text, "\n") {
		return flat(text)
	}
	names := passages.Columns(p.text[p.body:], from-p.body)
	begin := p.lineStart(from)
	var said []string
	for i, c := range passages.Cells(p.text[begin:p.lineEnd(from)]) {
		a, b := max(begin+c[0], from), min(begin+c[1], to)
		if a >= b {
			continue
		}
		cell := p.text[a:b]
		if names != nil && names[i] != "" {
			cell = names[i] + ": " + cell
		}
		said = append(said, cell)
	}
	if names == nil {
		return strings.Join(said, ", ")
	}
	return strings.Join(said, "; ")
}

// namesColumns reports whether the line around an offset is the first of a table, which names the columns of those
// below it.
func (p passage) namesColumns(at int) bool {
	begin, end := p.lineStart(at), p.lineEnd(at)
	return at >= p.body && end+1 < len(p.text) && strings.Contains(p.text[begin:end], passages.CellMark) &&
		passages.Columns(p.text[p.body:], begin-p.body) == nil && passages.Columns(p.text[p.body:], end+1-p.body) != nil
}

// tableRow is a row of a table whose columns have names.
type tableRow struct {
	cells []textRange // their bytes
	names []string    // of their columns
	words []string    // of all cells
}

// tableRows returns the rows of the passage's tables that name their columns.
func (p passage) tableRows() (out []tableRow) {
	for begin, end := range p.lines() {
		if line := p.text[begin:end]; strings.Contains(line, passages.CellMark) {
			if names := passages.Columns(p.text[p.body:], begin-p.body); names != nil {
				r := tableRow{names: names, words: words.Content(line + " " + names[0])}
				for _, c := range passages.Cells(line) {
					r.cells = append(r.cells, textRange{begin + c[0], begin + c[1]})
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// cell returns the text of a cell.
func (p passage) cell(row, column int) string {
	at := p.rows[row].cells[column]
	return p.text[at.from:at.to]
}
