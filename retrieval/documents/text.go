package documents

import (
	"context"
	"fmt"
	"strings"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseText reads plain text. Blank lines end paragraphs; list items, and lines that someone broke on purpose, are blocks
// of their own. Lines in columns are tables. A short first line that a blank line or an underline follows is the title;
// later ones are headings.
//
// Mail programs keep their mailboxes in files without an extension: parseText reads those as what they are.
func parseText(ctx context.Context, data []byte) (Document, error) {
	if mailboxStart.Match(data[:min(len(data), 1024)]) {
		return parseMailbox(ctx, data)
	}
	text, err := readText(data)
	if err != nil {
		return Document{}, err
	}
	lines := splitLines(text)
	if strings.Contains(text, "\f") {
		lines = pagedLines(text)
	}
	return textDocument(ctx, lines, true), nil
}

// textDocument returns the document in lines of plain text, or what it has of it when ctx ends. It looks for a title if titled
// is set.
func textDocument(ctx context.Context, lines []string, titled bool) Document {
	return newTextReader(lines, titled).document(ctx)
}

func newTextReader(lines []string, titled bool) *textReader {
	full, words := justified(lines), textline.Compounds{}
	for _, line := range lines {
		words.Add(line)
	}
	return &textReader{
		lines: lines, words: words, titled: titled, width: wrapWidth(lines, full), dated: letterDate(lines), headed: numberedHeadings(lines), days: dayHeadings(lines),
		indents: indentsOf(lines), entries: hangingEntries(lines, full), full: full, rest: map[int][]string{},
	}
}

// document returns the document in the lines, or what it has of it when ctx ends.
func (r *textReader) document(ctx context.Context) Document {
	lines := r.lines
	for i := 0; i < len(lines) && ctx.Err() == nil; {
		n := r.block(i)
		if n == 0 {
			r.line(i)
			n = 1
		}
		i += n
	}
	r.end()
	for i, lines := range r.rest {
		r.doc.Blocks[i].Text = english.Collapse(r.words.Join(append([]string{r.doc.Blocks[i].Text}, lines...)))
	}
	r.doc.DemoteTitle(false)
	return r.doc
}

// textReader makes blocks of lines of plain text.
type textReader struct {
	lines   []string
	titled  bool         // a short first line is the title
	whole   bool         // each line is a paragraph
	width   int          // see wrapWidth
	dated   int          // see letterDate
	headed  map[int]bool // see numberedHeadings
	days    map[int]bool // see dayHeadings
	words   textline.Compounds
	indents indents
	entries map[int]int  // see hangingEntries
	full    map[int]bool // see justified

	doc  Document
	para []string         // lines of the paragraph that has not ended
	item int              // the last line of the list item that was added last
	rest map[int][]string // the further lines of list items, by block
}

// end ends the paragraph, if there is one.
func (r *textReader) end() {
	r.doc.Add(Paragraph, r.words.Join(r.para))
	r.para = nil
}

// heading makes the only line of the paragraph a heading.
func (r *textReader) heading(level int) {
	r.doc.AddHeading(level, r.para[0])
	r.para = nil
}

// starts reports whether line begins a paragraph or a sentence.
func (r *textReader) starts(line string) bool {
	return len(r.para) == 0 || endsBefore(&r.doc, r.para, line, r.width)
}

// block adds the lines of a program, the entry, the table, the code or the hanging item that begins with line i, and returns how
// many lines it takes. It returns 0 if none begins there.
func (r *textReader) block(i int) int {
	if n := programLines(r.lines, i); n > 0 {
		r.end()
		r.doc.AddCode(r.lines[i : i+n])
		return n
	}
	if n := r.entries[i]; n > 0 {
		r.end()
		for _, line := range r.lines[i : i+n] {
			r.para = append(r.para, strings.TrimSpace(line))
		}
		r.end()
		return n
	}
	if !r.full[i] {
		if n, rows, head := textTable(r.lines[i:]); n > 0 {
			if len(r.para) == 1 && textline.LooksLikeTitle(r.para[0]) && !continuesEntry(r.lines, i-1) {
				r.heading(LowestLevel)
			}
			r.end()
			r.doc.AddTable(rows, head)
			return n
		}
	}
	if len(r.para) > 0 {
		return 0
	}
	if n := indentedCode(r.lines, i); n > 0 && r.width > 0 {
		r.doc.AddCode(r.lines[i : i+n])
		return n
	}
	if text, n := hanging(r.words, r.lines, i); n > 0 {
		r.doc.Add(Line, text)
		return n
	}
	return 0
}

// line adds line i, or keeps it for the paragraph.
func (r *textReader) line(i int) {
	trimmed := strings.TrimSpace(r.lines[i])
	level, head := atxHeading(trimmed)
	switch {
	case trimmed == "", isRule(trimmed):
		r.separator(i)
	case strings.Contains(trimmed, leader) && len(r.para) == 0:
		r.doc.Add(Line, trimmed)
	case isMarkedHeading(r.lines, i):
		r.end()
		r.doc.AddHeading(2, trimmed)
	case r.days[i]:
		r.end()
		r.doc.AddHeading(2, strings.TrimSuffix(trimmed, ":"))
	case r.headed[i], len(r.para) == 0 && r.width > 0 && r.indents.hangs(r.lines, i):
		r.end()
		r.doc.AddHeading(3, strings.TrimSuffix(trimmed, "."))
	case r.leadsList(i):
		r.end()
		r.doc.Add(Paragraph, trimmed)
	case level > 0 && textline.LooksLikeTitle(trimmed), r.leadsText(i):
		r.end()
		if level == 0 {
			level, head = LowestLevel, trimmed
		}
		r.doc.AddHeading(level, strings.TrimSuffix(head, ":"))
	case textline.IsItem(trimmed) && (len(r.para) == 0 || !textline.Binds(r.para[len(r.para)-1])): // not "on the" and then "11. December"
		r.end()
		r.doc.Add(Line, trimmed)
		r.item = i
	case r.continuesItem(i), r.wrapsItem(i):
		last := len(r.doc.Blocks) - 1
		r.rest[last] = append(r.rest[last], trimmed)
		r.item = i
	case textline.IsLabel(english.Collapse(trimmed)) && len(r.para) == 0 && !standsAlone(r.lines, i) && !runsOn(r.lines, i, r.width):
		r.doc.Add(Line, trimmed)
	default:
		if len(r.para) > 0 && (r.whole || endsParagraph(&r.doc, r.para, trimmed, r.width)) {
			r.end()
		}
		r.para = append(r.para, trimmed)
	}
}

// separator ends the paragraph at line i, which is empty or a rule. A short line above it is the title or a heading.
func (r *textReader) separator(i int) {
	if len(r.para) == 1 && textline.LooksLikeTitle(r.para[0]) && hasText(r.lines[i:]) {
		if r.titled && len(r.doc.Blocks) == 0 && r.doc.Title == "" {
			r.doc.Title, r.para = r.para[0], nil
		} else if i-1 != r.dated && !r.indents.inBody(r.lines[i-1]) && (i < 2 || strings.TrimSpace(r.lines[i-2]) == "" || isRule(strings.TrimSpace(r.lines[i]))) {
			r.heading(2)
		}
	}
	r.end()
}

// leadsList reports whether line i introduces a list. It is no heading, as no more than the list is below it.
func (r *textReader) leadsList(i int) bool {
	line := strings.TrimSpace(r.lines[i])
	return isLead(line) && i+1 < len(r.lines) && (textline.IsItem(strings.TrimSpace(r.lines[i+1])) || leadsOnlyList(r.lines, i)) && r.starts(line)
}

// leadsText reports whether line i, which has no marks of a heading, is one by its words.
func (r *textReader) leadsText(i int) bool {
	line := strings.TrimSpace(r.lines[i])
	return (isLead(line) && hasText(r.lines[i+1:]) || isPlainHeading(r.lines, i)) && !(r.width > 0 && r.indents.inBody(r.lines[i])) && r.starts(line)
}

// continuesItem reports whether line i continues the list item that was added last. Of values below each other, "phone:
// 0555", each is its own.
func (r *textReader) continuesItem(i int) bool {
	blocks := r.doc.Blocks
	if i > 0 && indentation(r.lines[i]) == indentation(r.lines[i-1]) && textline.IsLabel(strings.TrimSpace(r.lines[i])) && !textline.IsItem(strings.TrimSpace(r.lines[i-1])) {
		return false
	}
	return len(blocks) > 0 && len(r.para) == 0 && strings.HasPrefix(r.lines[i], "  ") && !isEntry(strings.TrimSpace(r.lines[i])) && blocks[len(blocks)-1].Kind == Line &&
		i > 0 && strings.TrimSpace(r.lines[i-1]) != ""
}

// wrapsItem reports whether line i, which is not indented, continues the list item in the line above: that is full.
func (r *textReader) wrapsItem(i int) bool {
	if r.width == 0 || i == 0 || r.item != i-1 || len(r.para) > 0 || !textline.IsItem(strings.TrimSpace(r.lines[i-1])) && r.rest[len(r.doc.Blocks)-1] == nil {
		return false
	}
	line, next := strings.TrimSpace(r.lines[i-1]), strings.TrimSpace(r.lines[i])
	return !breaksBefore(line, next, r.width) && !fits(line, next, r.width*5/6)
}

// isEntry reports whether a line is a label whose value stands apart: "Phone:     08157 555 12".
func isEntry(line string) bool {
	at := gap.FindStringIndex(line)
	return at != nil && line[at[0]-1] == ':' && textline.IsLabel(english.Collapse(line))
}

// continuesEntry reports whether line i, before a table, lists what belongs to an entry above it: it is indented more
// than the line below it, and no heading.
func continuesEntry(lines []string, i int) bool {
	return strings.Contains(lines[i], ",") && indentation(lines[i]) > indentation(lines[i+1])
}

// maxLines bounds the lines of a file, also empty ones: each takes dozens of bytes while the file is read.
const maxLines = 1 << 20

// countLines returns an error if a text has more than maxLines lines, before they are made.
func countLines(text string) error {
	n := strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n") + 2*strings.Count(text, "\f") +
		strings.Count(text, "\u2028") + 2*strings.Count(text, "\u2029")
	if n > maxLines {
		return fmt.Errorf("it has more than %d lines: divide it into several files", maxLines)
	}
	return nil
}

// readText returns the text of a file, in UTF-8.
func readText(data []byte) (string, error) {
	text, err := decodeText(data)
	if err == nil {
		err = countLines(text)
	}
	return text, err
}

// linesOf returns the lines of a file of text.
func linesOf(data []byte) ([]string, error) {
	text, err := readText(data)
	if err != nil {
		return nil, err
	}
	return splitLines(text), nil
}

// splitLines splits s at line ends of any kind. It leaves out marks of direction: chats as WhatsApp exports them have one before
// some lines.
func splitLines(s string) []string {
	return strings.Split(lineEnds.Replace(s), "\n")
}

// lineEnds makes line ends of one kind, and leaves out marks of direction. It is made once: a mailbox has many short texts.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\u2028", "\n", "\u2029", "\n\n", "\u200e", "", "\u200f", "")
