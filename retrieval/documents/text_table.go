package documents

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// This file finds tables in plain text.

// gap is what stands between columns in plain text: a tab or several spaces.
var gap = lazyregexp.New(` *\t[ \t]*| {2,}`)

// textTable returns the table at the start of lines of plain text, and how many lines it takes: at least two, divided by bars,
// semicolons or tabs in the same number, or into columns by tabs or spaces. It returns 0 if there is none.
func textTable(lines []string) (n int, rows [][]string, head blocks.Headed) {
	if n, rows, head = boxedTable(lines); n > 0 {
		return n, rows, head
	}
	for _, sep := range []string{"|", ";"} {
		if n, rows, head = separated(lines, sep); n > 0 {
			return n, rows, head
		}
	}
	n, rows, head = columns(lines)
	if m, cells, headed := separated(lines, "\t"); m > n { // some cells are empty
		return m, cells, headed
	}
	return n, rows, head
}

// separated returns the table of lines that have the same number of separators: at least two, or one bar if a rule follows
// the first line.
func separated(lines []string, sep string) (n int, rows [][]string, head blocks.Headed) {
	head = blocks.GuessHead
	want := 0
	rules := 0 // in the lines above
	for n < len(lines) && rules <= maxTableRules {
		line := strings.TrimSpace(lines[n])
		if isTableRule(line) && n > 0 {
			if n == 1 {
				head = blocks.HasHead
			}
			n++
			rules++
			continue
		}
		rules = 0
		switch sep {
		case "|":
			line = strings.TrimSuffix(strings.TrimPrefix(unframed(line), "|"), "|")
		case "\t":
			line = lines[n]
		}
		cells := strings.Split(line, sep)
		ruled := sep == "|" && n+1 < len(lines) && isTableRule(strings.TrimSpace(lines[n+1]))
		indented := n == 0 && strings.TrimSpace(strings.Join(cells[:len(cells)-1], "")) == "" // code, or a tree of files
		if len(cells) == 1 || indented || n == 0 && len(cells) == 2 && !ruled || n > 0 && len(cells) != want {
			break
		}
		want = len(cells)
		rows = append(rows, cells)
		n++
	}
	if len(rows) < 2 {
		return 0, nil, blocks.NoHead
	}
	return n, rows, head
}

// maxTableRules is the greatest number of rules below each other in a table.
const maxTableRules = 3

// boxEdge is the line above, below or between the rows of a boxed table.
var boxEdge = lazyregexp.New(`^\+([-=:]+\+)+$`)

// frames writes the characters that draw frames as ASCII.
var frames = newFrames()

func newFrames() *strings.Replacer {
	var pairs []string
	for ascii, drawn := range map[string]string{
		"-": "─━┄┅┈┉╌╍", "=": "═", "|": "│┃┆┇┊┋╎╏║",
		"+": "┌┍┎┏┐┑┒┓└┕┖┗┘┙┚┛├┝┞┟┠┡┢┣┤┥┦┧┨┩┪┫┬┭┮┯┰┱┲┳┴┵┶┷┸┹┺┻┼┽┾┿╀╁╂╃╄╅╆╇╈╉╊╋╒╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡╢╣╤╥╦╧╨╩╪╫╬╭╮╯╰",
	} {
		for _, r := range drawn {
			pairs = append(pairs, string(r), ascii)
		}
	}
	return strings.NewReplacer(pairs...)
}

// unframed returns a line with frames as ASCII. It makes no copy of a line without any.
func unframed(line string) string {
	if !strings.Contains(line, "\xe2") { // with which all of them begin in UTF-8
		return line
	}
	return frames.Replace(line)
}

// boxedTable returns the table at the start of lines whose rows stand between lines such as "+----+----+". Cells may have several
// lines. If only the names of the columns and all the rest are divided, as in the output of a database, each line of the rest
// is a row; but below a double rule, a line without a first cell goes on with the one above it. Lines above a sum are rows, too.
func boxedTable(lines []string) (n int, rows [][]string, head blocks.Headed) {
	var parts [][][]string // lines of cells between edges
	double := false        // the edge above the table is
	for ; n < len(lines); n++ {
		line := unframed(strings.TrimSpace(lines[n]))
		if boxEdge.MatchString(line) {
			if len(parts) == 1 && len(parts[0]) == 0 {
				return 0, nil, blocks.NoHead
			}
			switch equals := strings.Contains(line, "="); {
			case len(parts) == 0:
				double = equals
			case len(parts) == 1 && equals && !double: // below the first row
				head = blocks.HasHead
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
		return 0, nil, blocks.NoHead
	}
	if parts = parts[:len(parts)-1]; len(parts) == 2 && len(parts[0]) == 1 && (head == blocks.NoHead || !slices.ContainsFunc(parts[1], goesOnBelow)) {
		return n, append(parts[0], parts[1]...), blocks.HasHead
	}
	if head == blocks.NoHead {
		head = blocks.GuessHead
	}
	for _, part := range parts {
		if eachFigured(part) {
			rows = append(rows, part...)
			continue
		}
		rows = append(rows, stacked(part))
	}
	return n, rows, head
}

// eachFigured reports whether each of several lines of cells has a first cell, and a figure in the same column.
func eachFigured(lines [][]string) bool {
	if len(lines) < 2 || slices.ContainsFunc(lines, goesOnBelow) {
		return false
	}
	for c := 1; c < len(lines[0]); c++ {
		if !slices.ContainsFunc(lines, func(cells []string) bool { return c >= len(cells) || !textline.IsFigure(cells[c]) }) {
			return true
		}
	}
	return false
}

// goesOnBelow reports whether cells have no first one, so that they may go on with the row above.
func goesOnBelow(cells []string) bool { return strings.TrimSpace(cells[0]) == "" }

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
	line = unframed(line)
	return strings.Contains(line, "--") && strings.Trim(line, "-|+:= ") == "" || len(line) >= 3 && strings.Trim(line, "= ") == ""
}

// columns returns the table of lines whose second column begins or ends at the same place, or that tabs divide.
func columns(lines []string) (n int, rows [][]string, head blocks.Headed) {
	head = blocks.GuessHead
	var above aligned
	var tall []tallRow
	full := 0  // rows with a first cell
	rules := 0 // in the lines above
	for n < len(lines) && rules <= maxTableRules {
		if trimmed := strings.TrimSpace(lines[n]); n > 0 && isTableRule(trimmed) {
			if n == 1 {
				head = blocks.HasHead
			}
			n++
			rules++
			continue
		}
		rules = 0
		if cells := above.below(lines[n]); n > 0 && cells != nil {
			last := len(tall) - 1
			switch goes, filled := goOn(cells); {
			case goes, filled == 1 && goesOnBelow(cells) && above.returns(lines[n+1:]):
				tall[last].lines = append(tall[last].lines, cells)
			case filled > 1:
				tall = append(tall, tallRow{aligned{cells: cells, begins: above.begins}, [][]string{cells}})
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
		tall, above = append(tall, tallRow{row, [][]string{row.cells}}), row
		full++
		n++
	}
	return finished(n, tall, head, full)
}

// finished returns a table of n lines, or none if fewer than two of its rows have a first cell.
func finished(n int, tall []tallRow, head blocks.Headed, full int) (_ int, rows [][]string, _ blocks.Headed) {
	if full < 2 {
		return 0, nil, blocks.NoHead
	}
	return n, placed(tall), head
}

// maxBelow is the greatest number of lines in which a single cell goes on, if it does not go on in lower case.
const maxBelow = 4

// returns reports whether the table of a row goes on in one of the next lines, and all lines before that have a single cell.
func (a aligned) returns(lines []string) bool {
	for _, line := range lines[:min(len(lines), maxBelow)] {
		cells := a.below(line)
		if cells == nil {
			row := align(line)
			return len(row.cells) > 1 && row.under(a)
		}
		if _, filled := goOn(cells); filled > 1 || !goesOnBelow(cells) {
			return false
		}
	}
	return false
}

// below returns the cells of a line without a first cell, or with only some text below the first, in the columns of the
// row above. It returns nil if the line has other cells.
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
	at := gap.FindAllStringIndex(line, blocks.MaxColumns)
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
