package documents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseMarkdown reads Markdown as people write notes in it. It does not follow CommonMark: it keeps the words, the
// headings and the list lines, and drops the markup. The title comes from the front matter, or else from the first
// heading, if no text comes before it.
func parseMarkdown(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	return markdownDocument(ctx, withNotes(withoutTags(lines)), true), nil
}

// markdownDocument returns the document in lines of Markdown, or what it has of it when ctx ends. With titled, a heading at their
// start is the title.
func markdownDocument(ctx context.Context, lines []string, titled bool) Document {
	m := markdown{titled: titled, lastEnd: map[string]int{}}
	m.lines = withoutDefinitions(m.frontMatter(ctx, lines))
	m.width, m.coded = wrapWidth(proseOf(m.lines), nil), codeLines(m.lines)
	for i, line := range m.lines {
		if strings.HasSuffix(strings.TrimSpace(line), "%%") {
			m.lastEnd["%%"] = i
		}
		for _, end := range []string{"</script>", "</style>"} {
			if strings.Contains(line, end) {
				m.lastEnd[end] = i
			}
		}
	}
	for i := 0; i < len(m.lines) && ctx.Err() == nil; {
		if !strings.HasPrefix(strings.TrimSpace(m.lines[i]), ">") {
			m.endCallout()
		}
		n, next := 0, ""
		if m.fence == "" && m.comment == "" {
			n = m.block(i)
			next = strings.Join(m.lines[i+1:min(i+2, len(m.lines))], "")
		}
		if n == 0 {
			m.line(m.beginComment(i), next)
			n = 1
		}
		i += n
	}
	m.end()
	m.endCallout()
	m.endCode()
	m.demoteTitle()
	m.doc.Blocks = append(m.front, m.doc.Blocks...)
	return m.doc
}

// block adds the table, the heading or what else is known by more than its first line and begins with line i, and returns how
// many lines it takes. It returns 0 if none begins there.
func (m *markdown) block(i int) int {
	if n, rows, head := tableAt(m.lines[i:]); n > 0 {
		m.end()
		m.doc.AddTable(rows, head)
		return n
	}
	if len(m.para) == 0 {
		if n := m.apart(i); n > 0 {
			return n
		}
	}
	line := strings.TrimSpace(m.lines[i])
	if len(m.para) > 0 && !endsBefore(&m.doc, m.para, line, m.width) || !isPlainHeading(m.lines, i) {
		return 0
	}
	if leadsOnlyList(m.lines, i) {
		m.end()
		m.doc.Add(Paragraph, plain(line))
	} else {
		m.heading(LowestLevel, strings.TrimSuffix(line, ":"))
	}
	return 1
}

// apart is block for what begins only where no paragraph is open.
func (m *markdown) apart(i int) int {
	if text, n := defined(m.lines[i:]); n > 0 {
		m.doc.Add(Line, text)
		return n
	}
	if n, rows, head := columns(m.lines[i:]); n > 2 {
		m.doc.AddTable(rows, head)
		return n
	}
	if text, ok := boldLine(m.lines, i); ok {
		m.heading(LowestLevel, text)
		return 1
	}
	n := 0
	for i+n < len(m.lines) && m.coded[i+n] {
		n++
	}
	if n > 0 {
		m.doc.AddCode(m.lines[i : i+n])
	}
	return n
}

// meaning matches a line that defines the term above it: ": A fruit".
var meaning = lazyregexp.New(`^ {0,3}: +(\S.*)$`)

// defined returns the term at the start of lines with its definition, and the number of lines that both take, 0 if
// there is none.
func defined(lines []string) (text string, n int) {
	term := strings.TrimSpace(lines[0])
	if term == "" || textline.IsItem(term) || strings.HasPrefix(term, "#") || strings.HasPrefix(term, "|") || english.CountWords(term) > textline.AboveWords {
		return "", 0
	}
	var said strings.Builder
	between := ": "
	for n = 1; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		if m := meaning.FindStringSubmatch(lines[n]); m != nil {
			said.WriteString(between + plain(strings.TrimSpace(m[1])))
			between = "; "
		} else if line != "" && said.Len() > 0 && strings.HasPrefix(lines[n], "  ") {
			said.WriteString(" " + plain(line))
		} else if line != "" || n+1 == len(lines) || !meaning.MatchString(lines[n+1]) {
			break
		}
	}
	if said.Len() == 0 {
		return "", 0
	}
	return strings.TrimSuffix(plain(term), ":") + said.String(), n
}

// definition is a line that says where links lead to: "[label]: https://…".
var definition = lazyregexp.New(`^ {0,3}\[([^\]^][^\]]*)\]:\s+<?(?:[a-z]+://|mailto:|[/#.])\S*(?:\s+["'(].*)?$`)

// shortcut is a link with nothing but a label.
var shortcut = lazyregexp.New(`\[([^\[\]]+)\](?:$|[^\[(:])`)

// withoutDefinitions removes the lines that say where links lead to, and marks the links that are nothing but such a
// label as links.
func withoutDefinitions(lines []string) []string {
	labels, fence := map[string]bool{}, ""
	kept := make([]string, 0, len(lines))
	for _, line := range lines {
		fence = fenceAfter(fence, line)
		if d := definition.FindStringSubmatch(line); d != nil && fence == "" {
			labels[strings.ToLower(d[1])] = true
			continue
		}
		kept = append(kept, line)
	}
	if len(labels) == 0 {
		return kept
	}
	fence = ""
	for i, line := range kept {
		if fence = fenceAfter(fence, line); fence != "" {
			continue
		}
		var b strings.Builder
		from := 0
		for _, at := range shortcut.FindAllStringSubmatchIndex(line, -1) {
			if labels[strings.ToLower(line[at[2]:at[3]])] && (at[0] == 0 || line[at[0]-1] != ']') {
				b.WriteString(line[from:at[3]] + "][]")
				from = at[3] + 1
			}
		}
		kept[i] = b.String() + line[from:]
	}
	return kept
}

// fenceAfter returns the marker that closes the code block in which the line after this one stands, "" outside.
func fenceAfter(fence, line string) string {
	line = strings.TrimSpace(line)
	switch {
	case fence == "":
		return codeFence(line)
	case strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "":
		return ""
	}
	return fence
}

// proseOf returns the lines that a program may have wrapped: not code, tables and headings. Blank lines take their places.
func proseOf(lines []string) []string {
	prose, fence := make([]string, len(lines)), ""
	for i, line := range lines {
		inside := fence != ""
		fence = fenceAfter(fence, line)
		if trimmed := strings.TrimSpace(line); !inside && fence == "" && !strings.HasPrefix(trimmed, "|") && !strings.HasPrefix(trimmed, "#") {
			prose[i] = line
		}
	}
	return prose
}

// boldLine returns the text of line i if all of it is bold, as some people write headings: alone, and before text.
func boldLine(lines []string, i int) (text string, ok bool) {
	line := strings.TrimSpace(lines[i])
	if len(line) < 5 || line[:2] != "**" && line[:2] != "__" || !strings.HasSuffix(line, line[:2]) || i+1 == len(lines) {
		return "", false
	}
	text = line[2 : len(line)-2]
	return text, !strings.Contains(text, line[:2]) && english.CountWords(text) <= MaxHeading
}

// codeLines reports which lines are indented as code is, after a blank line or other code. Below an item of a list, only those are
// that stand farther right than its text does: others go on with the item.
func codeLines(lines []string) []bool {
	code := make([]bool, len(lines))
	var items []column // around the line, the outermost first
	fence, blank := "", true
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if fence != "" || trimmed == "" {
			fence, blank = fenceAfter(fence, line), trimmed == ""
			continue
		}
		at, item := inset(line), textline.IsItem(trimmed)
		for n := len(items); n > 0 && at <= items[n-1].mark && (blank || item); n = len(items) {
			items = items[:n-1]
		}
		text := 0
		if n := len(items); n > 0 {
			text = items[n-1].text
		}
		code[i] = isIndented(line) && at >= text+codeIndent && (blank || i > 0 && code[i-1])
		if item && at < text+codeIndent {
			rest, _ := english.CutMarker(trimmed)
			items = append(items, column{at, at + min(len(trimmed)-len(rest), codeIndent)})
		}
		if !code[i] {
			fence = fenceAfter(fence, line)
		}
		blank = false
	}
	return code
}

// column is where an item of a list and its text begin.
type column struct{ mark, text int }

// codeIndent is how much farther right than other text code begins, and how far apart tab stops are.
const codeIndent = 4

// inset returns the column in which a line's text begins.
func inset(line string) int { return indentationBy(codeIndent, line) }

func isIndented(line string) bool {
	return (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) && strings.TrimSpace(line) != "" && !textline.IsItem(strings.TrimSpace(line))
}

type markdown struct {
	lines   []string
	coded   []bool // see codeLines
	doc     Document
	para    []string
	item    bool           // para is a list item
	fence   string         // the marker that closes a code block, "" outside
	quoted  bool           // the block of code is within a quotation
	code    []string       // the lines of the block so far
	comment string         // the mark that ends the comment, "" outside
	lastEnd map[string]int // the last line that may end what is hidden, by the mark that ends it
	callout string         // what the next paragraph is: "Note: "
	width   int            // at which a program wrapped the text; 0 if none did
	front   []Block        // the front matter without the title

	titled     bool // a heading at the start is the title
	titleLevel int  // of the heading that is the title; 0 if none is
}

// line reads a line, given the one below it.
func (m *markdown) line(line, next string) {
	if m.fence != "" {
		m.codeLine(line)
		return
	}
	trimmed := blockName.ReplaceAllString(m.uncomment(strings.TrimSpace(line)), "")
	quoted := strings.HasPrefix(trimmed, ">")
	for strings.HasPrefix(trimmed, ">") {
		trimmed = strings.TrimSpace(trimmed[1:])
	}
	if fence := codeFence(trimmed); fence != "" {
		m.end()
		m.endCallout()
		m.fence, m.quoted = fence, quoted
		return
	}
	if kind := callout.FindStringSubmatch(trimmed); kind != nil && quoted {
		m.end()
		m.endCallout()
		m.callout = cmp.Or(strings.TrimSuffix(kind[2], ":"), english.Capitalise(strings.ToLower(strings.ReplaceAll(kind[1], "-", " "))))
		return
	}
	level, text := atxHeading(trimmed)
	item, isItem := english.CutMarker(trimmed)
	if level > 0 || isItem {
		m.endCallout()
	}
	if level > 0 {
		m.heading(level, text)
		return
	}
	if m.callout != "" && trimmed != "" {
		m.end()
		m.para, m.callout = append(m.para, m.callout+": "+trimmed), ""
		return
	}
	switch under := strings.TrimSpace(next); {
	case trimmed == "":
		m.end()
	case isUnderline(trimmed) && len(m.para) == 0, isRule(trimmed):
		m.end()
	case isItem:
		m.beginItem(trimmed, item)
	case len(m.para) == 0 && isUnderline(under):
		level := 2
		if under[0] == '=' {
			level = 1
		}
		m.heading(level, trimmed)
	case textline.IsLabel(plain(trimmed)) && !m.item && !m.goesOn(trimmed):
		m.end()
		m.doc.Add(Line, plain(trimmed))
	default:
		m.prose(line, trimmed)
	}
}

// codeLine reads a line of a block of code, or its end.
func (m *markdown) codeLine(line string) {
	if inner, quoted := strings.CutPrefix(strings.TrimSpace(line), ">"); quoted && m.quoted {
		line = strings.TrimPrefix(inner, " ")
	}
	if m.fence = fenceAfter(m.fence, line); m.fence != "" {
		m.code = append(m.code, line) // code stays: a question may ask for just that
	} else {
		m.endCode()
	}
}

// callout matches the first line of a quotation that is a note to the reader: its kind, and perhaps its title.
var callout = lazyregexp.New(`^\[!([\pL][\pL\d-]{0,30})(?:\|[^\]]*)?\][+-]?(?:\s+(\S.*))?$`)

// endCallout adds the title of a note that no paragraph follows.
func (m *markdown) endCallout() {
	if m.callout != "" {
		m.doc.Add(Paragraph, plain(m.callout))
		m.callout = ""
	}
}

// blockName matches the name that Obsidian gives to a paragraph or an item, at its end.
var blockName = lazyregexp.New(`(?:^|\s)\^(?:[\dA-Za-z-]+[A-Za-z][\dA-Za-z-]*|[A-Za-z][\dA-Za-z-]+)$`)

// beginItem begins an item of a list, given its line and its text. Numbers stay, and bullets become "-".
func (m *markdown) beginItem(trimmed, text string) {
	m.end()
	m.item = true
	mark := "- "
	if trimmed[0] >= '0' && trimmed[0] <= '9' {
		mark = trimmed[:strings.IndexByte(trimmed, ' ')+1]
	}
	m.para = append(m.para, mark+text)
}

// prose adds a line to the paragraph or the item, or begins another paragraph where someone broke the line on purpose.
func (m *markdown) prose(line, trimmed string) {
	indented := line != strings.TrimLeft(line, " \t")
	if n := len(m.para); n > 0 && !(m.item && indented) && (endsParagraph(&m.doc, m.para, trimmed, m.width) || boldLabel.MatchString(trimmed)) {
		m.end()
	}
	broken := strings.TrimSuffix(trimmed, "\\")
	m.para = append(m.para, broken)
	if !m.item && (broken != trimmed || strings.HasSuffix(line, "  ")) {
		m.end()
	}
}

// boldLabel matches a line that begins with what it is about: "**Error E5** – Fan blocked."
var boldLabel = lazyregexp.New(`^(?:\*\*|__)[^*_]{1,60}(?::(?:\*\*|__)|(?:\*\*|__) ?[:–—-]) `)

// goesOn reports whether a line in lower case goes on with the sentence of a full line before it, or of one with an
// open parenthesis.
func (m *markdown) goesOn(line string) bool {
	if len(m.para) == 0 {
		return false
	}
	last := m.para[len(m.para)-1]
	r, _ := utf8.DecodeRuneInString(line)
	open := strings.LastIndexByte(last, '(') > strings.LastIndexByte(last, ')')
	return unicode.IsLower(r) && !strings.ContainsAny(last[len(last)-1:], ".!?:") && (open || utf8.RuneCountInString(last) >= minWidth)
}

// hiddenElement matches the beginning of a script or a style sheet.
var hiddenElement = lazyregexp.New(`^<(script|style)\b`)

// beginComment returns line i, without the %% that begins a comment of several lines. A script or a style sheet is hidden as a
// comment is.
func (m *markdown) beginComment(i int) string {
	line := strings.TrimSpace(m.lines[i])
	rest, marked := strings.CutPrefix(line, "%%")
	if m.fence != "" || m.comment != "" {
		return m.lines[i]
	}
	if e := hiddenElement.FindStringSubmatch(line); e != nil {
		if last, ends := m.lastEnd["</"+e[1]+">"]; ends && i <= last {
			m.comment = "</" + e[1] + ">"
			return line
		}
	}
	if !marked || i >= m.lastEnd["%%"] || strings.Contains(rest, "%%") {
		return m.lines[i]
	}
	m.comment = "%%"
	return rest
}

// commentOrCode matches code, in which nothing is a comment, and the mark that begins a comment.
var commentOrCode = lazyregexp.New("`[^`]+`|<!--")

// cutComment returns what stands before and after the mark that begins the first comment.
func cutComment(s string) (before, after string, ok bool) {
	from, next := 0, 0 // next is no mark, or the first one from there on
	for {
		if from >= next {
			n := strings.Index(s[from:], "<!--")
			if n < 0 {
				return s, "", false
			}
			next = from + n
		}
		at := commentOrCode.FindStringIndex(s[from:])
		if s[from+at[0]] == '<' {
			return s[:from+at[0]], s[from+at[1]:], true
		}
		from += at[1]
	}
}

// uncomment drops comments, which may go on in further lines.
func (m *markdown) uncomment(s string) string {
	var b strings.Builder
	for {
		if m.comment != "" {
			_, after, ok := strings.Cut(s, m.comment)
			if !ok {
				return strings.TrimSpace(b.String())
			}
			s, m.comment = after, ""
		}
		before, after, ok := cutComment(s)
		b.WriteString(before)
		if !ok {
			return strings.TrimSpace(b.String())
		}
		s, m.comment = after, "-->"
	}
}

// headingMarks are what some programs read after a heading: "{#name .class}", "{ #name }".
var headingMarks = lazyregexp.New(`\s*\{ ?[#.:][^{}]*\}\s*$`)

func (m *markdown) heading(level int, text string) {
	m.end()
	text = strings.TrimSuffix(english.Collapse(plain(headingMarks.ReplaceAllString(text, ""))), ":")
	if text == "" {
		return
	}
	if m.doc.Title == "" && len(m.doc.Blocks) == 0 && m.titled {
		m.doc.Title, m.titleLevel = text, level
		return
	}
	m.doc.AddHeading(level, text)
}

// demoteTitle makes the title a heading if it only begins the first of several sections: it has not the highest level, and text is
// below it.
func (m *markdown) demoteTitle() {
	m.doc.DemoteTitle(false)
	if blocks := m.doc.Blocks; m.doc.Title == "" || m.titleLevel < 2 || m.titleLevel == LowestLevel || len(blocks) == 0 || blocks[0].Kind == Heading {
		return
	}
	for _, b := range m.doc.Blocks {
		if b.Kind == Heading && int(b.Level) == m.titleLevel {
			m.doc.Blocks = slices.Insert(m.doc.Blocks, 0, Block{Kind: Heading, Level: b.Level, Text: m.doc.Title})
			m.doc.Title = ""
			return
		}
	}
}

// endCode ends a block of code.
func (m *markdown) endCode() {
	m.doc.AddCode(m.code)
	m.code = nil
}

// end ends the current paragraph or item.
func (m *markdown) end() {
	kind := Paragraph
	if m.item {
		kind = Line
	}
	m.doc.Add(kind, plain(strings.Join(m.para, " ")))
	m.para, m.item = nil, false
}

func codeFence(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return strings.Repeat(c, n)
		}
	}
	return ""
}

// atxHeading returns the level and text of a "## heading" line. The level is 0 for other lines.
func atxHeading(line string) (int, string) {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0, ""
	}
	return n, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[n:]), "#"))
}

// isUnderline reports whether a line turns the line above it into a heading.
func isUnderline(line string) bool {
	return len(line) >= 2 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// tableAt returns the table at the start of lines, and how many lines it takes; 0 if there is none. The rule below its
// first line makes a table; a line that begins with a bar is one, too.
func tableAt(lines []string) (n int, rows [][]string, head blocks.Headed) {
	if n, rows, head = boxedTable(lines); n > 0 {
		for _, row := range rows {
			for c := range row {
				row[c] = plain(row[c])
			}
		}
		return n, rows, head
	}
	barred := strings.HasPrefix(strings.TrimSpace(lines[0]), "|")
	ruled := len(lines) > 1 && strings.Contains(lines[0], "|") && strings.Contains(lines[1], "|") && isTableRule(strings.TrimSpace(lines[1]))
	if !barred && !ruled {
		return 0, nil, blocks.NoHead
	}
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		if !strings.Contains(line, "|") || barred && !strings.HasPrefix(line, "|") {
			break
		}
		if strings.Trim(line, "|-: ") != "" {
			rows = append(rows, tableCells(line))
		}
	}
	if ruled {
		head = blocks.HasHead
	}
	return n, rows, head
}

// tableCells divides a table's line at its bars. A bar after a backslash belongs to the cell.
func tableCells(line string) (cells []string) {
	line = strings.TrimPrefix(line, "|")
	from := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, plainCell(line[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(line[from:]); last != "" {
		cells = append(cells, plainCell(last))
	}
	return cells
}
