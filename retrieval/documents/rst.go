package documents

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseRST reads reStructuredText. Its lines are those of Markdown in other signs, so they become Markdown.
func parseRST(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	r := rst{lines: substituted(lines, len(data))}
	for r.at < len(r.lines) {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		r.at += max(1, r.block())
	}
	r.add("")
	return markdownDocument(ctx, r.out, r.tops == 1), nil
}

// substitution defines what a name between bars stands for.
var (
	substitution = lazyregexp.New(`^\.\. \|(\w[^|]{0,40})\| replace:: +(.+)$`)
	substitute   = lazyregexp.New(`\|\w[^|]{0,40}\|`)
)

// substituted returns lines with names between bars replaced by what they stand for, as long as that adds no more bytes than given.
func substituted(lines []string, left int) []string {
	texts := map[string]string{}
	for _, line := range lines {
		if m := substitution.FindStringSubmatch(line); m != nil {
			texts["|"+m[1]+"|"] = strings.TrimSpace(m[2])
		}
	}
	if len(texts) == 0 {
		return lines
	}
	for i, line := range lines {
		if strings.HasPrefix(line, ".. |") {
			continue
		}
		lines[i] = substitute.ReplaceAllStringFunc(line, func(name string) string {
			text, known := texts[name]
			if left -= len(text); !known || left < 0 {
				return name
			}
			return text
		})
	}
	return lines
}

// rst writes Markdown for the lines of a file in reStructuredText.
type rst struct {
	markdownWriter
	lines  []string
	at     int      // the current line
	styles []string // how headings are underlined, by level
	tops   int      // headings of the highest level
	listed bool     // below an item of a list
}

// line returns a line after the current one, without the white space at its end; "" beyond the last.
func (r *rst) line(after int) string {
	if r.at+after >= len(r.lines) {
		return ""
	}
	return strings.TrimRight(r.lines[r.at+after], " \t")
}

// Lines of files in reStructuredText.
var (
	rstDirective = lazyregexp.New(`^\s*\.\. (?:\|[^|]+\| )?([\w:-]+):: *(.*)$`)
	rstOption    = lazyregexp.New(`^\s+:[\w-]+:`)
	rstField     = lazyregexp.New(`^\s*:([\pL][\pL\d _-]{0,40}):(?: +(.*))?$`)
	rstProgram   = lazyregexp.New(`^(--?[\pL\d?][^\s,]*(?: <?[\pL\d]+>?)?(?:, --?[\pL\d?][^\s,]*(?: <?[\pL\d]+>?)?)*)  +(\S.*)$`)
	rstNote      = lazyregexp.New(`^\s*\.\. \[([#*\w]+)\] +(.*)$`)
	rstColumns   = lazyregexp.New(`^=+(?: +=+)+$`)
	rstNumber    = lazyregexp.New(`^#[.)] `)
)

// block reads what begins with the current line, and returns how many lines it takes.
func (r *rst) block() int {
	line := r.line(0)
	trimmed := strings.TrimSpace(line)
	if n := r.heading(); n > 0 {
		return n
	}
	switch m := rstDirective.FindStringSubmatch(line); {
	case m != nil:
		return r.directive(strings.ToLower(m[1]), m[2])
	case rstNote.MatchString(line):
		note := rstNote.FindStringSubmatch(line)
		r.add("", "["+note[1]+"] "+rstInline(note[2]))
		return 1
	case trimmed == "..", strings.HasPrefix(trimmed, ".. "), strings.HasPrefix(trimmed, "__ "):
		return 1 + len(r.below(1, indentation(line)))
	case strings.HasPrefix(trimmed, ">>> "):
		return r.session()
	case rstColumns.MatchString(trimmed):
		return r.table()
	}
	r.text(line, trimmed)
	if rest, ok := strings.CutSuffix(trimmed, "::"); ok && !strings.HasPrefix(rest, "..") {
		return 1 + r.code(1, indentation(line))
	}
	return 1
}

// below returns the lines after the current one that are indented more than it, from the given one on. Blank lines at their end do not
// belong to them.
func (r *rst) below(from, indent int) []string {
	end := from
	for n := from; r.at+n < len(r.lines); n++ {
		line := r.line(n)
		if line != "" && indentation(line) <= indent {
			break
		}
		if line != "" {
			end = n + 1
		}
	}
	return r.lines[min(r.at+from, len(r.lines)):min(r.at+end, len(r.lines))]
}

// code writes the lines below as code, and returns their number.
func (r *rst) code(from, indent int) int {
	lines := r.below(from, indent)
	if len(lines) == 0 {
		return 0
	}
	r.add("", "```")
	for _, line := range lines {
		r.addCode(line)
	}
	r.add("```", "")
	return len(lines)
}

// session writes a session with an interpreter as code, and returns its number of lines.
func (r *rst) session() (n int) {
	r.add("", "```")
	for ; r.line(n) != ""; n++ {
		r.add(r.lines[r.at+n])
	}
	r.add("```", "")
	return n
}

// isUnderlineRST reports whether a line is one sign of punctuation again and again.
func isUnderlineRST(line string) bool {
	return len(line) > 1 && strings.IndexByte("=-~^\"'`#*+:._<>!$%&,;?@", line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

// heading reads a heading, which has a line of punctuation below it and perhaps above it, and returns its number of lines. The level
// of such a line is that of its first use.
func (r *rst) heading() int {
	over, title, under, n := "", r.line(0), r.line(1), 2
	if isUnderlineRST(title) && r.line(2) == title {
		over, title, under, n = title, strings.TrimSpace(r.line(1)), title, 3
	}
	if title == "" || title[0] == ' ' || title[0] == '\t' || isUnderlineRST(title) || !isUnderlineRST(under) || len(under) < min(utf8.RuneCountInString(title), 4) {
		return 0
	}
	if over == "" && r.at > 0 && strings.TrimSpace(r.lines[r.at-1]) != "" && len(under) < utf8.RuneCountInString(title) {
		return 0 // an item or a sentence before a rule
	}
	style := under[:1] + over[:min(1, len(over))]
	level := slices.Index(r.styles, style)
	if level < 0 {
		level = len(r.styles)
		r.styles = append(r.styles, style)
	}
	if level == 0 {
		r.tops++
	}
	r.listed = false
	r.addHeading(level+1, strings.TrimSuffix(rstInline(title), "::"))
	return n
}

// Directives by what becomes of them.
var (
	rstCode = []string{"code", "code-block", "sourcecode", "parsed-literal", "math", "console", "prompt", "testcode", "doctest", "literal"}
	rstDrop = []string{"toctree", "contents", "raw", "include", "literalinclude", "index", "meta", "highlight", "image", "sectnum", "replace", "unicode", "default-role", "role",
		"currentmodule", "module", "automodule", "autoclass", "autofunction", "graphviz"}
	rstPlain = []string{"figure", "class", "rst-class", "container", "only", "highlights", "pull-quote", "epigraph", "compound"}
	rstNotes = []string{"note", "warning", "tip", "important", "caution", "danger", "attention", "hint", "error", "seealso", "todo"}
)

// rstVersions are directives that say in which version something holds.
var rstVersions = map[string]string{"versionadded": "New in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version", "versionremoved": "Removed in version"}

// directive reads a directive, and returns how many lines it takes. The text below most of them is read as all text.
func (r *rst) directive(name, argument string) int {
	indent, n := indentation(r.line(0)), 1
	for rstOption.MatchString(r.line(n)) && indentation(r.line(n)) > indent {
		n++
	}
	switch {
	case slices.Contains(rstCode, name):
		return n + r.code(n, indent)
	case slices.Contains(rstPlain, name): // the text of a figure is its caption
		r.add("")
		return n
	case slices.Contains(rstDrop, name):
		return n + len(r.below(n, indent))
	case name == "list-table":
		return n + r.listTable(n, indent, argument)
	case name == "csv-table":
		return n + r.csvTable(n, indent, argument)
	case rstVersions[name] != "":
		r.note(n, indent, rstVersions[name]+" "+argument+":")
		return n
	case slices.Contains(rstNotes, name):
		r.note(n, indent, strings.TrimSpace(english.Capitalise(name)+": "+argument))
		return n
	case argument != "" && (strings.Contains(name, ":") || name == "rubric" || name == "topic" || name == "sidebar" || name == "admonition" || name == "option" || name == "table"):
		r.add("", "**"+strings.ReplaceAll(rstInline(argument), "**", "")+"**")
	case argument != "":
		r.add("", english.Capitalise(name)+": "+rstInline(argument))
		return n
	}
	r.add("")
	return n
}

// note writes what begins a note before its text, which may begin below. The first paragraph becomes one line.
func (r *rst) note(from, indent int, text string) {
	for strings.HasSuffix(text, ":") && from < len(r.lines)-r.at && r.line(from) == "" {
		from++
	}
	if first := r.line(from); first == "" || indentation(first) <= indent {
		r.add("", rstInline(strings.TrimSuffix(text, ":")))
		return
	}
	lines := r.lines[r.at+from:]
	whole := []string{lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))] + text}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || indentation(lines[i]) <= indent || i > 0 && (textline.IsItem(line) || strings.HasPrefix(line, "..")) {
			break
		}
		whole, lines[i] = append(whole, line), ""
	}
	lines[0] = strings.Join(whole, " ")
	r.add("")
}

// table reads a table whose columns have lines of "=" above and below them, and returns its number of lines.
func (r *rst) table() int {
	ruler := r.line(0)
	var spans [][2]int
	for i := 0; i < len(ruler); i++ {
		if ruler[i] == '=' && (i == 0 || ruler[i-1] != '=') {
			spans = append(spans, [2]int{i, len(ruler)})
			if k := len(spans); k > 1 {
				spans[k-2][1] = i
			}
		}
	}
	if len(spans) > blocks.MaxColumns {
		return 1
	}
	var rows [][]string
	n, heads, rules := 1, 0, 1
	for ; r.at+n < len(r.lines); n++ {
		line := r.line(n)
		if rstColumns.MatchString(strings.TrimSpace(line)) {
			if rules++; rules == 2 {
				heads = len(rows)
			}
			if rules == 3 || r.line(n+1) == "" {
				n++
				break
			}
			continue
		}
		if line != "" && strings.Trim(line, "- ") != "" {
			rows = rowBelow(rows, line, spans, heads)
		}
	}
	if rules < 3 {
		heads = 0
	}
	r.addTable(rows, heads > 0, rstInline)
	return n
}

// maxCell is the greatest length in bytes of a cell that goes on in the next line.
const maxCell = 4 << 10

// rowBelow adds a line of a table to its rows: as a row, or to the last one if its first cell is empty.
func rowBelow(rows [][]string, line string, spans [][2]int, heads int) [][]string {
	var cells []string
	letters := []rune(line)
	for c, span := range spans {
		if span[0] >= len(letters) {
			break
		}
		to := min(span[1], len(letters))
		if c == len(spans)-1 {
			to = len(letters)
		}
		cells = append(cells, strings.TrimSpace(string(letters[span[0]:to])))
	}
	if len(cells) == 0 || cells[0] != "" || len(rows) == heads {
		return append(rows, cells)
	}
	last := &rows[len(rows)-1]
	for c, cell := range cells {
		if c == len(*last) {
			*last = append(*last, "")
		}
		if len((*last)[c]) < maxCell {
			(*last)[c] = strings.TrimSpace((*last)[c] + " " + cell)
		}
	}
	return rows
}

// listTable reads a table that is written as a list of lists, and returns its number of lines.
func (r *rst) listTable(from, indent int, caption string) int {
	lines := r.below(from, indent)
	var rows [][]string
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		cell, begins := strings.CutPrefix(trimmed, "* -")
		if begins {
			rows = append(rows, nil)
		} else {
			cell, begins = strings.CutPrefix(trimmed, "-")
		}
		if len(rows) == 0 {
			continue
		}
		row := &rows[len(rows)-1]
		switch cell = strings.TrimSpace(cell); {
		case begins && len(*row) <= csvFields:
			*row = append(*row, cell)
		case cell != "" && len(*row) > 0 && len((*row)[len(*row)-1]) < maxCell:
			(*row)[len(*row)-1] += " " + cell
		}
	}
	heads, _ := strconv.Atoi(r.option("header-rows", from))
	r.add("", rstInline(caption))
	r.addTable(rows, heads > 0, rstInline)
	return len(lines)
}

// option returns the value of a directive's option. The second argument is the number of their lines.
func (r *rst) option(name string, lines int) string {
	for n := 1; n < lines; n++ {
		if value, ok := strings.CutPrefix(strings.TrimSpace(r.line(n)), ":"+name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// csvTable reads a table of comma-separated values, and returns its number of lines.
func (r *rst) csvTable(from, indent int, caption string) int {
	lines := r.below(from, indent)
	var text strings.Builder
	if names := r.option("header", from); names != "" {
		text.WriteString(names + "\n")
	}
	heads := min(text.Len(), 1)
	for _, line := range lines {
		text.WriteString(strings.TrimSpace(line) + "\n")
	}
	rows, _ := records(context.Background(), text.String(), ',', -1)
	r.add("", rstInline(caption))
	r.addTable(rows, heads > 0, rstInline)
	return len(lines)
}

// text adds a line of a paragraph, an item or a definition.
func (r *rst) text(line, trimmed string) {
	if trimmed == "" {
		r.add("")
		return
	}
	indented := indentation(line) > 0
	trimmed = rstNumber.ReplaceAllString(trimmed, "- ")
	if rest, ok := strings.CutSuffix(trimmed, "::"); ok {
		if trimmed = strings.TrimSpace(rest); rest == trimmed && rest != "" {
			trimmed += ":"
		}
	}
	next := r.line(1)
	field, program := rstField.FindStringSubmatch(line), rstProgram.FindStringSubmatch(trimmed)
	switch {
	case trimmed == "", isUnderlineRST(trimmed) && len(trimmed) > 3:
		r.add("")
	case field != nil:
		r.field(field[1], field[2])
	case program != nil:
		r.listed = true
		r.add("", "`"+strings.ReplaceAll(program[1], "`", "")+"`", rstMeaning+rstInline(program[2]))
	case textline.IsItem(trimmed):
		r.listed = true
		r.add(rstInline(trimmed))
	case strings.HasPrefix(trimmed, "|") && strings.HasSuffix(trimmed, "|") && len(trimmed) > 1, strings.HasPrefix(trimmed, "+-"), strings.HasPrefix(trimmed, "+="):
		r.add(rstInline(trimmed)) // of a table in a box
	case strings.HasPrefix(trimmed, "| "):
		r.add(rstInline(trimmed[2:])+`\`, "")
	case strings.HasPrefix(line, rstMeaning):
		r.listed = true
		r.add(rstInline(line))
	case r.listed && indented:
		r.add("  " + rstInline(trimmed))
	case r.isTerm(line, next):
		r.listed = false
		r.add("", rstInline(trimmed))
		r.lines[r.at+1] = rstMeaning + strings.TrimSpace(next)
	default:
		r.listed = false
		r.add(rstInline(trimmed))
	}
}

// field adds the field of a list, whose value goes on in the lines that are indented below it.
func (r *rst) field(name, value string) {
	if words := strings.Fields(name); len(words) > 1 && slices.Contains([]string{"param", "parameter", "arg", "argument", "keyword"}, words[0]) {
		name = words[len(words)-1] // "param bed" and "param int bed" of a function
	}
	whole := []string{value}
	for n, indent := 1, indentation(r.line(0)); r.line(n) != "" && indentation(r.line(n)) > indent && !textline.IsItem(strings.TrimSpace(r.line(n))); n++ {
		whole = append(whole, strings.TrimSpace(r.line(n)))
		r.lines[r.at+n] = ""
	}
	value = strings.TrimSpace(strings.Join(whole, " "))
	if value != "" || len(r.below(1, indentation(r.line(0)))) > 0 { // not ":orphan:"
		value = strings.TrimSpace(name + ": " + rstInline(value))
	}
	r.add("", value)
}

// rstMeaning stands before the meaning of a term in Markdown.
const rstMeaning = ":   "

// isTerm reports whether the current line is a term, and the next one begins to define it.
func (r *rst) isTerm(line, next string) bool {
	above := r.lines[max(0, r.at-1)]
	begins := r.at == 0 || strings.TrimSpace(above) == "" || strings.HasPrefix(above, rstMeaning) || indentation(above) > indentation(line)
	return begins && next != "" && indentation(next) > indentation(line) && !textline.IsItem(strings.TrimSpace(next)) && !strings.HasSuffix(line, "::") &&
		len(line) < 100 && !rstDirective.MatchString(next)
}

// Marks within a line.
var (
	rstRole   = lazyregexp.New(`:[\w:+.-]{1,40}:$`) // at most maxRole
	rstTarget = lazyregexp.New(`^(.*\S)\s*<[^<>]*>$`)
)

// rstInline returns a line in Markdown's signs.
func rstInline(line string) string {
	var out []byte
	for line != "" {
		before, rest, found := strings.Cut(line, "`")
		out = append(out, strings.ReplaceAll(before, `\ `, "")...)
		if !found {
			break
		}
		mark := "`"
		if strings.HasPrefix(rest, "`") {
			mark, rest = "``", rest[1:]
		}
		inner, after, closed := strings.Cut(rest, mark)
		if !closed {
			out, line = append(out, mark...), rest
			continue
		}
		if mark == "`" {
			if at := rstRole.FindStringIndex(string(out[max(0, len(out)-maxRole):])); at != nil {
				out = out[:len(out)-(at[1]-at[0])]
			}
			if m := rstTarget.FindStringSubmatch(inner); m != nil {
				inner = m[1]
			}
			after = strings.TrimPrefix(strings.TrimPrefix(after, "_"), "_")
		}
		out = append(out, "`"+strings.ReplaceAll(inner, "`", "")+"`"...)
		line = after
	}
	return string(out)
}

// maxRole is the greatest length of the name, in bytes, that may stand before marked text.
const maxRole = 44
