package extract

import (
	"slices"
)

// firstSince replaces a time in a table's row, if a question asks since when something has a number, by the time in the
// first of the rows in turn that have the number. The rows are of months or of dates, the earliest first.
func (p passage) firstSince(w wants, t answerText) answerText {
	if !asksSince.MatchString(w.question) {
		return t
	}
	row, column := p.cellAt(t.at + t.quote.From)
	if row < 0 {
		return t
	}
	if first := p.firstWith(row, column, numbers(w.question)); first < row {
		cell := p.rows[first].cells[column]
		t.text, t.quote = p.slice(cell), p.quote(cell.from, cell.to)
		t.at = cell.from - t.quote.From
	}
	return t
}

// cellAt returns the row and the column of the table that an offset is in, and -1 if it is in none. Of a row, it is the
// first cell with a time.
func (p passage) cellAt(at int) (row, column int) {
	for i, r := range p.rows {
		if n := len(r.cells); n == 0 || at < p.lineStart(r.cells[0].from) || at > r.cells[n-1].to {
			continue
		}
		for c := range r.cells {
			if aMonthOrDay.MatchString(p.cell(i, c)) {
				return i, c
			}
		}
	}
	return -1, -1
}

// firstWith returns the first of the rows above one, and with it, that have the same number of the question in the same
// column and are in the order of time.
func (p passage) firstWith(row, column int, asked []string) int {
	same := slices.IndexFunc(p.rows[row].cells, func(c textRange) bool { return slices.Contains(asked, p.slice(c)) })
	if same < 0 || same == column {
		return row
	}
	for row > 0 && slices.Equal(p.rows[row-1].names, p.rows[row].names) && p.cell(row-1, same) == p.cell(row, same) && earlier(p.cell(row-1, column), p.cell(row, column)) {
		row--
	}
	return row
}
