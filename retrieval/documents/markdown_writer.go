package documents

import "strings"

// markdownWriter writes Markdown for formats whose lines are those of Markdown in other signs.
type markdownWriter struct{ out []string }

func (w *markdownWriter) add(lines ...string) { w.out = append(w.out, lines...) }

// addHeading adds a heading of a level from 1 on.
func (w *markdownWriter) addHeading(level int, text string) {
	w.add("", strings.Repeat("#", min(level, LowestLevel))+" "+text, "")
}

// addCode adds a line to a block of code, unless it would end the block.
func (w *markdownWriter) addCode(line string) {
	if !strings.HasPrefix(strings.TrimSpace(line), "```") {
		w.add(line)
	}
}

// addTable adds a table, whose first row may name the columns. inline returns a cell in Markdown's signs.
func (w *markdownWriter) addTable(rows [][]string, named bool, inline func(cell string) string) {
	w.add("")
	for i, row := range rows {
		line := "|"
		for _, cell := range row {
			line += " " + strings.ReplaceAll(inline(cell), "|", `\|`) + " |"
		}
		if w.add(line); i == 0 && named {
			w.add("|" + strings.Repeat("---|", len(row)))
		}
	}
	w.add("")
}
