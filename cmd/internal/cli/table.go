package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Table is a list with a header. Its last columns may be of any width.
type Table struct {
	Header []string
	Right  int // how many columns, from the first, stand at the right, as numbers do
	Long   int // if not 0, the last column but one: it has paths and the last one titles, which a narrow terminal shortens
	rows   [][]string
}

// Add adds a row. Foreign text is made safe to print.
func (t *Table) Add(cells ...string) {
	for i, c := range cells {
		cells[i] = Escape(c)
	}
	t.rows = append(t.rows, cells)
}

// WithoutEmpty returns the table without columns that are empty in every row.
func (t Table) WithoutEmpty() Table {
	out := Table{rows: make([][]string, len(t.rows))}
	for i, name := range t.Header {
		if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		if i < t.Right {
			out.Right++
		}
		out.Header = append(out.Header, name)
		for j, row := range t.rows {
			out.rows[j] = append(out.rows[j], row[i])
		}
	}
	return out
}

// Table prints a table to Out, with the header faint. On a terminal, the texts from column Long on are shortened to fit.
func (s *Screen) Table(t Table) {
	columns := 0
	if f, ok := s.Out.(*os.File); ok {
		columns, _, _ = term.GetSize(int(f.Fd())) // 0 if that is no terminal
	}
	s.printTable(t, columns)
}

// printTable prints a table. columns is the width of the terminal, 0 if the output is none.
func (s *Screen) printTable(t Table, columns int) {
	t, below := t.fitting(columns)
	width := t.widths()
	line := func(row []string) string {
		var out strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-Width(c))
			switch {
			case i > 0 && i == below:
				out.WriteString("\n  ")
			case i > 0:
				out.WriteString("  ")
			}
			switch {
			case i < t.Right:
				out.WriteString(pad + c)
			case i < len(row)-1 && i+1 != below:
				out.WriteString(c + pad)
			default:
				out.WriteString(c)
			}
		}
		return strings.TrimRight(out.String(), " ")
	}
	fmt.Fprintln(s.Out, s.Faint(line(t.Header)))
	for _, row := range t.rows {
		fmt.Fprintln(s.Out, line(row))
	}
}

// widths returns the width of each column.
func (t Table) widths() []int {
	width := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.rows...) {
		for i, c := range row {
			width[i] = max(width[i], Width(c))
		}
	}
	return width
}

// leastRoom is how many columns a path and a title need beside numbers.
const leastRoom = 24

// fitting returns the table with its paths and titles shortened to fit a terminal that is columns wide. If the other columns leave
// too little room, path and title go to a line of their own, which begins at column below; otherwise below is 0.
func (t Table) fitting(columns int) (fits Table, below int) {
	width := t.widths()
	total := 2 * (len(width) - 1)
	for _, w := range width {
		total += w
	}
	if t.Long == 0 || columns == 0 || total <= columns {
		return t, 0
	}
	path, title := width[t.Long], width[t.Long+1]
	room := columns - (total - path - title)
	if room < leastRoom {
		room, below = columns-len("  ")-len("  "), t.Long
	}
	path = min(path, max(room/2, room-title))
	title = min(title, max(0, room-path))
	rows := make([][]string, len(t.rows))
	for i, row := range t.rows {
		rows[i] = slices.Clone(row)
		rows[i][t.Long] = shortenPath(row[t.Long], path)
		rows[i][t.Long+1] = Shorten(row[t.Long+1], title)
	}
	t.rows = rows
	return t, below
}

// shortenPath shortens a path to its end, in at most n columns, from the beginning of a name on if there is one.
func shortenPath(path string, n int) string {
	if Width(path) <= n {
		return path
	}
	from, used := len(path), len(".") // of the ellipsis
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(path[:from])
		if used += runeWidth(r); used > n {
			break
		}
		from -= size
	}
	end := path[from:]
	if i := strings.IndexRune(end, filepath.Separator); i > 0 {
		end = end[i:]
	}
	return "…" + end
}

// Day formats a time for lists: the day, and for today and yesterday, the hour.
func Day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	if t = t.Local(); time.Since(t).Abs() < 48*time.Hour {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format(time.DateOnly)
}
