package documents

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// Bounds of tables. Without them a few bytes could become many: short rows are filled up, and merged cells repeated.
const (
	maxColumns = 32 // wider tables become lines of "column: value"
	maxRepeat  = 64 // bytes of a merged cell that is repeated
	maxName    = 64 // bytes of a column's name where each row repeats it
)

// headed says whether a table's first row names its columns.
type headed int

const (
	noHead     headed = iota
	guessHead         // decide by the cells
	assumeHead        // yes, unless the cells speak against it
	hasHead
)

// addTable appends a table of rows of cells. It drops empty rows and columns. A table of one column becomes lines, and so
// does one of two columns without a head: its cells are usually a name and a value.
func (d *Document) addTable(rows [][]string, head headed) {
	rows, filled := trimTable(rows)
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	switch {
	case len(rows) == 0, head == hasHead && filled[0]:
	case head == assumeHead && len(rows) > 1, head == guessHead && len(rows) > 1 && width > 2:
		if head = noHead; NamesColumns(rows[0]) {
			head = hasHead
		}
	default:
		head = noHead
	}
	moveTotals(rows, width)
	switch {
	case width > maxColumns:
		d.addWide(rows, head)
		return
	case width < 2, width == 2 && head == noHead:
		for _, row := range rows {
			d.Add(Line, joinCells(row))
		}
		return
	}
	for i, row := range rows {
		kind := TableRow
		if i == 0 && head == hasHead {
			kind = TableHead
		}
		d.Add(kind, strings.Join(row, " | ")+strings.Repeat(" |", width-len(row)))
	}
}

// trimTable collapses white space in all cells and returns the table without empty rows and columns. It also reports for
// each of the given rows whether it had text.
func trimTable(rows [][]string) (out [][]string, filled []bool) {
	var used []bool // by column
	filled = make([]bool, len(rows))
	for i, row := range rows {
		for c, cell := range row {
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
		var cells []string
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
func (d *Document) addWide(rows [][]string, head headed) {
	var names []string
	if head == hasHead {
		for _, name := range rows[0] {
			names = append(names, firstBytes(name, maxName))
		}
		rows = rows[1:]
	}
	for _, row := range rows {
		first := firstBytes(row[0], maxName)
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

// firstBytes returns at most n bytes of s, whole characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// NamesColumns reports whether the cells of a table's first row read like names of columns: short texts without figures. A year may
// name a column.
func NamesColumns(cells []string) bool {
	named := 0
	for c, cell := range cells {
		switch {
		case cell == "" && c == 0:
		case cell == "", english.CountWords(cell) > 8, textline.IsFigure(cell) && !yearOnly.MatchString(cell):
			return false
		default:
			named++
		}
	}
	return named > 1 && !yearOnly.MatchString(cells[0])
}

var yearOnly = regexp.MustCompile(`^(19|20)\d\d$`)

// joinCells writes a table's row as a line. Two cells are usually a name and its value.
func joinCells(cells []string) string {
	if len(cells) == 2 && cells[0] != "" && cells[1] != "" {
		return strings.TrimSuffix(cells[0], ":") + ": " + cells[1]
	}
	return strings.Join(cells, " ")
}

// mergedCells collects the rows of a table with merged cells.
type mergedCells struct {
	rows  [][]string
	wide  [][]bool   // by row and column: the cell belongs to the one to its left
	spans []vertical // by column: the cell above that reaches down
	own   int        // bytes of text in the table's own cells
	added int        // bytes of repeated text
}

// vertical is a cell that continues in the rows below.
type vertical struct {
	rows int
	text string
}

// begin starts a row.
func (g *mergedCells) begin() { g.rows, g.wide = append(g.rows, nil), append(g.wide, nil) }

// cell appends a cell that spans the given numbers of columns and rows to the current row. A short text is repeated in
// each of its rows, so that a row can be read alone. Columns that are covered by a cell above are filled first.
func (g *mergedCells) cell(text string, columns, rows int) {
	g.fill()
	row, wide := &g.rows[len(g.rows)-1], &g.wide[len(g.wide)-1]
	g.own += len(text)
	for i := range max(1, min(columns, maxColumns)) {
		if i > 0 {
			text = ""
		}
		*row, *wide = append(*row, text), append(*wide, i > 0)
		for len(g.spans) < len(*row) && rows > 1 {
			g.spans = append(g.spans, vertical{})
		}
		if rows > 1 {
			g.spans[len(*row)-1] = vertical{rows - 1, text}
		}
	}
}

// fill appends the cells of the current row that belong to cells above.
func (g *mergedCells) fill() {
	row := &g.rows[len(g.rows)-1]
	for len(*row) < len(g.spans) && g.spans[len(*row)].rows > 0 {
		s := &g.spans[len(*row)]
		s.rows--
		*row, g.wide[len(g.wide)-1] = append(*row, g.repeated(s.text)), append(g.wide[len(g.wide)-1], false)
	}
}

// joinHeads makes one row of the first rows, which all name columns. A name above several columns is that of each.
func (g *mergedCells) joinHeads(heads int) ([][]string, headed) {
	if heads == 0 || heads == len(g.rows) {
		return g.rows, noHead
	}
	var names []*strings.Builder
	for r, row := range g.rows[:heads] {
		for c, cell := range row {
			if r < len(g.wide) && c < len(g.wide[r]) && g.wide[r][c] {
				cell = g.repeated(row[c-1])
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
	return append([][]string{joined}, g.rows[heads:]...), hasHead
}

// guessHeads returns how many of the first rows name columns where nothing marks them: two, if names in the first stand above
// several columns, or reach down, and both rows have no figures.
func (g *mergedCells) guessHeads() int {
	if len(g.rows) < 3 || len(g.wide[0]) == 0 || !slices.Contains(g.wide[0], true) {
		return 0
	}
	for _, row := range g.rows[:2] {
		if slices.ContainsFunc(row, func(cell string) bool { return textline.IsFigure(cell) || english.CountWords(cell) > 8 }) {
			return 0
		}
	}
	if !slices.ContainsFunc(g.rows[2], textline.IsFigure) {
		return 0
	}
	return 2
}

// repeated returns the text to write again for a merged cell: none if it is long, or if the table has repeated much.
func (g *mergedCells) repeated(text string) string {
	if len(text) > maxRepeat || g.added+len(text) > 8*g.own+512 {
		return ""
	}
	g.added += len(text)
	return text
}

// gap is what stands between columns in plain text: a tab or several spaces.
var gap = regexp.MustCompile(` *\t[ \t]*| {2,}`)

// textTable returns the table at the start of lines of plain text, and how many lines it takes: at least two, divided by bars
// or semicolons in the same number, or into columns by tabs or spaces. It returns 0 if there is none.
func textTable(lines []string) (n int, rows [][]string, head headed) {
	if n, rows, head = boxedTable(lines); n > 0 {
		return n, rows, head
	}
	for _, sep := range []string{"|", ";"} {
		if n, rows, head = separated(lines, sep); n > 0 {
			return n, rows, head
		}
	}
	return columns(lines)
}

// separated returns the table of lines that have the same number of separators: at least two, or one bar if a rule follows
// the first line.
func separated(lines []string, sep string) (n int, rows [][]string, head headed) {
	head = guessHead
	want := 0
	rules := 0 // in the lines above
	for n < len(lines) && rules <= maxTableRules {
		line := strings.TrimSpace(lines[n])
		if isTableRule(line) && n > 0 {
			if n == 1 {
				head = hasHead
			}
			n++
			rules++
			continue
		}
		rules = 0
		if sep == "|" {
			line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
		}
		cells := strings.Split(line, sep)
		ruled := sep == "|" && n+1 < len(lines) && isTableRule(strings.TrimSpace(lines[n+1]))
		if len(cells) == 1 || n == 0 && len(cells) == 2 && !ruled || n > 0 && len(cells) != want {
			break
		}
		want = len(cells)
		rows = append(rows, cells)
		n++
	}
	if len(rows) < 2 {
		return 0, nil, noHead
	}
	return n, rows, head
}

// maxTableRules is the greatest number of rules below each other in a table.
const maxTableRules = 3

// boxEdge is the line above, below or between the rows of a boxed table.
var boxEdge = regexp.MustCompile(`^\+([-=:]+\+)+$`)

// boxedTable returns the table at the start of lines whose rows stand between lines such as "+----+----+". Cells may have several
// lines. If only the names of the columns and all the rest are divided, as in the output of a database, each line of the rest
// is a row.
func boxedTable(lines []string) (n int, rows [][]string, head headed) {
	var parts [][][]string // lines of cells between edges
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		if boxEdge.MatchString(line) {
			if len(parts) == 1 && len(parts[0]) == 0 {
				return 0, nil, noHead
			}
			if strings.Contains(line, "=") && len(parts) == 1 { // below the first row
				head = hasHead
			}
			parts = append(parts, nil)
			continue
		}
		if len(parts) == 0 || !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
			break
		}
		last := &parts[len(parts)-1]
		*last = append(*last, strings.Split(line[1:len(line)-1], "|"))
	}
	if len(parts) < 3 || len(parts[0]) == 0 {
		return 0, nil, noHead
	}
	if parts = parts[:len(parts)-1]; head == noHead {
		head = guessHead
	}
	if len(parts) == 2 && len(parts[0]) == 1 && !slices.ContainsFunc(parts[1], func(cells []string) bool { return strings.TrimSpace(cells[0]) == "" }) {
		return n, append(parts[0], parts[1]...), hasHead
	}
	for _, part := range parts {
		rows = append(rows, stacked(part))
	}
	return n, rows, head
}

// stacked returns the row of a table whose cells have several lines.
func stacked(lines [][]string) (row []string) {
	var columns [][]string
	for _, cells := range lines {
		for c, cell := range cells {
			if c == len(columns) {
				columns = append(columns, nil)
			}
			columns[c] = append(columns[c], cell)
		}
	}
	for _, cells := range columns {
		row = append(row, strings.Join(cells, " "))
	}
	return row
}

// isTableRule reports whether a line draws a rule through a table.
func isTableRule(line string) bool {
	return strings.Contains(line, "--") && strings.Trim(line, "-|+:= ") == "" || len(line) >= 3 && strings.Trim(line, "= ") == ""
}

// columns returns the table of lines whose second column begins or ends at the same place, or that tabs divide.
func columns(lines []string) (n int, rows [][]string, head headed) {
	head = guessHead
	var above aligned
	var tall [][][]string // by row: the lines of its cells
	full := 0             // rows with a first cell
	rules := 0            // in the lines above
	for n < len(lines) && rules <= maxTableRules {
		if trimmed := strings.TrimSpace(lines[n]); n > 0 && isTableRule(trimmed) {
			if n == 1 {
				head = hasHead
			}
			n++
			rules++
			continue
		}
		rules = 0
		if cells := above.below(lines[n]); n > 0 && cells != nil {
			last := len(tall) - 1
			switch goes, filled := goOn(cells); {
			case goes:
				tall[last] = append(tall[last], cells)
			case filled > 1:
				tall = append(tall, [][]string{cells})
			default: // a line below the table
				return finished(n, tall, head, full)
			}
			n++
			continue
		}
		row := align(lines[n])
		if len(row.cells) < 2 || n > 0 && !row.under(above) {
			break
		}
		tall, above = append(tall, [][]string{row.cells}), row
		full++
		n++
	}
	return finished(n, tall, head, full)
}

// finished returns a table of n lines, or none if fewer than two of its rows have a first cell.
func finished(n int, tall [][][]string, head headed, full int) (_ int, rows [][]string, _ headed) {
	if full < 2 {
		return 0, nil, noHead
	}
	for _, lines := range tall {
		rows = append(rows, stacked(lines))
	}
	return n, rows, head
}

// below returns the cells of a line without a first cell, or with only some text below the first, in the columns of the row above.
// It returns nil if the line has other cells.
func (a aligned) below(line string) []string {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if len(a.begins) < 2 || indent <= a.begins[0] || text == "" || a.tab || textline.IsItem(text) || strings.Contains(text, "\t") {
		return nil
	}
	cells, last := make([]string, len(a.begins)), -1
	for from := 0; from < len(text); {
		end, next := len(text), len(text)
		if at := gap.FindStringIndex(text[from:]); at != nil {
			end, next = from+at[0], from+at[1]
		}
		begin := indent + utf8.RuneCountInString(text[:from])
		c := slices.IndexFunc(a.begins, func(at int) bool { return max(at-begin, begin-at) < 2 })
		if from == 0 && next == len(text) && begin < a.begins[0]+5 && len(a.begins) > 2 { // below the first cell, indented
			c = 0
		}
		if c <= last {
			return nil
		}
		cells[c], last, from = text[from:end], c, next
	}
	return cells
}

// goOn reports whether all cells of a line go on with those of the row above, as they begin in lower case or with a bracket, and
// how many cells have text.
func goOn(cells []string) (goes bool, filled int) {
	goes = true
	for _, cell := range cells {
		if cell != "" {
			filled++
			goes = goes && (textline.BeginsLower(cell) || strings.HasPrefix(cell, "("))
		}
	}
	return goes, filled
}

// aligned is a line of text in columns.
type aligned struct {
	cells      []string
	begins     []int // where the cells begin, in characters
	begin, end int   // where the second cell begins and ends
	tab        bool
}

// align divides a line. It returns no cells if the line is none of a table: sentences may have two spaces between them.
func align(line string) aligned {
	line = strings.TrimRight(line, " \t")
	indented := len(line) - len(strings.TrimLeft(line, " \t"))
	line = line[indented:]
	at := gap.FindAllStringIndex(line, maxColumns)
	if len(at) == 0 || textline.IsItem(line) {
		return aligned{}
	}
	var a aligned
	from := 0
	a.begins = []int{indented}
	for _, g := range at {
		a.begins = append(a.begins, indented+utf8.RuneCountInString(line[:g[1]]))
		if cell := line[from:g[0]]; strings.ContainsAny(cell[len(cell)-1:], ".!?") && english.CountWords(cell) > 3 {
			return aligned{}
		}
		a.cells = append(a.cells, line[from:g[0]])
		from = g[1]
	}
	a.cells = append(a.cells, line[from:])
	a.begin = indented + utf8.RuneCountInString(line[:at[0][1]])
	a.end = a.begin + utf8.RuneCountInString(a.cells[1])
	a.tab = strings.Contains(line[at[0][0]:at[0][1]], "\t")
	return a
}

// under reports whether a line continues the table of the one above.
func (a aligned) under(above aligned) bool {
	if a.tab || above.tab {
		return a.tab && above.tab && len(a.cells) == len(above.cells)
	}
	if len(a.cells) == len(above.cells) && len(a.cells) > 2 { // a narrow cell stands somewhere above a wide one
		return a.begin <= above.end && above.begin <= a.end
	}
	return a.begin == above.begin || a.end == above.end
}
