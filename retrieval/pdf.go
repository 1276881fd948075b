package retrieval

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
)

// Bounds of reading one PDF. The library may panic, recurse or run for long on damaged files.
const (
	pdfTime  = 20 * time.Second
	pdfPages = 2000
	pdfText  = 16 << 20 // bytes
	// Of one page: its instructions, which stand in the file in a thousandth of the bytes, and what the library makes of them.
	pdfPage   = 64 << 20
	pdfMemory = 512 << 20
)

// tooMuch is the error of a PDF that is sound but too large.
type tooMuch string

func (t tooMuch) Error() string { return string(t) }

// parsePDF reads the text of a PDF, page by page.
func parsePDF(ctx context.Context, data []byte) (document, string) {
	if !bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 1024)], "\x00\t\n\f\r "), []byte("%PDF-")) {
		return document{}, "not a PDF, whatever its name says"
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	type result struct {
		doc document
		err error
	}
	done := make(chan result, 1)
	go func() { // so that a loop inside the library costs one goroutine, not the program
		doc, err := readPDF(ctx, data)
		done <- result{doc, err}
	}()
	select {
	case r := <-done:
		switch {
		case r.err == nil && len(r.doc.blocks) == 0:
			return document{}, "no text in it (a scanned PDF?)"
		case errors.Is(r.err, pdf.ErrInvalidPassword):
			return document{}, "encrypted PDF"
		case r.err != nil && ctx.Err() != nil:
			return document{}, fmt.Sprintf("not read within %v", pdfTime)
		case errors.As(r.err, new(tooMuch)):
			return document{}, r.err.Error()
		case r.err != nil:
			return document{}, fmt.Sprintf("damaged PDF (%v)", r.err)
		}
		return r.doc, ""
	case <-ctx.Done():
		return document{}, fmt.Sprintf("not read within %v", pdfTime)
	}
}

// boundedReader makes the library stop: its reads panic once the time or the amount is used up, and
// readPDF recovers. Damaged files make it read the same bytes over and over.
type boundedReader struct {
	ctx    context.Context
	data   *bytes.Reader
	budget int64
}

func (r *boundedReader) ReadAt(p []byte, off int64) (int, error) {
	if r.ctx.Err() != nil {
		panic(r.ctx.Err())
	}
	if r.budget -= int64(len(p)); r.budget < 0 {
		panic(errors.New("it refers to itself endlessly"))
	}
	if off < 0 {
		return 0, io.EOF
	}
	return r.data.ReadAt(p, off)
}

func readPDF(ctx context.Context, data []byte) (doc document, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	size := int64(len(data))
	r, err := pdf.NewReader(&boundedReader{ctx, bytes.NewReader(data), 64*size + 64<<20}, size)
	if err != nil {
		return document{}, err
	}
	doc.title = pdfTitle(r)
	total := 0
	for i := 1; i <= min(r.NumPage(), pdfPages); i++ {
		if err := ctx.Err(); err != nil {
			return document{}, err
		}
		page := r.Page(i)
		if page.V.IsNull() {
			continue
		}
		if !affordable(page) {
			return document{}, tooMuch(fmt.Sprintf("page %d takes more than %d MB of memory to read (save the PDF without it)", i, pdfMemory>>20))
		}
		total += addPage(&doc, page)
		if total > pdfText {
			return document{}, tooMuch(fmt.Sprintf("more than %d MB of text (divide it)", pdfText>>20))
		}
	}
	return doc, nil
}

// affordable reports whether the library may be let loose on a page, by what it keeps in memory: a Text for each
// character that is shown, of which a font's ToUnicode may make many, a value or a rectangle for each other word, and
// the state with its font that a "q" saves.
func affordable(page pdf.Page) bool {
	const perCharacter, perWord, perState = 64, 64, 400
	try := func(f func()) {
		defer func() { recover() }() // what is damaged the library meets, too, if it needs it
		f()
	}
	var shown, fonts tally
	try(func() { shown.add(page.V.Key("Contents")) })
	var names []string
	try(func() { names = page.Fonts() })
	for _, name := range names {
		try(func() { fonts.add(page.Font(name).V.Key("ToUnicode")) })
	}
	charmap := perCharacter/4*fonts.characters + perWord*fonts.words
	memory := perCharacter*shown.characters*max(1, fonts.longest/2) + perWord*shown.words + // UTF-16: two bytes a character
		charmap + (charmap+perState)*shown.states
	return shown.bytes <= pdfPage && fonts.bytes <= pdfPage && memory <= pdfMemory
}

// tally counts what streams hold.
type tally struct {
	bytes      int
	characters int // of all strings
	longest    int // string
	words      int // and other signs outside of strings
	states     int // saved at a time by "q"
}

// add counts what is in a stream, or in an array of streams that are read as one; not much more than pdfPage.
func (t *tally) add(v pdf.Value) {
	var parts []io.Reader
	if v.Kind() == pdf.Stream {
		parts = append(parts, v.Reader())
	}
	for i := 0; v.Kind() == pdf.Array && i < v.Len(); i++ {
		parts = append(parts, v.Index(i).Reader())
	}
	in := bufio.NewReader(io.MultiReader(parts...))
	var b byte
	var err error
	next := func() bool {
		b, err = in.ReadByte()
		t.bytes++
		return err == nil && t.bytes <= pdfPage
	}
	str := func(n int) { t.characters, t.longest = t.characters+n, max(t.longest, n) }
	first, length, saved := byte(0), 0, 0
	for next() {
		if strings.IndexByte("()<>[]{}/% \t\r\n\f\x00", b) < 0 {
			if length++; length == 1 {
				t.words++
				first = b
			}
			continue
		}
		switch {
		case length == 1 && first == 'q':
			saved++
			t.states = max(t.states, saved)
		case length == 1 && first == 'Q':
			saved--
		}
		length = 0 // of a word
		switch b {
		case '(':
			n := 0
			for depth := 1; depth > 0 && next(); n++ {
				switch b {
				case '(':
					depth++
				case ')':
					depth--
				case '\\':
					next()
				}
			}
			str(n)
		case '<':
			n := 0
			for next() && b != '>' {
				n++
			}
			str((n + 1) / 2) // a byte in two digits
		case '%':
			for next() && b != '\n' && b != '\r' {
			}
		case '/', '[', ']', '{', '}':
			t.words++
		}
	}
}

// pdfTitle returns the title that the file gives itself, unless it is what a word processor left there.
func pdfTitle(r *pdf.Reader) string {
	title := collapse(r.Trailer().Key("Info").Key("Title").Text())
	low := strings.ToLower(title)
	if strings.HasPrefix(low, "microsoft word") || strings.HasPrefix(low, "untitled") || parsedName(low) {
		return ""
	}
	return title
}

// parsedName reports whether a title is a file name.
func parsedName(title string) bool {
	for _, ext := range []string{".doc", ".docx", ".odt", ".tex", ".dvi", ".pdf", ".indd", ".pages"} {
		if strings.HasSuffix(title, ext) {
			return true
		}
	}
	return false
}

// addPage puts the glyphs of a page into lines and the lines into paragraphs, and returns the number of
// bytes. PDFs hold neither spaces nor lines reliably: both follow from positions.
func addPage(doc *document, page pdf.Page) int {
	lines := pdfLines(page.Content().Text)
	var para []byte
	parts, total := 0, 0 // of para, which a hyphen joins to one
	end := func() {
		text := string(para)
		kind := paragraph
		if isItem(text) || parts == 1 && isLabel(text) {
			kind = listLine
		}
		doc.add(kind, text)
		total += len(text)
		para, parts = nil, 0
	}
	for i, l := range lines {
		if i > 0 && (lines[i-1].y-l.y > 1.6*max(l.size, lines[i-1].size) || math.Abs(l.size-lines[i-1].size) > 1.5) || isItem(l.text) || isLabel(l.text) {
			end()
		}
		if n := len(para); n > 0 && para[n-1] == '-' && l.text != "" && l.text[0] >= 'a' && l.text[0] <= 'z' {
			para = append(para[:n-1], l.text...) // hyphenated at the line's end
			continue
		}
		if parts > 0 {
			para = append(para, ' ')
		}
		para, parts = append(para, l.text...), parts+1
		if isLabel(l.text) {
			end()
		}
	}
	end()
	return total
}

type pdfLine struct {
	text    string
	y, size float64
}

// pdfLines gathers glyphs of about the same height into lines, top to bottom.
func pdfLines(glyphs []pdf.Text) []pdfLine {
	glyphs = slices.DeleteFunc(slices.Clone(glyphs), func(g pdf.Text) bool {
		return g.S == "" || math.IsNaN(g.X) || math.IsNaN(g.Y) || math.IsInf(g.X, 0) || math.IsInf(g.Y, 0)
	})
	var lines []pdfLine
	for start := 0; start < len(glyphs); {
		first := glyphs[start]
		end := start + 1
		for end < len(glyphs) && math.Abs(glyphs[end].Y-first.Y) < 0.4*max(first.FontSize, 1) && glyphs[end].X >= glyphs[end-1].X-first.FontSize {
			end++
		}
		if text := joinGlyphs(glyphs[start:end]); text != "" {
			lines = append(lines, pdfLine{text, first.Y, max(math.Abs(first.FontSize), 1)})
		}
		start = end
	}
	return lines
}

// joinGlyphs writes glyphs of one line, with a space where a gap is as wide as one.
func joinGlyphs(glyphs []pdf.Text) string {
	var b strings.Builder
	for i, g := range glyphs {
		if i > 0 {
			last := glyphs[i-1]
			if last.W > 0 && g.X-(last.X+last.W) > 0.2*max(math.Abs(g.FontSize), 1) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(g.S)
	}
	return collapse(b.String())
}
