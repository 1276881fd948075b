package blocks

import (
	"regexp"
	"slices"
	"strings"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// Bounds of tables. Without them a few bytes could become many: short rows are filled up, and merged cells repeated.
const (
	MaxColumns = 32 // wider tables become lines of "column: value"
	maxRepeat  = 64 // bytes of a merged cell that is repeated
	maxName    = 64 // bytes of a column's name where each row repeats it
)

// LayoutWords is the number of words of a cell above which a table only places text on the page.
const LayoutWords = 80

// Headed says whether a table's first row names its columns.
type Headed int

const (
	NoHead     Headed = iota
	GuessHead         // decide by the cells
	AssumeHead        // yes, unless the cells speak against it
	HasHead
)

// AddTable appends a table of rows of cells. It drops empty rows and columns. A table of one column becomes lines, and so
// does one of two columns without a head: its cells are usually a name and a value.
func (d *Document) AddTable(rows [][]string, head Headed) {
	rows, filled := trimTable(rows)
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	switch {
	case len(rows) == 0, head == HasHead && filled[0]:
	case head == AssumeHead && len(rows) > 1, head == GuessHead && len(rows) > 1 && width > 2:
		if head = NoHead; NamesColumns(rows[0]) {
			head = HasHead
		}
	default:
		head = NoHead
	}
	moveTotals(rows, width)
	switch {
	case width > MaxColumns:
		d.addWide(rows, head)
		return
	case width < 2, width == 2 && head == NoHead:
		for _, row := range rows {
			d.Add(Line, JoinCells(row))
		}
		return
	}
	for i, row := range rows {
		kind := TableRow
		if i == 0 && head == HasHead {
			kind = TableHead
		}
		d.Add(kind, strings.Join(row, " | ")+strings.Repeat(" |", width-len(row)))
	}
}

// trimTable collapses white space in all cells and returns the table without empty rows and columns, in the memory of the given
// one. It also reports for each of the given rows whether it had text.
func trimTable(rows [][]string) (out [][]string, filled []bool) {
	var used []bool // by column
	filled = make([]bool, len(rows))
	for i, row := range rows {
		for c, cell := range row {
			if cell == "" { // as are most of a sheet
				continue
			}
			if row[c] = barred.ReplaceAllString(english.Collapse(cell), "|"); row[c] == "" {
				continue
			}
			for len(used) <= c {
				used = append(used, false)
			}
			used[c], filled[i] = true, true
		}
	}
	for i, row := range rows {
		if !filled[i] {
			continue
		}
		cells := row[:0] // a sheet may have millions
		for c, cell := range row {
			if c < len(used) && used[c] {
				cells = append(cells, cell)
			}
		}
		out = append(out, cells)
	}
	return out, filled
}

// maxTotals is the greatest number of rows below a table that are sums.
const maxTotals = 8

// moveTotals moves the names of totals in the last rows to the first column. In the file they are next to the totals, in a
// column of figures.
func moveTotals(rows [][]string, width int) {
	for r := len(rows) - 1; r > max(0, len(rows)-1-maxTotals) && width > 2; r-- {
		var filled []int
		for c, cell := range rows[r] {
			if cell != "" {
				filled = append(filled, c)
			}
		}
		if len(filled) != 2 || filled[0] == 0 || !textline.IsFigure(rows[r][filled[1]]) || textline.IsFigure(rows[r][filled[0]]) && !strings.ContainsAny(rows[r][filled[0]], "%") || !hasFigures(rows[1:r], filled[0]) {
			return
		}
		rows[r][0], rows[r][filled[0]] = rows[r][filled[0]], ""
	}
}

// hasFigures reports whether the cells of a column are figures, but for empty ones and those in rows of sums.
func hasFigures(rows [][]string, column int) bool {
	figures, others := 0, 0
	for _, row := range rows {
		switch {
		case column >= len(row) || row[column] == "" || row[0] == "":
		case textline.IsFigure(row[column]):
			figures++
		default:
			others++
		}
	}
	return figures > others
}

// barred matches a bar within a cell with the blanks around it. A bar without a blank before it does not end a cell.
var barred = regexp.MustCompile(` *\| *`)

// addWide appends a table with many columns: for each row lines of "column: value", which begin with the row's first cell.
func (d *Document) addWide(rows [][]string, head Headed) {
	var names []string
	if head == HasHead {
		for _, name := range rows[0] {
			names = append(names, english.FirstBytes(name, maxName))
		}
		rows = rows[1:]
	}
	for _, row := range rows {
		first := english.FirstBytes(row[0], maxName)
		pairs := row[1:]
		if first != row[0] {
			d.Add(Line, row[0])
		}
		for c := range pairs {
			if c+1 < len(names) && names[c+1] != "" && pairs[c] != "" {
				pairs[c] = names[c+1] + ": " + pairs[c]
			}
		}
		pairs = slices.DeleteFunc(pairs, func(p string) bool { return p == "" })
		if len(pairs) == 0 {
			d.Add(Line, first)
		}
		for some := range slices.Chunk(pairs, 8) {
			d.Add(Line, first+" | "+strings.Join(some, "; "))
		}
	}
}

// NamesColumns reports whether the cells of a table's first row read like names of columns: short texts without
// figures. A year may name a column, and so may days of a week with their dates.
func NamesColumns(cells []string) bool {
	named, days := 0, 0
	for c, cell := range cells {
		if c > 0 && weekdayAndDate.MatchString(cell) {
			days++
		}
	}
	for c, cell := range cells {
		switch {
		case cell == "" && c == 0:
		case days > 1 && weekdayAndDate.MatchString(cell):
			named++
		case cell == "", english.CountWords(cell) > 8, textline.IsFigure(cell) && !yearOnly.MatchString(cell):
			return false
		default:
			named++
		}
	}
	return named > 1 && !yearOnly.MatchString(cells[0])
}

// weekdayAndDate matches a day of the week with its date in figures: "Mon 6.4.", "Mo 06/04".
var weekdayAndDate = regexp.MustCompile(`^\pL{2,10}[.,]? \d{1,2}[./]\d{1,2}[./]?(?:\d\d|\d{4})?$`)

var yearOnly = regexp.MustCompile(`^(19|20)\d\d$`)

// JoinCells writes a table's row as a line. Two cells are usually a name and its value.
func JoinCells(cells []string) string {
	if len(cells) == 2 && cells[0] != "" && cells[1] != "" {
		return strings.TrimSuffix(cells[0], ":") + ": " + cells[1]
	}
	return strings.Join(cells, " ")
}

// Table collects the rows of a table with merged cells.
type Table struct {
	Rows  [][]string
	wide  [][]bool   // by row and column: the cell belongs to the one to its left
	spans []vertical // by column: the cell above that reaches down
	own   int        // bytes of text in the table's own cells
	added int        // bytes of repeated text

	cells   int // the table's own
	covered int // those that merged cells add
}

// vertical is a cell that continues in the rows below.
type vertical struct {
	rows int
	text string
}

// BeginRow starts a row.
func (t *Table) BeginRow() { t.Rows, t.wide = append(t.Rows, nil), append(t.wide, nil) }

// AddCell appends a cell that spans the given numbers of columns and rows to the current row. A short text is repeated in
// each of its rows, so that a row can be read alone. Columns that are covered by a cell above are filled first.
func (t *Table) AddCell(text string, columns, rows int) {
	t.fill()
	row, wide := &t.Rows[len(t.Rows)-1], &t.wide[len(t.wide)-1]
	t.own += len(text)
	t.cells++
	for i := range max(1, min(columns, MaxColumns)) {
		if i > 0 && !t.cover() {
			break
		}
		if i > 0 {
			text = ""
		}
		*row, *wide = append(*row, text), append(*wide, i > 0)
		for len(t.spans) < len(*row) && rows > 1 {
			t.spans = append(t.spans, vertical{})
		}
		if rows > 1 {
			t.spans[len(*row)-1] = vertical{rows - 1, text}
		}
	}
}

// fill appends the cells of the current row that belong to cells above.
func (t *Table) fill() {
	row := &t.Rows[len(t.Rows)-1]
	for len(*row) < len(t.spans) && t.spans[len(*row)].rows > 0 && t.cover() {
		s := &t.spans[len(*row)]
		s.rows--
		*row, t.wide[len(t.wide)-1] = append(*row, t.Repeat(s.text)), append(t.wide[len(t.wide)-1], false)
	}
}

// cover reports whether a merged cell may add one more. Each row with cells that reach down would else be wider than the one
// above, and the table as large as the square of the file.
func (t *Table) cover() bool {
	t.covered++
	return t.covered <= 8*t.cells+512
}

// JoinHeads makes one row of the first rows, which all name columns. A name above several columns is that of each.
func (t *Table) JoinHeads(heads int) ([][]string, Headed) {
	if heads == 0 || heads == len(t.Rows) {
		return t.Rows, NoHead
	}
	var names []*strings.Builder
	for r, row := range t.Rows[:heads] {
		for c, cell := range row {
			if r < len(t.wide) && c < len(t.wide[r]) && t.wide[r][c] {
				cell = t.Repeat(row[c-1])
				row[c] = cell
			}
			if c == len(names) {
				names = append(names, &strings.Builder{})
			}
			if name := names[c]; name.Len() == 0 {
				name.WriteString(cell)
			} else if cell != "" && cell != name.String() {
				name.WriteString(" " + cell)
			}
		}
	}
	var joined []string
	for _, name := range names {
		joined = append(joined, name.String())
	}
	return append([][]string{joined}, t.Rows[heads:]...), HasHead
}

// GuessHeads returns how many of the first rows name columns where nothing marks them: two, if names in the first stand above
// several columns, or reach down, and both rows have no figures.
func (t *Table) GuessHeads() int {
	if len(t.Rows) < 3 || len(t.wide[0]) == 0 || !slices.Contains(t.wide[0], true) {
		return 0
	}
	for _, row := range t.Rows[:2] {
		if slices.ContainsFunc(row, func(cell string) bool { return textline.IsFigure(cell) || english.CountWords(cell) > 8 }) {
			return 0
		}
	}
	if !slices.ContainsFunc(t.Rows[2], textline.IsFigure) {
		return 0
	}
	return 2
}

// Repeat returns the text to write again for a merged cell: none if it is long, or if the table has repeated much.
func (t *Table) Repeat(text string) string {
	if len(text) > maxRepeat || t.added+len(text) > 8*t.own+512 {
		return ""
	}
	t.added += len(text)
	return text
}
