package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// asksPeople matches a question for those whom the rows of a table are about: "who works in the mill?".
var asksPeople = lazyregexp.New(`(?i)` + questionStart + `(?:who|(?:which|what) (?:people|persons?))\b`)

// cellsOfRows returns the cells that a question for several things asks for, one of each row that has all its words: the
// servers of one owner. A question for one thing, "which boat has two berths?", gets them where several rows have its words.
// There are none if the question names no thing of the table.
func (p passage) cellsOfRows(q query) (cells []textRange) {
	for _, t := range p.tables() {
		found := t.cellsOfTable(q)
		if len(found) > 0 && len(cells) > 0 {
			return nil
		}
		cells = slices.Concat(cells, found)
	}
	return cells
}

// cellsOfTable returns those cells where the passage has one table.
func (p passage) cellsOfTable(q query) (cells []textRange) {
	if q.form != formList && q.form != formValue || q.compares != "" || asksRest.MatchString(q.text) {
		return nil
	}
	thing, wanted := thingAsked(q.text), words.Content(q.text)
	by, asked := columnOf(p.rows[0].names, q.text, wanted)
	column, named := by, []string(nil)
	if asksPeople.MatchString(q.text) && ofPeople.MatchString(p.rows[0].names[0]) && len(q.called) == 0 {
		column, named = 0, thing // "people"
	} else if by < 0 || words.Shared(thing, words.Content(p.rows[0].names[by])) == 0 {
		if column = p.columnNamedBy(thing); column < 0 {
			return nil
		}
		named = p.naming(thing, column)
	}
	if by != column && by >= 0 && p.namesRow(wanted) { // it asks for another column of that row
		return nil
	}
	rest := excluding(p.rowWords(wanted, slices.Concat(asked, named)), ofHaving)
	if len(rest) == 0 {
		return nil
	}
	said := map[string]bool{}
	for i, r := range p.rows {
		if p.isOtherRow(q.wants, i) || p.goesBack(q.wants, i) || !words.HasAll(p.wordsBeside(i, column), rest) || by > 0 && by != column && words.Shared(rest, words.Content(p.cell(i, by))) == 0 {
			continue
		}
		if text := p.cell(i, column); len(words.Content(text)) > 0 && !said[text] {
			said[text] = true
			cells = append(cells, r.cells[column])
		}
	}
	if q.form == formValue && (len(cells) < 2 || q.time) { // tableCell finds one, and what happened has one date
		return nil
	}
	return cells
}

// columnNamedBy returns the only column that is called like the thing for which a question asks, or the first of all if the
// document is; -1 if nothing is called so.
func (p passage) columnNamedBy(thing []string) int {
	for _, w := range thing { // the first one says what is asked for, if not of which kind
		column := -1
		for i, n := range p.rows[0].names {
			if !words.Has(words.Content(n), w) {
				continue
			}
			if column >= 0 {
				return -1
			}
			column = i
		}
		if column >= 0 {
			return column
		}
	}
	if p.isThingOfRows(thing) {
		return 0
	}
	return -1
}

// wordsBeside returns the words of a row's cells other than the one of a column.
func (p passage) wordsBeside(row, column int) (out []string) {
	for i, c := range p.rows[row].cells {
		if i != column {
			out = append(out, words.Content(p.slice(c))...)
		}
	}
	return out
}

// withCells replaces what a passage says of the rows that a question for several things means by their cells, "web-1, web-2".
func (p passage) withCells(q query, texts []answerText) []answerText {
	cells := p.cellsOfRows(q)
	if len(cells) == 0 || len(texts) == 0 {
		return texts
	}
	var said []string
	for _, c := range cells {
		said = append(said, p.slice(c))
	}
	texts[0].text = strings.Join(said, ", ")
	return texts
}

// allCells returns the range from the first cell that a question for several things asks for to the last.
func (p passage) allCells(q query) (from, to int, ok bool) {
	cells := p.cellsOfRows(q)
	if len(cells) == 0 {
		return 0, 0, false
	}
	return cells[0].from, cells[len(cells)-1].to, true
}

// isPartialList reports whether another passage of the same document goes on with the table whose cells a passage lists, and
// has such cells that this one lacks.
func (p passage) isPartialList(q query, known []passage) bool {
	cells := p.cellsOfRows(q)
	if len(cells) == 0 {
		return false
	}
	here := map[string]bool{}
	for _, c := range cells {
		here[p.slice(c)] = true
	}
	return slices.ContainsFunc(known, func(o passage) bool {
		return o.source == p.source && slices.ContainsFunc(o.cellsOfRows(q), func(c textRange) bool { return !here[o.slice(c)] })
	})
}
