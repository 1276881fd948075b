package pdf

import (
	"math"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// This file reads forms: cells that each hold a name and its value rather than a row's entry in a column.

// formLines returns the names with their values if the cells of a part of a grid are those of a form, nil otherwise. A name
// stands above its value in smaller letters, or in bold ones; or before it, with a colon; or in the cell to the left, if each
// second column has colons or bold letters.
func (g *grid) formLines(part []int, cells [][]run, words compounds) (out []line) {
	var filled []int
	labels, above := 0, 0
	for _, n := range part {
		if len(cells[n]) == 0 {
			continue
		}
		filled = append(filled, n)
		if label, _ := labelAbove(cells[n]); label != nil {
			above++
		} else if text, _ := words.cell(cells[n]); textline.IsLabel(text) {
			labels++
		}
	}
	most := 4 * len(filled) // of a form's cells: three in four
	switch {
	case len(filled) < 3:
		return nil
	case 5*above > most && above > 2 || 5*(above+labels) > most && above+labels > 2:
	case g.hasLabelColumns(filled, cells, words):
		return g.besides(filled, cells, words)
	default:
		return nil
	}
	for _, n := range filled {
		out = append(out, labelled(cells[n], words))
	}
	return out
}

// labelAbove divides the runs of a cell into the name above a value and the value. Both are nil if the cell has no name.
func labelAbove(runs []run) (label, value []run) {
	n := 1
	for n < len(runs) && alike(runs[n].font, runs[0].font) {
		n++
	}
	if n == len(runs) || runs[n].joined || runs[n].font.size < 0.95*runs[0].font.size || runs[0].font.size > 0.9*runs[n].font.size && !runs[0].font.bold {
		return nil, nil
	}
	count := 0
	for i, r := range runs {
		if i < n {
			count += english.CountWords(r.text)
		} else if !alike(r.font, runs[n].font) {
			return nil, nil
		}
	}
	if count > textline.AboveWords {
		return nil, nil
	}
	return runs[:n], runs[n:]
}

// alike reports whether two fonts are of about the same size and weight.
func alike(a, b font) bool {
	return a.bold == b.bold && a.size < 1.1*b.size && b.size < 1.1*a.size
}

// labelled returns the line of a form's cell.
func labelled(runs []run, words compounds) line {
	label, value := labelAbove(runs)
	if label == nil {
		label, value = runs, nil
	}
	l := line{run: label[0], alone: true}
	name, _ := words.cell(label)
	if l.text = name; value != nil {
		text, _ := words.cell(value)
		l.text = blocks.JoinCells([]string{name, text})
	}
	return l
}

// hasLabelColumns reports whether each second of four or more columns has names, with a colon or in bold letters, and none of
// the others has.
func (g *grid) hasLabelColumns(filled []int, cells [][]run, words compounds) bool {
	columns := len(g.xs) - 1
	if columns < 4 || columns%2 > 0 {
		return false
	}
	for _, n := range filled {
		text, bold := words.cell(cells[n])
		if (bold || strings.HasSuffix(text, ":")) != (g.cells[n].column%2 == 0) || g.cells[n].columns > 1 {
			return false
		}
	}
	return true
}

// besides returns the lines of a form whose names stand to the left of their values.
func (g *grid) besides(filled []int, cells [][]run, words compounds) (out []line) {
	for i, n := range filled {
		if g.cells[n].column%2 > 0 && i > 0 && g.cells[filled[i-1]].row == g.cells[n].row && g.cells[filled[i-1]].column == g.cells[n].column-1 {
			text, _ := words.cell(cells[n])
			last := &out[len(out)-1]
			last.text = blocks.JoinCells([]string{last.text, text})
			continue
		}
		text, _ := words.cell(cells[n])
		l := line{run: cells[n][0], alone: true}
		l.text = text
		out = append(out, l)
	}
	return out
}

// The names above values on a page without cells: how many there are at least, and the greatest length of a value, in lines.
const (
	minLabels  = 3
	valueLines = 3
)

// pairLabels joins names in smaller letters with the values below them, if there are several on the page.
func pairLabels(lines []line) []line {
	var at, ends []int
	for i := 0; i < len(lines); i++ {
		if end := valueEnd(lines, i); end > 0 {
			at, ends = append(at, i), append(ends, end)
			i = end - 1
		}
	}
	if len(at) < minLabels {
		return lines
	}
	var out []line
	from := 0
	for k, i := range at {
		out = append(out, lines[from:i]...)
		l := lines[i]
		l.text, l.alone = blocks.JoinCells([]string{l.text, joinRow(runsOf(lines[i+1 : ends[k]])).text}), true
		out, from = append(out, l), ends[k]
	}
	return append(out, lines[from:]...)
}

// valueEnd returns where the value ends to which line i is the name: the lines below it in larger letters. It is 0 if
// line i is no name.
func valueEnd(lines []line, i int) int {
	label, end := lines[i], i+1
	if label.table != nil || label.alone || english.CountWords(label.text) > textline.AboveWords || strings.ContainsAny(label.text[len(label.text)-1:], ".!?,;") {
		return 0
	}
	for end < len(lines) && end <= i+valueLines {
		l := lines[end]
		dy := lines[end-1].base - l.base
		if l.table != nil || l.alone || l.angle != label.angle || math.Abs(l.box.left-label.box.left) > 0.4*l.font.size || dy <= 0 || dy > 1.5*l.font.size || !alike(l.font, lines[i+1].font) {
			break
		}
		end++
	}
	if end == i+1 || end > i+valueLines || label.font.size > 0.9*lines[i+1].font.size || english.CountWords(lines[i+1].text) > textline.ValueWords {
		return 0
	}
	return end
}

// runsOf returns the runs of lines.
func runsOf(lines []line) (runs []run) {
	for _, l := range lines {
		runs = append(runs, l.run)
	}
	return runs
}
