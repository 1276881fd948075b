package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
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

// tables returns the passage with the rows of one of its tables, for each of them. Rows with the same names of columns
// belong to one.
func (p passage) tables() (out []passage) {
	for _, r := range p.rows {
		i := slices.IndexFunc(out, func(t passage) bool { return slices.Equal(t.rows[0].names, r.names) })
		if i < 0 {
			i = len(out)
			out = append(out, p)
			out[i].rows = nil
		}
		out[i].rows = append(out[i].rows, r)
	}
	return out
}

// rowAt returns the row of a table that begins within a range; -1 if there is none.
func (p passage) rowAt(from, to int) int {
	return slices.IndexFunc(p.rows, func(r tableRow) bool { return from <= r.cells[0].from && r.cells[0].from < to })
}

// columnAt returns the name of the column with a range, which is in one cell of a table; else "".
func (p passage) columnAt(from, to int) string {
	for _, r := range p.rows {
		for i, c := range r.cells {
			if c.from <= from && to <= c.to {
				return r.names[i]
			}
		}
	}
	return ""
}

// cell returns the text of a cell.
func (p passage) cell(row, column int) string {
	return p.slice(p.rows[row].cells[column])
}

var (
	// perUnit matches that, or of what its values are shares: "Guests per month".
	perUnit = lazyregexp.New(`(?i)` + unit.String() + `| (?:per|a|an|each|every|pro|par) \pL+$`)
	// unit matches what says in a column's name how its values are measured: "(kg)", "km" in "Mileage km".
	unit = lazyregexp.New(`\([^()]*\)|(?:[ /]+)(?:km|m|cm|mm|kg|g|l|ml|h|min|s|EUR|USD|GBP|CHF|[€£$%°]C?|m[²³23])$`)
)

// columnOf returns the column that a question asks for, and the words by which it does. The question has the name of
// the column or, if it has none of the names, asks for what such a column has ("how much does … cost" for a price). The
// column is -1 if the question asks for none or for several.
func columnOf(names []string, question string, wanted []string) (column int, asked []string) {
	for _, less := range []*lazyregexp.Regexp{unit, perUnit} {
		if column, asked, tie := columnNamed(names, less, wanted); tie {
			return -1, nil
		} else if column >= 0 {
			return column, asked
		}
	}
	return columnOfKind(names, question), nil
}

// columnOfKind returns the column that has what such a question asks for; -1 if there is none, or a second one.
func columnOfKind(names []string, question string) (column int) {
	column = -1
	for _, k := range columnKinds {
		if !k.asks.MatchString(question) {
			continue
		}
		for i, n := range names[1:] {
			if words.Shared(words.Content(n), k.columns) == 0 {
				continue
			}
			if column >= 0 {
				return -1
			}
			column = i + 1
		}
		if column < 0 && words.Shared(words.Content(names[0]), k.columns) > 0 { // "when was the battery replaced?"
			column = 0
		}
		if column >= 0 {
			return column
		}
	}
	return -1
}

// columnNamed returns the column, other than the first, with the longest name whose words are all wanted. What less
// matches is no part of a name. tie says that several columns have such names.
func columnNamed(names []string, less *lazyregexp.Regexp, wanted []string) (column int, asked []string, tie bool) {
	column, most := -1, 0
	for i, n := range names[1:] {
		for name := range strings.SplitSeq(less.ReplaceAllString(n, ""), "/") { // "Student/Senior" is a column of either
			named := words.Content(name)
			if len(named) == 0 || !words.HasAll(wanted, named) {
				continue
			}
			if len(named) > most {
				column, most, asked, tie = i+1, len(named), named, false
			} else if len(named) == most && column != i+1 {
				tie = true
			}
		}
	}
	return column, asked, tie
}

// columnKind is what questions ask for without the name of the column or of the line that has it.
type columnKind struct {
	asks    *lazyregexp.Regexp
	columns []string
}

var columnKinds = []columnKind{
	{asksPriceOf, ofPrices},
	{asksPriceOf, []string{"total", "sum"}},
	{lazyregexp.New(`(?i)\b(?:what time|when)\b`), []string{"time", "date", "when", "starts", "begins"}},
	{lazyregexp.New(`(?i)\bhow (?:heavy|much\b.*\bweighs?)\b`), []string{"weight"}},
	{lazyregexp.New(`(?i)\bhow (?:loud|noisy)\b`), []string{"noise", "loudness", "sound", "volume"}},
	{lazyregexp.New(`(?i)\bhow (?:big|large)\b`), []string{"size", "area"}},
	{lazyregexp.New(`(?i)\bhow long\b`), []string{"duration", "length"}},
	{lazyregexp.New(`(?i)\bhow far\b`), []string{"distance", "km", "miles"}},
	{lazyregexp.New(`(?i)\bhow old\b`), []string{"age"}},
	{lazyregexp.New(`(?i)\bhow many\b`), []string{"number", "quantity", "qty", "count"}},
	{lazyregexp.New(`(?i)\bwhere\b`), []string{"place", "location", "room", "where", "venue"}},
}

var (
	// asksPriceOf matches a question for what something costs.
	asksPriceOf = lazyregexp.New(`(?i)\b(?:how expensive|how much (?:is|are)|costs?|price|cheaper|more expensive|dearer)\b`)
	// ofPrices are names of columns of prices, in four languages.
	ofPrices = strings.Fields("price cost fee fare charge rate amount preis betrag gebühr prix tarif coût precio importe")
)
