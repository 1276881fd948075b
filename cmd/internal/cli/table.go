package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Table is a list with a header. Its last columns may be of any width.
type Table struct {
	Header []string
	Right  int // how many columns, from the first, stand at the right, as numbers do
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

// Table prints a table to Out, with the header faint.
func (s *Screen) Table(t Table) {
	width := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.rows...) {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	line := func(row []string) string {
		var out strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			switch {
			case i < t.Right:
				out.WriteString(pad + c)
			case i < len(row)-1:
				out.WriteString(c + pad)
			default:
				out.WriteString(c)
			}
			if i < len(row)-1 {
				out.WriteString("  ")
			}
		}
		return strings.TrimRight(out.String(), " ")
	}
	fmt.Fprintln(s.Out, s.Faint(line(t.Header)))
	for _, row := range t.rows {
		fmt.Fprintln(s.Out, line(row))
	}
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
