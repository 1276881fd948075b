package pdf

import (
	"math"
	"slices"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// This file makes lines of runs. It keeps the order in which the file draws them, which is nearly always the order in which
// they are read, and changes it only where lines run across columns.

// line is a line of a column, or a table.
type line struct {
	run
	alone bool   // it belongs to no paragraph
	table *table // nil for a line
}

// lines returns the lines and tables of a page, in the order in which the file draws them.
func (p page) lines(words compounds) (out []line) {
	cells := p.cellRuns()
	placed := make([]bool, len(p.grids)+1)
	var plain []run
	flush := func() {
		out = append(out, pairLabels(linesOf(rowsOf(plain)))...)
		plain = nil
	}
	for _, r := range p.runs {
		if r.grid == 0 {
			plain = append(plain, r)
		} else if !placed[r.grid] {
			flush()
			out = append(out, gridLines(p.grids[r.grid-1], cells[r.grid-1], words)...)
			placed[r.grid] = true
		}
	}
	flush()
	return out
}

// rowsOf groups runs that stand on one line.
func rowsOf(runs []run) (rows [][]run) {
	for i, r := range runs {
		if i == 0 || !r.joined {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], r)
	}
	return rows
}

// maxCells is the greatest number of runs in a row in which columns are looked for.
const maxCells = 16

// linesOf puts the lines of columns that stand side by side in order, column after column.
func linesOf(rows [][]run) (out []line) {
	rows = joinJustified(rows)
	for at := 0; at < len(rows); {
		n, left, right := divide(rows[at:])
		if n > 0 && isText(left) && isText(right) {
			out = append(append(out, linesOf(left)...), linesOf(right)...)
			at += n
			continue
		}
		for end := at + max(n, 1); at < end; at++ {
			l := joinRow(rows[at])
			if isPair(rows, at) {
				l.text, l.alone = blocks.JoinCells([]string{rows[at][0].text, rows[at][1].text}), true
			}
			out = append(out, l)
		}
	}
	return out
}

// divide finds the gap in the first row that most rows below it share. It returns the number of these rows, with the first,
// and what they have on both sides of the gap. The number is 0 if the first row has no gap.
func divide(rows [][]run) (n int, left, right [][]run) {
	first := rows[0]
	if len(first) > maxCells {
		return 0, nil, nil
	}
	var middle float64
	for i := 1; i < len(first); i++ {
		if m, at := sharedGap(rows, first[i-1].box.right, first[i].box.left); m > n {
			n, middle = m, at
		}
	}
	for _, row := range rows[:n] {
		var l, r []run
		for _, run := range row {
			if run.box.left+run.box.right < 2*middle {
				l = append(l, run)
			} else {
				r = append(r, run)
			}
		}
		if len(l) > 0 {
			left = append(left, l)
		}
		if len(r) > 0 {
			right = append(right, r)
		}
	}
	return n, left, right
}

// sharedGap returns the number of rows at the start of rows that leave the gap from lo to hi free, or enough of it, and the
// middle of what all leave free.
func sharedGap(rows [][]run, lo, hi float64) (n int, middle float64) {
	for i, row := range rows {
		size := row[0].font.size
		if i > 0 {
			if dy := rows[i-1][0].base - row[0].base; dy < -size || dy > 4*size || row[0].angle != rows[0][0].angle {
				break
			}
		}
		l, h, m := lo, hi, (lo+hi)/2
		for _, run := range row {
			if run.box.left+run.box.right < 2*m {
				l = max(l, run.box.right)
			} else {
				h = min(h, run.box.left)
			}
		}
		if h-l < 0.7*size {
			break
		}
		lo, hi, n = l, h, n+1
	}
	return n, (lo + hi) / 2
}

// isText reports whether rows are lines of running text rather than cells of a table: at least three, of several words, and
// most of them about as long as the longest.
func isText(rows [][]run) bool {
	words, widest, long := 0, 0.0, 0
	width := func(row []run) float64 { return row[len(row)-1].box.right - row[0].box.left }
	for _, row := range rows {
		widest = max(widest, width(row))
		for _, run := range row {
			words += english.CountWords(run.text)
		}
	}
	for _, row := range rows {
		if width(row) > 0.75*widest {
			long++
		}
	}
	return len(rows) >= 3 && words >= 4*len(rows) && 2*long > len(rows)
}

// joinJustified joins the runs of rows whose gaps are only wide spaces: they begin and end where a whole line near them does.
func joinJustified(rows [][]run) [][]run {
	alike := func(a, b []run, lines int) bool {
		size, last := a[0].font.size, len(a)-1
		for i := range last {
			if a[i].box.gap(a[i+1].box) > 1.5*cellGap*size {
				return false
			}
		}
		return math.Abs(a[0].box.left-b[0].box.left) < 0.2*size && math.Abs(a[last].box.right-b[0].box.right) < 0.2*size &&
			math.Abs(a[0].base-b[0].base) < 2*size*float64(lines)
	}
	out := slices.Clone(rows)
	for i, row := range rows {
		for j := max(0, i-3); len(row) > 1 && j < min(len(rows), i+4); j++ {
			if len(rows[j]) == 1 && alike(row, rows[j], max(i-j, j-i)) {
				out[i] = []run{joinRow(row).run}
				break
			}
		}
	}
	return out
}

// isPair reports whether row i is a name and its value: it has two runs, and so has the row above or below.
func isPair(rows [][]run, i int) bool {
	if len(rows[i]) != 2 || textline.ListMark.MatchString(rows[i][0].text) {
		return false
	}
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(rows) && len(rows[j]) == 2 && math.Abs(rows[i][0].base-rows[j][0].base) < rowDistance*rows[i][0].font.size {
			return true
		}
	}
	return false
}

// joinRow makes a line of the runs of a row. With a wide gap or a leader it belongs to no paragraph.
func joinRow(row []run) line {
	l := line{run: row[0], alone: strings.Contains(row[0].text, leader)}
	texts := []string{l.text}
	marked := textline.ListMark.MatchString(l.text)
	for i, run := range row[1:] {
		texts = append(texts, run.text)
		l.box = l.box.union(run.box)
		l.alone = l.alone || run.box.left-row[i].box.right > 2*cellGap*run.font.size && !(marked && i == 0)
		l.font.bold, l.hyphen = l.font.bold && run.font.bold, run.hyphen
	}
	l.text = strings.Join(texts, " ")
	return l
}
