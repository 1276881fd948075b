package documents

import (
	"html"
	"strings"
	"unicode/utf8"
)

// This file takes the marks out of a line of Markdown.

// plainCell returns the text of a cell. A backslash stands before a bar within code, too, where no other sign has one.
func plainCell(cell string) string {
	return plain(strings.ReplaceAll(strings.TrimSpace(cell), `\|`, "|"))
}

// plain drops inline markup: emphasis, code marks, links and images (it keeps their text), tags, escapes and entities.
func plain(s string) string {
	text, _ := unmark(s)
	return text
}

// unmark is plain. It also returns how many bytes it searched for closing marks.
func unmark(s string) (text string, searched int) {
	var b strings.Builder
	m := marks{s: s, ticks: lastTicks(s)}
	var e emphasis
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
			if end := m.code(n, i); end < len(s) { // code: nothing inside is markup
				b.WriteString(s[i:end])
				i = end + n
			}
		case c == '!' && strings.HasPrefix(s[i:], "!["):
			i++
		case c == '%' && strings.HasPrefix(s[i:], "%%"):
			if end := m.hidden(i); end > 0 {
				i = end
			} else {
				b.WriteString("%%")
				i += 2
			}
		case c == '[':
			if end := m.badge(i); end > 0 {
				i = end
			} else if text, end := m.link(i); end > 0 {
				b.WriteString(text)
				i = end
			} else {
				b.WriteByte(c)
				i++
			}
		case c == '<':
			i = m.tag(&b, i)
		case c == '*', c == '_', c == '=':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], s[i:i+1]))
			e.mark(s, i, n, b.Len())
			b.WriteString(s[i : i+n])
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return html.UnescapeString(e.without(b.String())), m.searched
}

// marks finds closing marks in a text. It remembers the last result for each mark and searches again only after it.
// Otherwise it would read a text full of opening marks to the end for each of them.
type marks struct {
	s        string
	ticks    []int // see lastTicks
	found    map[string]span
	closing  map[int]int // see pair
	searched int         // bytes, in all searches
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

// lastTicks returns, for each n up to the longest run of backticks, where the last run of at least n begins. Without it, a text with
// runs of many lengths would be searched to its end for each length.
func lastTicks(s string) (last []int) {
	last = append(last, len(s))
	for end := strings.LastIndexByte(s, '`') + 1; end > 0; {
		begin := len(strings.TrimRight(s[:end], "`"))
		for len(last) <= end-begin {
			last = append(last, begin)
		}
		end = strings.LastIndexByte(s[:begin], '`') + 1
	}
	return last
}

// code returns the offset of the run of n backticks that ends the code that begins at an offset, or len(s) if there is none.
func (m *marks) code(n, from int) int {
	if n >= len(m.ticks) || m.ticks[n] < from {
		return len(m.s)
	}
	return m.next(m.s[from-n:from], from)
}

// maxBrackets is how deep brackets nest in the text of a link. Each level is read again.
const maxBrackets = 3

// pair finds where the bracket is that closes each "[" outside code, unless others nest too deep in it.
func (m *marks) pair() {
	m.closing = map[int]int{}
	var open, depth []int // offsets, and how deep other brackets nest in them
	for i := 0; i < len(m.s); i++ {
		switch m.s[i] {
		case '\\':
			i++
		case '`':
			n := len(m.s[i:]) - len(strings.TrimLeft(m.s[i:], "`"))
			if end := m.code(n, i+n); end < len(m.s) {
				i = end
			}
			i += n - 1
		case '[':
			open, depth = append(open, i), append(depth, 0)
		case ']':
			last := len(open) - 1
			if last < 0 {
				continue
			}
			if depth[last] < maxBrackets {
				m.closing[open[last]] = i
			}
			if last > 0 {
				depth[last-1] = max(depth[last-1], depth[last]+1)
			}
			open, depth = open[:last], depth[:last]
		}
	}
	m.searched += len(m.s)
}

// link reads "[text](target)", "[text][ref]" or "[[page|text]]" at an offset. It returns the text and the offset after
// the link, which is 0 if there is no link.
func (m *marks) link(at int) (text string, end int) {
	if strings.HasPrefix(m.s[at:], "[[") {
		if end := m.next("]]", at+2); end < len(m.s) {
			inner := m.s[at+2 : end]
			return shownName(inner), end + 2
		}
	}
	if m.closing == nil {
		m.pair()
	}
	closed, ok := m.closing[at]
	if !ok {
		return "", 0
	}
	if end = m.target("target", closed); end == 0 {
		return "", 0
	}
	return plain(m.s[at+1 : closed]), end
}

// shownName returns what is shown of the link "[[inner]]": what stands behind its bar, unless that is an image's size, or the page
// and the heading to which it leads.
func shownName(inner string) string {
	page, shown, _ := strings.Cut(inner, "|")
	if strings.Trim(shown, "0123456789x ") != "" {
		return shown
	}
	page, _, _ = strings.Cut(page, "#^")
	return strings.ReplaceAll(strings.TrimPrefix(page, "#"), "#", ", ")
}

// hidden returns the offset after the comment "%%…%%" at an offset; 0 if there is none.
func (m *marks) hidden(at int) int {
	end := m.next("%%", at+2)
	if end == len(m.s) || end == at+2 || at > 0 && m.s[at-1] != ' ' {
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(m.s[end+2:]); isWord(r) {
		return 0
	}
	return end + 2
}

// target returns the offset after the "(target)" or "[ref]" behind a "]" at an offset; 0 if there is none. use is as in nextAs.
func (m *marks) target(use string, at int) int {
	if at+1 >= len(m.s) {
		return 0
	}
	closing := map[byte]string{'(': ")", '[': "]"}[m.s[at+1]]
	if closing == "" {
		return 0
	}
	if stop := m.nextAs(use+closing, closing, at+2); stop < len(m.s) {
		return stop + 1
	}
	return 0
}

// badge returns the offset after an image that is a link, "[![text](image)](target)", at an offset; 0 if there is none.
// Such images show a project's status; their texts say nothing.
func (m *marks) badge(at int) int {
	if !strings.HasPrefix(m.s[at:], "[![") {
		return 0
	}
	_, end := m.link(at + 2)
	if end == 0 || end >= len(m.s) || m.s[end] != ']' {
		return 0
	}
	return m.target("badge", end)
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
