package extract

import "tandem/internal/words"

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
