package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
)

// show writes a document, one block on each line: the title, if there is one, "1 heading" with its level, "l line", "p
// paragraph", "h head of a table", "r row".
func show(d blocks.Document) string {
	var lines []string
	if d.Title != "" {
		lines = append(lines, "title "+d.Title)
	}
	for _, b := range d.Blocks {
		mark := map[blocks.Kind]string{blocks.Heading: strconv.Itoa(int(b.Level)), blocks.Paragraph: "p", blocks.Line: "l", blocks.TableHead: "h", blocks.TableRow: "r"}[b.Kind]
		lines = append(lines, mark+" "+b.Text)
	}
	return strings.Join(lines, "\n")
}

// makePDF writes a small PDF with one content stream for each page and one Helvetica font.
func makePDF(info string, pages ...string) []byte {
	var objects, kids []string
	object := func(format string, args ...any) { objects = append(objects, fmt.Sprintf(format, args...)) }
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 5+2*i))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(pages))
	widths := strings.TrimSpace(strings.Repeat("500 ", 95))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [%s] >>", widths)
	object("<< %s >>", info)
	for i, page := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 6+2*i)
		object("<< /Length %d >>\nstream\n%s\nendstream", len(page), page)
	}
	return writePDF(objects...)
}

// writePDF writes objects. The first is the catalogue, the fourth the document's information.
func writePDF(objects ...string) []byte {
	var b bytes.Buffer
	var offsets []int
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return b.Bytes()
}

// packPDF is writePDF in the way of today's programs: it packs all objects except streams into one stream.
func packPDF(objects ...string) []byte {
	var packed, heads, bodies, table bytes.Buffer
	packed.WriteString("%PDF-1.5\n")
	inside, entry := 0, func(kind byte, where, index int) {
		table.Write([]byte{kind, byte(where >> 24), byte(where >> 16), byte(where >> 8), byte(where), byte(index >> 8), byte(index)})
	}
	entry(0, 0, 0)
	for i, o := range objects {
		if strings.Contains(o, "stream") {
			entry(1, packed.Len(), 0)
			fmt.Fprintf(&packed, "%d 0 obj\n%s\nendobj\n", i+1, o)
			continue
		}
		entry(2, len(objects)+1, inside)
		fmt.Fprintf(&heads, "%d %d ", i+1, bodies.Len())
		fmt.Fprintf(&bodies, "%s ", o)
		inside++
	}
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	w.Write(append(heads.Bytes(), bodies.Bytes()...))
	w.Close()
	entry(1, packed.Len(), 0)
	fmt.Fprintf(&packed, "%d 0 obj\n<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n",
		len(objects)+1, inside, heads.Len(), deflated.Len(), deflated.String())
	at := packed.Len()
	entry(1, at, 0)
	fmt.Fprintf(&packed, "%d 0 obj\n<< /Type /XRef /Size %d /W [1 4 2] /Root 1 0 R /Length %d >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+2, len(objects)+3, table.Len(), table.String(), at)
	return packed.Bytes()
}

// packedPage is a page with the given number of lines, in a font whose widths are in the file.
func packedPage(lines int) []byte {
	contents := "BT /F1 12 Tf 14 TL 72 700 Td " + strings.Repeat("[(The harb) -10 (our of)] TJ 83 0 Td (fice) Tj -83 -14 Td ", lines) + "ET"
	return packPDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 4 0 R >> >> /Contents 6 0 R >>",
		"<< /Type /Font /Subtype /TrueType /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 255 /Widths 5 0 R >>",
		"["+strings.Repeat("500 ", 224)+"]", fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(contents), contents))
}

// layoutPDF is makePDF with the fonts of the reader: Helvetica and its bold.
func layoutPDF(pages ...string) []byte {
	data := makePDF("", pages...)
	data = bytes.ReplaceAll(data, []byte("/Font << /F1 3 0 R >>"), []byte("/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >> >>"))
	return data
}

// drawPage writes lines of "x y size text" as the instructions of a page. F2 is bold.
func drawPage(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		var x, y, size float64
		f := strings.SplitN(l, " ", 4)
		fmt.Sscan(strings.Join(f[:3], " "), &x, &y, &size)
		font, text := "F1", f[3]
		if bold, ok := strings.CutPrefix(text, "**"); ok {
			font, text = "F2", bold
		}
		fmt.Fprintf(&b, "BT /%s %g Tf %g %g Td (%s) Tj ET\n", font, size, x, y, text)
	}
	return b.String()
}

// drawText writes pieces of "x y size text", each as a piece of its own, with the spaces within it.
func drawText(pieces string) string {
	return drawPage(strings.Split(strings.TrimSpace(pieces), "\n")...)
}

// drawLines writes lines of "x0 y0 x1 y1" as the instructions of a page.
func drawLines(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		var x0, y0, x1, y1 float64
		fmt.Sscan(l, &x0, &y0, &x1, &y1)
		fmt.Fprintf(&b, "%g %g m %g %g l S\n", x0, y0, x1, y1)
	}
	return b.String()
}

// drawGrid writes a grid of lines.
func drawGrid(xs, ys []float64) string {
	var lines []string
	for _, y := range ys {
		lines = append(lines, fmt.Sprint(xs[0], y, xs[len(xs)-1], y))
	}
	for _, x := range xs {
		lines = append(lines, fmt.Sprint(x, ys[0], x, ys[len(ys)-1]))
	}
	return drawLines(lines...)
}
