package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ledongthuc/pdf"

	"tandem/retrieval/internal/english"
)

// Bounds of reading one PDF.
const (
	pdfNodes = 1 << 17  // nodes of the page tree, pages among them
	pdfText  = 16 << 20 // bytes of text
)

// tooMuch is the error for a PDF that is sound but too large.
type tooMuch string

func (t tooMuch) Error() string { return string(t) }

// parsePDF reads the text of a PDF, page by page.
func parsePDF(ctx context.Context, data []byte) (Document, error) {
	switch {
	case !bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 1024)], "\x00\t\n\f\r "), []byte("%PDF-")):
		return Document{}, errors.New("not a PDF, despite its name")
	case sandboxed:
		return readInSandbox(ctx, data)
	}
	return readPDF(ctx, data)
}

// boundedReader makes the library stop. Its reads panic once the context has ended or the budget is used up, and
// pdfDocument recovers. Damaged files make the library read the same bytes over and over.
type boundedReader struct {
	ctx    context.Context
	data   *bytes.Reader
	budget int64
}

func (r *boundedReader) ReadAt(p []byte, off int64) (int, error) {
	if r.budget -= int64(len(p)); r.budget < 0 || r.ctx.Err() != nil {
		panic(errEndless)
	}
	if off < 0 {
		return 0, io.EOF
	}
	return r.data.ReadAt(p, off)
}

var errEndless = errors.New("it refers to itself endlessly")

// readPDF reads a PDF in this process.
func readPDF(ctx context.Context, data []byte) (Document, error) {
	doc, err := pdfDocument(ctx, data)
	switch {
	case err == nil && len(doc.Blocks) == 0:
		return Document{}, errors.New("no text in it (a scanned PDF?)")
	case errors.Is(err, pdf.ErrInvalidPassword):
		return Document{}, errors.New("encrypted PDF")
	case errors.As(err, new(tooMuch)):
		return Document{}, err
	case err != nil:
		return Document{}, fmt.Errorf("damaged PDF (%v)", err)
	}
	return doc, nil
}

func pdfDocument(ctx context.Context, data []byte) (doc Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	size := int64(len(data))
	r, err := pdf.NewReader(&boundedReader{ctx, bytes.NewReader(data), 1<<10*size + 64<<20}, size)
	if err != nil {
		return Document{}, err
	}
	reader, total := pdfReader{fonts: map[string]*pdfFont{}}, 0
	reader.try(func() { doc.Title = pdfTitle(r) })
	reader.each(r.Trailer().Key("Root").Key("Pages"), pdfPage{}, 0, func(page pdfPage) bool {
		total += addPage(&doc, reader.page(page))
		return total <= pdfText && ctx.Err() == nil
	})
	switch {
	case total > pdfText:
		return Document{}, tooMuch(fmt.Sprintf("more than %d MB of text (split it)", pdfText>>20))
	case reader.nodes > pdfNodes:
		return Document{}, tooMuch(fmt.Sprintf("more than %d pages (split it)", pdfNodes))
	}
	if len(doc.Blocks) == 0 && reader.damaged != nil {
		return Document{}, fmt.Errorf("%v", reader.damaged)
	}
	return doc, nil
}

// pdfTitle returns the title in the file's information, unless a word processor put it there.
func pdfTitle(r *pdf.Reader) string {
	title := english.Collapse(r.Trailer().Key("Info").Key("Title").Text())
	low := strings.ToLower(title)
	if strings.HasPrefix(low, "microsoft word") || strings.HasPrefix(low, "untitled") || isFileName(low) {
		return ""
	}
	return title
}

// isFileName reports whether a title is a file name.
func isFileName(title string) bool {
	for _, ext := range []string{".doc", ".docx", ".odt", ".tex", ".dvi", ".pdf", ".indd", ".pages"} {
		if strings.HasSuffix(title, ext) {
			return true
		}
	}
	return false
}

// addPage joins the glyphs of a page to lines and the lines to paragraphs, and returns the number of bytes. PDFs do not
// reliably hold spaces or lines, so both are derived from positions.
func addPage(doc *Document, glyphs []pdfGlyph) int {
	lines := pdfLines(glyphs)
	var para []byte
	parts, total := 0, 0 // lines in para, where a hyphen joins two to one; bytes of text
	end := func() {
		text := string(para)
		kind := Paragraph
		if isItem(text) || parts == 1 && isLabel(text) {
			kind = Line
		}
		doc.Add(kind, text)
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

// pdfLines joins glyphs of about the same height to lines, in the order of the page.
func pdfLines(glyphs []pdfGlyph) []pdfLine {
	glyphs = slices.DeleteFunc(glyphs, func(g pdfGlyph) bool {
		return g.text == "" || math.IsNaN(g.x) || math.IsNaN(g.y) || math.IsInf(g.x, 0) || math.IsInf(g.y, 0)
	})
	var lines []pdfLine
	for start := 0; start < len(glyphs); {
		first := glyphs[start]
		end := start + 1
		for end < len(glyphs) && math.Abs(glyphs[end].y-first.y) < 0.4*max(first.size, 1) && glyphs[end].x >= glyphs[end-1].x-first.size {
			end++
		}
		if text := joinGlyphs(glyphs[start:end]); text != "" {
			lines = append(lines, pdfLine{text, first.y, max(first.size, 1)})
		}
		start = end
	}
	return lines
}

// joinGlyphs writes the glyphs of a line, with a space for each gap that is wide enough.
func joinGlyphs(glyphs []pdfGlyph) string {
	var b strings.Builder
	for i, g := range glyphs {
		if i > 0 {
			last := glyphs[i-1]
			if last.width > 0 && g.x-(last.x+last.width) > 0.2*max(g.horizontal, 1) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(g.text)
	}
	return english.Collapse(b.String())
}
