package documents

import (
	"context"
	"html"
	"strings"

	"tandem/retrieval/internal/english"
)

// parseMarkdown reads Markdown as people write notes in it. It does not follow CommonMark: it keeps the words, the
// headings and the list lines, and drops the markup. The title comes from the front matter, or else from the first
// heading, if no text comes before it.
func parseMarkdown(_ context.Context, data []byte) (Document, error) {
	text, err := decodeText(data)
	if err != nil {
		return Document{}, err
	}
	m := markdown{}
	lines := m.frontMatter(splitLines(text))
	m.wraps = isWrapped(lines)
	for i, line := range lines {
		if m.fence == "" && !m.comment && (len(m.para) == 0 || endsBefore(m.para[len(m.para)-1], strings.TrimSpace(line), m.wraps)) && isPlainHeading(lines, i) {
			m.heading(LowestLevel, strings.TrimSuffix(strings.TrimSpace(line), ":"))
			continue
		}
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		m.line(line, next)
	}
	m.end()
	return m.doc, nil
}

type markdown struct {
	doc     Document
	para    []string
	item    bool   // para is a list item
	fence   string // the marker that closes a code block, "" outside
	comment bool   // inside <!-- -->
	level   int    // of the first heading
	wraps   bool   // a program wrapped the text
}

// frontMatter removes a leading "---" block and takes the title from it.
func (m *markdown) frontMatter(lines []string) []string {
	if len(lines) == 0 || strings.TrimSpace(lines[0]) != "---" {
		return lines
	}
	for i, line := range lines[1:] {
		if t := strings.TrimSpace(line); t == "---" || t == "..." {
			for _, l := range lines[1 : 1+i] {
				if key, value, ok := strings.Cut(l, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "title") {
					m.doc.Title = english.Collapse(strings.Trim(strings.TrimSpace(value), `"'`))
				}
			}
			return lines[i+2:]
		}
	}
	return lines
}

func (m *markdown) line(line, next string) {
	trimmed := strings.TrimSpace(line)
	if m.fence != "" {
		if strings.HasPrefix(trimmed, m.fence) && strings.Trim(trimmed, m.fence[:1]) == "" {
			m.fence = ""
		} else {
			m.doc.Add(Line, line) // code stays: a question may ask for just that
		}
		return
	}
	trimmed = m.uncomment(trimmed)
	for strings.HasPrefix(trimmed, ">") {
		trimmed = strings.TrimSpace(trimmed[1:])
	}
	if fence := codeFence(trimmed); fence != "" {
		m.end()
		m.fence = fence
		return
	}
	if level, text := atxHeading(trimmed); level > 0 {
		m.heading(level, text)
		return
	}
	item, isItem := english.CutMarker(trimmed)
	switch under := strings.TrimSpace(next); {
	case trimmed == "":
		m.end()
	case isUnderline(trimmed) && len(m.para) == 0, isRule(trimmed):
		m.end()
	case isItem:
		m.end()
		m.item = true
		m.para = append(m.para, "- "+strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(item, "[ ]"), "[x]")))
	case strings.HasPrefix(trimmed, "|"):
		m.end()
		m.doc.Add(Line, tableRow(trimmed))
	case len(m.para) == 0 && isUnderline(under):
		m.heading(map[bool]int{true: 1, false: 2}[under[0] == '='], trimmed)
	case isLabel(plain(trimmed)) && !m.item:
		m.end()
		m.doc.Add(Line, plain(trimmed))
	default:
		indented := line != strings.TrimLeft(line, " \t")
		if n := len(m.para); n > 0 && !(m.item && indented) && breaksBefore(m.para[n-1], trimmed, m.wraps) {
			m.end()
		}
		m.para = append(m.para, trimmed)
	}
}

// uncomment drops text between <!-- and -->, which may be lines apart.
func (m *markdown) uncomment(s string) string {
	var b strings.Builder
	for {
		if m.comment {
			_, after, ok := strings.Cut(s, "-->")
			if !ok {
				return strings.TrimSpace(b.String())
			}
			s, m.comment = after, false
		}
		before, after, ok := strings.Cut(s, "<!--")
		b.WriteString(before)
		if !ok {
			return strings.TrimSpace(b.String())
		}
		s, m.comment = after, true
	}
}

func (m *markdown) heading(level int, text string) {
	m.end()
	text = strings.TrimSuffix(english.Collapse(plain(text)), ":")
	if text == "" {
		return
	}
	if m.doc.Title == "" && len(m.doc.Blocks) == 0 {
		m.doc.Title, m.level = text, level
		return
	}
	m.doc.AddHeading(level, text)
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

// tableRow joins the cells of a table's line. It returns "" for the rule below the head.
func tableRow(line string) string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		if cell = strings.TrimSpace(cell); strings.Trim(cell, ":-") != "" {
			cells = append(cells, plain(cell))
		}
	}
	return joinCells(cells)
}

// joinCells writes a table's row as a line. Two cells are usually a name and its value.
func joinCells(cells []string) string {
	if len(cells) == 2 {
		return strings.TrimSuffix(cells[0], ":") + ": " + cells[1]
	}
	return strings.Join(cells, ", ")
}

// plain drops inline markup: emphasis, code marks, links and images (it keeps their text), tags, escapes and entities.
func plain(s string) string {
	text, _ := unmark(s)
	return text
}

// unmark is plain. It also returns how many bytes it searched for closing marks.
func unmark(s string) (text string, searched int) {
	var b strings.Builder
	m := marks{s: s}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!~|<>$", s[i+1]) >= 0:
			b.WriteByte(s[i+1])
			i += 2
		case c == '`':
			n := 1
			for i+n < len(s) && s[i+n] == '`' {
				n++
			}
			i += n
			if end := m.next(s[i-n:i], i); end < len(s) { // code: nothing inside is markup
				b.WriteString(s[i:end])
				i = end + n
			}
		case c == '!' && strings.HasPrefix(s[i:], "!["):
			i++
		case c == '[':
			if text, end := m.link(i); end > 0 {
				b.WriteString(text)
				i = end
			} else {
				b.WriteByte(c)
				i++
			}
		case c == '<':
			i = m.tag(&b, i)
		case c == '*', c == '~' && strings.HasPrefix(s[i:], "~~"):
			// emphasis touches a word: "3 * 4" keeps its asterisk
			if c == '*' && (i == 0 || s[i-1] == ' ') && (i+1 == len(s) || s[i+1] == ' ') {
				b.WriteByte(c)
			}
			i++
			if c == '~' {
				i++
			}
		case c == '_' && (i == 0 || !isWordByte(s[i-1]) || i+1 == len(s) || !isWordByte(s[i+1])):
			i++ // inside a word an underscore is part of a name
		default:
			b.WriteByte(c)
			i++
		}
	}
	return html.UnescapeString(b.String()), m.searched
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// marks finds closing marks in a text. It remembers the last result for each mark and searches again only after it.
// Otherwise it would read a text full of opening marks to the end for each of them.
type marks struct {
	s        string
	found    map[string]span
	searched int // bytes, in all searches
}

// span is the result of a search: the first mark at or after from is at to.
type span struct{ from, to int }

// next returns the offset of the first mark at or after from, or len(s) if there is none.
func (m *marks) next(mark string, from int) int { return m.nextAs(mark, mark, from) }

// nextAs is next with a separate memory for one use of the mark. Uses that search at different offsets would make each
// other forget.
func (m *marks) nextAs(use, mark string, from int) int {
	if f, ok := m.found[use]; ok && f.from <= from && from <= f.to {
		return f.to
	}
	to := len(m.s)
	if at := strings.Index(m.s[from:], mark); at >= 0 {
		to = from + at
	}
	if m.found == nil {
		m.found = map[string]span{}
	}
	m.found[use] = span{from, to}
	m.searched += to - from
	return to
}

// link reads "[text](target)", "[text][ref]" or "[[page|text]]" at an offset. It returns the text and the offset after
// the link, which is 0 if there is no link.
func (m *marks) link(at int) (text string, end int) {
	if strings.HasPrefix(m.s[at:], "[[") {
		if end := m.next("]]", at+2); end < len(m.s) {
			inner := m.s[at+2 : end]
			if _, shown, ok := strings.Cut(inner, "|"); ok {
				inner = shown
			}
			return inner, end + 2
		}
	}
	end = m.next("]", at)
	if end+1 >= len(m.s) {
		return "", 0
	}
	closing := map[byte]string{'(': ")", '[': "]"}[m.s[end+1]]
	if closing == "" {
		return "", 0
	}
	stop := m.nextAs("target"+closing, closing, end+2)
	if stop == len(m.s) {
		return "", 0
	}
	return strings.NewReplacer("*", "", "`", "").Replace(m.s[at+1 : end]), stop + 1
}

// tag reads an HTML tag or an <autolink> at an offset and returns the offset after it. A "<" that starts neither is kept.
func (m *marks) tag(b *strings.Builder, at int) int {
	s, end := m.s, m.next(">", at)
	if end == len(s) || end < at+2 || s[at+1] != '/' && s[at+1] != '!' && !(s[at+1] >= 'a' && s[at+1] <= 'z' || s[at+1] >= 'A' && s[at+1] <= 'Z') {
		b.WriteByte('<')
		return at + 1
	}
	if inner := s[at+1 : end]; strings.Contains(inner, "://") || strings.Contains(inner, "@") && !strings.Contains(inner, " ") {
		b.WriteString(inner)
	} else {
		b.WriteByte(' ')
	}
	return end + 1
}
