package retrieval

import (
	"context"
	"html"
	"strings"
)

// parseMarkdown reads Markdown as people write notes in it. It is no CommonMark renderer: it wants the
// words, the headings and the list lines, and drops the markup. The title is that of the front matter, or
// the first heading when nothing but a heading comes before it.
func parseMarkdown(_ context.Context, data []byte) (document, string) {
	text, reason := decodeText(data)
	if reason != "" {
		return document{}, reason
	}
	m := markdown{}
	lines := m.frontMatter(splitLines(text))
	m.wraps = wrapped(lines)
	for i, line := range lines {
		if m.fence == "" && !m.comment && (len(m.para) == 0 || closed(m.para[len(m.para)-1], strings.TrimSpace(line), m.wraps)) && announces(lines, i) {
			m.heading(6, strings.TrimSuffix(strings.TrimSpace(line), ":"))
			continue
		}
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		m.line(line, next)
	}
	m.end()
	return m.doc, ""
}

type markdown struct {
	doc     document
	para    []string
	item    bool   // para is a list item
	fence   string // the marker that closes a code block, "" outside
	comment bool   // inside <!-- -->
	level   int    // of the first heading
	wraps   bool   // the text was wrapped by a program
}

// frontMatter cuts off a leading "---" block and takes its title.
func (m *markdown) frontMatter(lines []string) []string {
	if len(lines) == 0 || strings.TrimSpace(lines[0]) != "---" {
		return lines
	}
	for i, line := range lines[1:] {
		if t := strings.TrimSpace(line); t == "---" || t == "..." {
			for _, l := range lines[1 : 1+i] {
				if key, value, ok := strings.Cut(l, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "title") {
					m.doc.title = collapse(strings.Trim(strings.TrimSpace(value), `"'`))
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
			m.doc.add(listLine, line) // code is kept as lines: it may be the very thing asked for
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
	item, isItem := cutMarker(trimmed)
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
		m.doc.add(listLine, tableRow(trimmed))
	case len(m.para) == 0 && isUnderline(under):
		m.heading(map[bool]int{true: 1, false: 2}[under[0] == '='], trimmed)
	case isLabel(plain(trimmed)) && !m.item:
		m.end()
		m.doc.add(listLine, plain(trimmed))
	default:
		indented := line != strings.TrimLeft(line, " \t")
		if n := len(m.para); n > 0 && !(m.item && indented) && brokenOff(m.para[n-1], trimmed, m.wraps) {
			m.end()
		}
		m.para = append(m.para, trimmed)
	}
}

// uncomment drops what lies between <!-- and -->, over several lines too.
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
	text = strings.TrimSuffix(collapse(plain(text)), ":")
	if text == "" {
		return
	}
	if m.doc.title == "" && len(m.doc.blocks) == 0 {
		m.doc.title, m.level = text, level
		return
	}
	m.doc.add(heading, text)
}

// end closes the paragraph or item being read.
func (m *markdown) end() {
	kind := paragraph
	if m.item {
		kind = listLine
	}
	m.doc.add(kind, plain(strings.Join(m.para, " ")))
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

// atxHeading returns the level and text of a "## heading" line, level 0 for other lines.
func atxHeading(line string) (int, string) {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 6 || n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0, ""
	}
	return n, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[n:]), "#"))
}

// isUnderline reports whether a line makes the line above it a heading.
func isUnderline(line string) bool {
	return len(line) >= 2 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// tableRow joins the cells of a table's line; the line that draws the table's head gives "".
func tableRow(line string) string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		if cell = strings.TrimSpace(cell); strings.Trim(cell, ":-") != "" {
			cells = append(cells, plain(cell))
		}
	}
	return joinCells(cells)
}

// joinCells writes a table's row as a line: two cells are mostly a name and its value.
func joinCells(cells []string) string {
	if len(cells) == 2 {
		return strings.TrimSuffix(cells[0], ":") + ": " + cells[1]
	}
	return strings.Join(cells, ", ")
}

// plain drops inline markup: emphasis, code marks, links (keeping their text), images (keeping what they
// show), tags, escapes and entities.
func plain(s string) string {
	var b strings.Builder
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
			if end := strings.Index(s[i+n:], s[i:i+n]); end >= 0 { // code: nothing inside is markup
				b.WriteString(s[i+n : i+n+end])
				i += n + end
			}
			i += n
		case c == '!' && strings.HasPrefix(s[i:], "!["):
			i++
		case c == '[':
			text, rest, ok := link(s[i:])
			if ok {
				b.WriteString(text)
				i = len(s) - len(rest)
			} else {
				b.WriteByte(c)
				i++
			}
		case c == '<':
			i += tag(&b, s[i:])
		case c == '*', c == '~' && strings.HasPrefix(s[i:], "~~"):
			// "3 * 4" keeps its sign; emphasis touches a word
			if c == '*' && (i == 0 || s[i-1] == ' ') && (i+1 == len(s) || s[i+1] == ' ') {
				b.WriteByte(c)
			}
			i++
			if c == '~' {
				i++
			}
		case c == '_' && (i == 0 || !isWordByte(s[i-1]) || i+1 == len(s) || !isWordByte(s[i+1])):
			i++ // inside a word it is part of a name
		default:
			b.WriteByte(c)
			i++
		}
	}
	return html.UnescapeString(b.String())
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// link reads "[text](target)", "[text][ref]" or "[[page|text]]" at the start of s.
func link(s string) (text, rest string, ok bool) {
	if inner, after, found := strings.Cut(strings.TrimPrefix(s, "[["), "]]"); found && strings.HasPrefix(s, "[[") {
		if _, shown, ok := strings.Cut(inner, "|"); ok {
			inner = shown
		}
		return inner, after, true
	}
	end := strings.IndexByte(s, ']')
	if end < 0 || end+1 >= len(s) {
		return "", "", false
	}
	closing := map[byte]byte{'(': ')', '[': ']'}[s[end+1]]
	if closing == 0 {
		return "", "", false
	}
	stop := strings.IndexByte(s[end+2:], closing)
	if stop < 0 {
		return "", "", false
	}
	return strings.NewReplacer("*", "", "`", "").Replace(s[1:end]), s[end+2+stop+1:], true
}

// tag reads an HTML tag or <autolink> at the start of s and returns its length; a "<" that starts none is
// kept.
func tag(b *strings.Builder, s string) int {
	end := strings.IndexByte(s, '>')
	if end < 2 || s[1] != '/' && s[1] != '!' && !(s[1] >= 'a' && s[1] <= 'z' || s[1] >= 'A' && s[1] <= 'Z') {
		b.WriteByte('<')
		return 1
	}
	if inner := s[1:end]; strings.Contains(inner, "://") || strings.Contains(inner, "@") && !strings.Contains(inner, " ") {
		b.WriteString(inner)
	} else {
		b.WriteByte(' ')
	}
	return end + 1
}
