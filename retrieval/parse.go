package retrieval

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// parser reads one kind of file.
type parser struct {
	extensions []string
	limit      int64 // bytes
	// parse returns the document, or why there is none, for the user to read.
	parse func(ctx context.Context, data []byte) (document, string)
}

// parsersVersion counts changes of what parsers make of files. Those that were read by others are read again.
const parsersVersion = 1

const (
	textLimit = 8 << 20
	pdfLimit  = 32 << 20
)

var parsers = []*parser{
	{[]string{".txt", ".text", ".rst", ".org", ".adoc", ""}, textLimit, parseText},
	{[]string{".md", ".markdown", ".mdown", ".mkd"}, textLimit, parseMarkdown},
	{[]string{".html", ".htm", ".xhtml"}, textLimit, parseHTML},
	{[]string{".pdf"}, pdfLimit, parsePDF},
}

// parserOf returns the parser of a file name, or why there is none.
func parserOf(name string) (*parser, string) {
	ext := strings.ToLower(path.Ext(path.Base(strings.ReplaceAll(name, "\\", "/"))))
	for _, p := range parsers {
		if slices.Contains(p.extensions, ext) {
			return p, ""
		}
	}
	return nil, fmt.Sprintf("unsupported type %s (text, Markdown, HTML and PDF are read)", ext)
}

// parse turns the contents of a file into a document with a title, or says why it cannot.
func parse(ctx context.Context, name string, data []byte) (document, string) {
	p, reason := parserOf(name)
	if p == nil {
		return document{}, reason
	}
	doc, reason := p.parse(ctx, data)
	if reason != "" {
		return document{}, reason
	}
	if doc.title = shorten(doc.title, maxTitle); doc.title == "" {
		doc.title = humanise(name)
	}
	if len(doc.blocks) > 0 && doc.blocks[0].kind == heading && strings.EqualFold(doc.blocks[0].text, doc.title) {
		doc.blocks = doc.blocks[1:] // the title is kept beside every passage
	}
	for i, b := range doc.blocks {
		if b.kind == heading && words(b.text) > maxHeading {
			doc.blocks[i].kind = paragraph
		}
	}
	return doc, ""
}

// Longest titles and headings, in words.
const (
	maxTitle   = 16
	maxHeading = 24
)

// shorten cuts s to at most n words.
func shorten(s string, n int) string {
	pieces := splitWords(collapse(s), n)
	if len(pieces) > 1 {
		return pieces[0] + "…"
	}
	return pieces[0]
}

func capitalise(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// decodeText returns data as UTF-8: by its byte order mark, as it is, or as Windows-1252 when it could
// well be that. Otherwise it says why not.
func decodeText(data []byte) (string, string) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}):
		out, err := utf32.UTF32(utf32.LittleEndian, utf32.UseBOM).NewDecoder().Bytes(data)
		return decoded(out, err)
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		out, err := utf16.UTF16(utf16.LittleEndian, utf16.UseBOM).NewDecoder().Bytes(data)
		return decoded(out, err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, 0) >= 0 {
		return "", "binary (it holds zero bytes)"
	}
	if utf8.Valid(data) {
		return string(data), ""
	}
	if odd := controls(data); odd*50 > len(data) {
		return "", "binary (neither UTF-8 nor Windows-1252 text)"
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(data)
	return decoded(out, err)
}

func decoded(out []byte, err error) (string, string) {
	if err != nil {
		return "", fmt.Sprintf("text in an unknown encoding (%v)", err)
	}
	return strings.TrimPrefix(string(out), "\ufeff"), ""
}

// controls counts the bytes that Windows-1252 text does not hold.
func controls(data []byte) (n int) {
	for _, c := range data {
		if c < ' ' && !bytes.ContainsRune([]byte("\t\n\r\f\v\x1b"), rune(c)) ||
			bytes.IndexByte([]byte{0x7f, 0x81, 0x8d, 0x8f, 0x90, 0x9d}, c) >= 0 {
			n++
		}
	}
	return n
}

// parseText reads plain text: blank lines end paragraphs, list lines and lines that were broken off on purpose
// stand alone. A short first line followed by a blank one, or underlined, is the title; later ones are headings.
func parseText(_ context.Context, data []byte) (document, string) {
	text, reason := decodeText(data)
	if reason != "" {
		return document{}, reason
	}
	var doc document
	var para []string
	rest := map[int][]string{} // lines by which list items go on, by their blocks
	end := func() {
		doc.add(paragraph, strings.Join(para, " "))
		para = nil
	}
	lines := splitLines(text)
	wraps := wrapped(lines)
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		level, head := atxHeading(trimmed)
		switch {
		case trimmed == "", isRule(trimmed):
			if len(para) == 1 && looksLikeTitle(para[0]) && followed(lines[i:]) {
				if len(doc.blocks) == 0 && doc.title == "" {
					doc.title, para = para[0], nil
				} else if i < 2 || strings.TrimSpace(lines[i-2]) == "" || isRule(trimmed) {
					doc.add(heading, para[0])
					para = nil
				}
			}
			end()
		case level > 0 && looksLikeTitle(trimmed), isHead(trimmed) && followed(lines[i+1:]),
			(len(para) == 0 || closed(para[len(para)-1], trimmed, wraps)) && announces(lines, i):
			end()
			if level == 0 {
				head = strings.TrimSuffix(trimmed, ":")
			}
			doc.add(heading, strings.TrimSuffix(head, ":"))
		case isItem(trimmed):
			end()
			doc.add(listLine, trimmed)
		case len(doc.blocks) > 0 && len(para) == 0 && strings.HasPrefix(line, "  ") && doc.blocks[len(doc.blocks)-1].kind == listLine &&
			i > 0 && strings.TrimSpace(lines[i-1]) != "":
			last := len(doc.blocks) - 1 // an item that goes on
			rest[last] = append(rest[last], trimmed)
		case isLabel(trimmed) && len(para) == 0 && !alone(lines, i):
			doc.add(listLine, trimmed)
		default:
			if len(para) > 0 && brokenOff(para[len(para)-1], trimmed, wraps) {
				end()
			}
			para = append(para, trimmed)
		}
	}
	end()
	for i, lines := range rest {
		doc.blocks[i].text = collapse(doc.blocks[i].text + " " + strings.Join(lines, " "))
	}
	return doc, ""
}

// followed reports whether any line has text.
func followed(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { l = strings.TrimSpace(l); return l != "" && !isRule(l) })
}

// isHead reports whether a line announces those below it: "Kitchen:".
func isHead(line string) bool {
	name, ok := strings.CutSuffix(line, ":")
	return ok && words(name) <= 10 && !isItem(line) && !strings.ContainsAny(name, ".:;!?")
}

// announces reports whether line i, between others, stands over the next like a heading without marks: a few words
// that make no sentence, before an item or a line that begins with a pronoun or an article. It may end in a colon, or in what it is:
// "The mill: overview".
func announces(lines []string, i int) bool {
	line, colon := strings.CutSuffix(strings.TrimSpace(lines[i]), ":")
	if i+1 >= len(lines) || words(line) > 6 || isItem(line) || strings.ContainsAny(line, ".!?;") || !isName(line) || strings.HasPrefix(line, "As ") || slices.ContainsFunc(strings.Fields(line), isVerb) {
		return false
	}
	if colon {
		return true
	}
	if strings.Contains(line, ":") && !writings[line[strings.LastIndexByte(line, ' ')+1:]] {
		return false
	}
	below := strings.TrimSpace(lines[i+1])
	next, _, _ := strings.Cut(below, " ")
	return leaning[strings.ToLower(next)] || next == "The" || isItem(below)
}

// writings are words for what a text is.
var writings = wordSet("overview details information guide notes history facts plan profile contact summary handbook list introduction")

// closed reports whether a line ends a paragraph or a sentence before the next.
func closed(line, next string, wrapped bool) bool {
	return brokenOff(line, next, wrapped) || strings.ContainsAny(line[len(line)-1:], ".!?")
}

// full is the least width, in bytes, at which a line of wrapped text may end.
const full = 60

// brokenOff reports whether a line ends where its writer wanted, rather than where it was full: somebody else speaks in the next, or that
// begins like a sentence, and the text is not wrapped or its first word would have fitted.
func brokenOff(line, next string, wrapped bool) bool {
	r, _ := utf8.DecodeRuneInString(next)
	word, _, _ := strings.Cut(next, " ")
	if !unicode.IsUpper(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Sc, r) {
		return said.MatchString(next)
	}
	return !wrapped && !unicode.IsDigit(r) || len(line)+1+len(word) <= full || said.MatchString(next)
}

// wrapped reports whether the lines were broken by a program: one goes on in the next with a small letter.
func wrapped(lines []string) bool {
	for i := 1; i < len(lines); i++ {
		r, _ := utf8.DecodeRuneInString(strings.TrimSpace(lines[i]))
		if before := strings.TrimSpace(lines[i-1]); unicode.IsLower(r) && before != "" && !strings.ContainsAny(before[len(before)-1:], ".!?:") {
			return true
		}
	}
	return false
}

// splitLines splits at any of the line ends in use.
func splitLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s), "\n")
}

// looksLikeTitle reports whether a line that stands alone is a title rather than a sentence.
func looksLikeTitle(line string) bool {
	return words(line) <= 10 && !strings.ContainsAny(line[len(line)-1:], ".,;!") && !states(line)
}

// states reports whether a line says something though no full stop ends it: "Password: 3232", "The orchid is kept under the stairs".
func states(line string) bool {
	if _, value, ok := strings.Cut(line, ": "); ok && strings.ContainsAny(value, "0123456789@") {
		return isLabel(line)
	}
	fields := strings.Fields(line)
	first := strings.ToLower(fields[0])
	return (articles[first] || leaning[first]) && slices.ContainsFunc(fields, func(f string) bool { return be[f] || f == "has" })
}

// alone reports whether line i stands between blank lines, before others.
func alone(lines []string, i int) bool {
	blank := func(at int) bool { return at < 0 || at >= len(lines) || strings.TrimSpace(lines[at]) == "" }
	return blank(i-1) && blank(i+1) && followed(lines[i+1:])
}

// isRule reports whether a line only draws.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "-=*_~# ") == "" && strings.Count(line, line[:1]) >= 3
}

// isItem reports whether a line begins with a list marker.
func isItem(line string) bool {
	_, ok := cutMarker(line)
	return ok
}

// cutMarker cuts a bullet or a number with "." or ")" off a line.
func cutMarker(line string) (rest string, ok bool) {
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			return strings.TrimSpace(rest), true
		}
	}
	i := 0
	for i < len(line) && i < 4 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i > 0 && i+1 < len(line) && (line[i] == '.' || line[i] == ')') && line[i+1] == ' ' {
		return strings.TrimSpace(line[i+1:]), true
	}
	return line, false
}

// Most words of a label's two parts.
const (
	labelWords = 5
	valueWords = 12
)

// isLabel reports whether a line is a short "name: value", as in notes; such lines stand alone.
func isLabel(line string) bool {
	label, value, ok := strings.Cut(line, ": ")
	return ok && words(label) <= labelWords && words(value) <= valueWords && !strings.ContainsAny(label, ".!?")
}
