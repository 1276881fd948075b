package documents

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledongthuc/pdf"
)

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

func TestPDF(t *testing.T) {
	data := makePDF("/Title (Harbour museum)",
		"BT /F1 12 Tf 72 700 Td (The harbour museum opens) Tj 0 -14 Td (at 9:30 and closes at 17:00.) Tj 0 -40 Td (The director is In-) Tj 0 -14 Td (es Calder.) Tj ET",
		"BT /F1 12 Tf 72 700 Td [(Entry) -600 (fee:) -600 (8) -600 (euros)] TJ ET")
	doc, err := Parse(t.Context(), "m.pdf", data)
	want := "title Harbour museum\np The harbour museum opens at 9:30 and closes at 17:00.\np The director is Ines Calder.\nl Entry fee: 8 euros"
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
	doc, _ = Parse(t.Context(), "annual-report.pdf", makePDF("/Title (Microsoft Word - x.doc)", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET"))
	if doc.Title != "Annual report" {
		t.Errorf("title %q", doc.Title)
	}
	if _, err = Parse(t.Context(), "scan.pdf", makePDF("", "0 0 m 10 10 l S")); err == nil || !strings.Contains(err.Error(), "scanned") {
		t.Errorf("no text: %v", err)
	}
	encrypted := bytes.Replace(data, []byte("/Root 1 0 R"), []byte("/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) >> /ID [(0123456789012345) (0123456789012345)]"), 1)
	if _, err = Parse(t.Context(), "e.pdf", encrypted); err == nil || err.Error() != "encrypted PDF" {
		t.Errorf("encrypted: %v", err)
	}
}

// packPDF is writePDF in the way of today's programs: it packs all objects but streams into one stream.
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

func TestPDFPacked(t *testing.T) {
	doc, err := Parse(t.Context(), "a.pdf", packedPage(2))
	if len(doc.Blocks) != 1 || doc.Blocks[0].Text != "The harbour office The harbour office" {
		t.Errorf("%v, %v", doc.Blocks, err)
	}
}

// Pages may have no contents, and an unreadable page does not spoil the others.
func TestPDFPages(t *testing.T) {
	const font = " /Resources << /Font << /F1 << /Type /Font >> >> >>"
	text := "<< /Length 32 >>\nstream\nBT /F1 12 Tf 72 700 Td (a) Tj ET\nendstream"
	kids := "<< /Type /Pages" + font + " /Kids [4 0 R 5 0 R 6 0 R 2 0 R 9 0 R 10 0 R] /Count 9 >>"
	doc, err := Parse(t.Context(), "a.pdf", writePDF("<< /Type /Catalog /Pages 2 0 R >>", kids, text,
		"<< /Type /Page >>", "<< /Type /Page /Contents 3 0 R >>", "<< /Type /Page /Contents 7 0 R >>", "<< /Length 1 /Filter /No >>\nstream\n \nendstream",
		"<< /Type /Page /Contents 3 0 R >>", "<< /Type /Pages /Kids [8 0 R 99 0 R] >>", "<< /Type /Page /Contents 8"))
	if err != nil || len(doc.Blocks) < 2 || doc.Blocks[0].Text != "a" {
		t.Errorf("%v, %v", doc.Blocks, err)
	}
	endless := strings.Replace(kids, "2 0 R", "2 0 R 2 0 R", 1)
	if _, err := Parse(t.Context(), "a.pdf", writePDF("<< /Type /Catalog /Pages 2 0 R >>", endless, text, "<< >>", "<< >>")); err == nil || !strings.HasPrefix(err.Error(), "more than") {
		t.Errorf("a page tree that contains itself twice: %v", err)
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("%d 0 R", 5+i)
	}
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages" + font + " /Kids [" + strings.Join(many, " ") + "] >>", text, "<< >>"}
	for range many {
		objects = append(objects, "<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>")
	}
	if doc, err := Parse(t.Context(), "a.pdf", writePDF(objects...)); len(doc.Blocks) != len(many) {
		t.Errorf("%d of %d pages, %v", len(doc.Blocks), len(many), err)
	}
}

// Codes of one and two bytes, tables of both kinds, gaps for spaces, lines, and forms.
func TestPDFText(t *testing.T) {
	stream := func(dict, s string) string {
		return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(s), dict, s)
	}
	cmap := func(entries string) string {
		return stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <0000> <ffff> endcodespacerange "+
			entries+" endcmap CMapName currentdict /CMap defineresource pop end end")
	}
	const (
		simple    = "<< /Type /Font /Subtype /TrueType /Encoding /WinAnsiEncoding >>"
		composite = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 8 0 R /DescendantFonts [<< /DW 500 /W [1 [500 600] 3 4 700] >>] >>"
		table     = "1 beginbfrange <0001> <0004> <0061> endbfrange"
	)
	for name, c := range map[string]struct{ font, toUnicode, form, text, want string }{
		"composite":       {composite, cmap(table), "", "[<00010002> -150 <0003> -300 <0004>] TJ", "abc d"},
		"listed":          {composite, cmap("1 beginbfrange <0001> <0002> [<00660069> <D83DDE00>] endbfrange 1 beginbfchar <0003> <0078> endbfchar"), "", "<000100020003> Tj", "fi😀x"},
		"moved":           {composite, cmap(table), "", "<00010002> Tj 11 0 Td <0003> Tj 30 0 Td <0004> Tj", "abc d"},
		"WinAnsi":         {simple, cmap(""), "", "(it\x92s \xa7 3) Tj", "it’s § 3"},
		"differences":     {"<< /Type /Font /Subtype /Type1 /Encoding << /Differences [1 /ff /fi 65 /B] >> >>", cmap(""), "", "(o\001ice A\x92s) Tj", "office B’s"},
		"its own table":   {"<< /Type /Font /Subtype /Type1 /ToUnicode 8 0 R /Encoding << /Differences [1 /g1 /g2] >> >>", cmap("2 beginbfchar <01> <0041> <02> <0042> endbfchar"), "", "(\001\002c) Tj", "ABc"},
		"lines":           {simple, cmap(""), "", "14 TL (one) Tj T* (two) Tj (three) ' 1 2 (four) \" 0 -40 TD (five) Tj", "one two three four|five"},
		"no font":         {simple, cmap(""), "", "/F9 12 Tf (x) Tj /F1 12 Tf (y) Tj", "xy"},
		"form":            {simple, cmap(""), "BT /F1 12 Tf 72 300 Td (within) Tj ET", "(before) Tj ET /X1 Do BT 72 100 Td (after) Tj", "before|within|after"},
		"form in itself":  {simple, cmap(""), "BT /F1 12 Tf 72 300 Td (x) Tj ET /X1 Do", "(before) Tj ET /X1 Do BT", "before|xxxxxxxx"},
		"damaged form":    {simple, "<< /Length 3 /Subtype /Form /Filter /Unknown >>\nstream\nabc\nendstream", "BT /F1 12 Tf (y) Tj ET", "(before) Tj ET /X2 Do BT 72 600 Td (after) Tj", "before|after"},
		"damaged table":   {strings.Replace(simple, ">>", "/ToUnicode 8 0 R >>", 1), "<< /Length 3 /Filter /Unknown >>\nstream\nabc\nendstream", "", "(a) Tj", "a"},
		"escapes":         {simple, "<< >>", "", `(\$5 \q \(a\) \101\1012\053 (b)) Tj <41 4> Tj`, "$5 q (a) AA2+ (b)A@"},
		"image":           {simple, "<< >>", "", "(a ) Tj BI /W 2 /H 1 ID ((<< EIx ) ] EI (b) Tj", "a b"},
		"no widths":       {"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", "<< >>", "", "(Entry) Tj 30.7 0 Td (fee) Tj 20 0 Td (is) Tj", "Entry fee is"},
		"Mac":             {"<< /Type /Font /Subtype /Type1 /Encoding << /BaseEncoding /MacRomanEncoding /Differences [233 /eacute /uni0416] >> >>", "<< >>", "", `(\351\352\216) Tj`, "éЖé"},
		"type 3":          {"<< /Type /Font /Subtype /Type3 /FontMatrix [.01 0 0 .01 0 0] /FirstChar 97 /Widths [50 50 50] >>", "<< >>", "", "(ab) Tj 12 0 Td (c) Tj 9 0 Td (a) Tj", "abc a"},
		"turned":          {simple, "<< >>", "", "0 1 -1 0 100 100 Tm (one) Tj 0 -14 TD (two) Tj", "one two"},
		"by a state":      {simple, "<< >>", "", "ET /G1 gs BT 72 700 Td (a) Tj", "a"},
		"saved and wrong": {simple, cmap(""), "", "ET Q Q q /F2 Do q 1 cm Q BT 72 700 Td (a) Tj [] TJ TJ Tj Tf Tm", "a"},
	} {
		doc, err := Parse(t.Context(), "a.pdf", writePDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R "+map[bool]string{true: "/Rotate 90"}[name == "turned"]+
				"/Resources << /Font << /F1 5 0 R >> /XObject << /X1 6 0 R /X2 8 0 R >> /ExtGState << /G1 << /Font [5 0 R 12] >> >> >> /Contents [null 7 0 R] >>", "<< >>",
			c.font, stream("/Subtype /Form", c.form), stream("", "BT /F1 12 Tf 72 700 Td "+c.text+" ET"), c.toUnicode))
		var got []string
		for _, b := range doc.Blocks {
			got = append(got, b.Text)
		}
		if got := strings.Join(got, "|"); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// Damaged files are refused, and soon.
func TestPDFBounded(t *testing.T) {
	data := makePDF("/Title (x)", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	cases := [][]byte{
		bytes.Replace(data, []byte("/Kids [5 0 R]"), []byte("/Kids [2 0 R]"), 1), // its own page
		bytes.Replace(data, []byte("/Contents 6 0 R"), []byte("/Contents 5 0 R"), 1),
		bytes.Replace(data, []byte("/Parent 2 0 R"), []byte("/Parent 5 0 R"), 1),
		bytes.Replace(data, []byte("/Resources <<"), []byte("/NoSources <<"), 1),
		bytes.Replace(data, []byte("trailer\n<<"), []byte("trailer\n<< /Prev 9"), 1),
		data[:len(data)/2], data[len(data)/2:],
	}
	for i := 0; i < len(data); i += 37 {
		b := bytes.Clone(data)
		b[i] ^= 0x15
		cases = append(cases, b)
	}
	start := time.Now()
	for i, b := range cases {
		if _, err := Parse(t.Context(), "x.pdf", b); err == errTooLate || err == errTooLarge || errors.Is(err, ErrSandbox) {
			t.Errorf("damage %d: %v", i, err)
		}
	}
	t.Logf("%d damaged files in %v", len(cases), time.Since(start))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse(ctx, "x.pdf", data); err == nil {
		t.Error("read despite a cancelled context")
	}
}

// A small file that takes much memory or time to read is refused, and this process pays none of that.
func TestPDFBomb(t *testing.T) {
	flate := func(s, parms string) string {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		w.Write([]byte(s))
		w.Close()
		return fmt.Sprintf("<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream", b.Len(), parms, b.String())
	}
	page := func(toUnicode, contents, parms string) []byte {
		return writePDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> >> /Contents 7 0 R >>", "<< >>",
			"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R >>", flate(toUnicode, ""), flate(contents, parms))
	}
	const (
		begin = "BT /F1 12 Tf 72 700 Td "
		cmap  = "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <6161> <%s> endbfchar endcmap"
	)
	plain := fmt.Sprintf(cmap, "0061")
	sound := page(plain, begin+"(aa) Tj", "")
	entry := func(first int64) []byte { // adds a cross-reference section for one object
		return bytes.Replace(sound, []byte("trailer"), fmt.Appendf(nil, "%d 1\n0000000009 00000 n \ntrailer", first), 1)
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"sound":   {sound, nil},
		"text":    {page(plain, begin+strings.Repeat("(aaaaaaaaaaaaaaaa) Tj ", 1<<20), ""), errTooLarge},
		"states":  {page(plain, strings.Repeat("q ", 4<<20)+begin+"(aa) Tj", ""), nil},
		"charmap": {page(plain+strings.Repeat("1 ", 15<<20), begin+"(aa) Tj", ""), nil},
		"columns": {page(plain, begin+"(aa) Tj", "/DecodeParms << /Predictor 12 /Columns 30000000000 >>"), errTooLarge},
		"objects": {entry(600_000_000), errTooLarge},
		"numbers": {entry(8_000_000_000), errTooLarge},
	} {
		doc, err := Parse(t.Context(), "a.pdf", c.data)
		if err != c.want || (err == nil) != (len(doc.Blocks) > 0) {
			t.Errorf("%s: %d blocks from %d kB, error %v, want %v", name, len(doc.Blocks), len(c.data)>>10, err, c.want)
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.Sys > 1<<30 {
		t.Errorf("this process took %d MB", memory.Sys>>20)
	}
}

func FuzzPDFContent(f *testing.F) {
	for _, s := range []string{"BT /F1 12 Tf [(a\\(b) -5 <4>] TJ ET", "<< /A [1 << >> ] >> BI ID x EI q", "1 begincodespacerange <00> <ff> endcodespacerange", "(\\", "<", "[[[", ")>]}", "/#4", "EI ID"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		operators := 0
		scanPDF(data, func(op string, args []pdfOperand) {
			if operators++; op == "" || len(args) > pdfOperands {
				t.Fatalf("operator %q of %d operands", op, len(args))
			}
		})
		if operators > len(data) {
			t.Fatalf("%d operators in %d bytes", operators, len(data))
		}
		font := pdfFont{texts: map[uint64]string{}}
		font.readTable(data, true)
		font.readTable(data, false)
		for raw := string(data); len(raw) > 0; {
			n, _, _ := font.next(raw)
			raw = raw[n:] // panics if n is out of range
			if n == 0 {
				t.Fatal("a code of 0 bytes")
			}
		}
	})
}

// FuzzPDF reads PDFs in this process, so that the fuzzer sees the code that an input reaches.
func FuzzPDF(f *testing.F) {
	sandboxed = false
	defer func() { sandboxed = true }()
	f.Add(makePDF("/Title (x)", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET"))
	f.Add(makePDF("", "q q (a\\)(b)) <6 1> Tj % (\nQ [(a) 1 (b)] TJ"))
	f.Add([]byte("%PDF-1.4\nxref\n0 1\ntrailer\n<< /Size 1 >>\nstartxref\n9\n%%EOF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 || slices.Contains([]string{"", "%"}, string(data[:min(len(data), 1)])) && len(data) < 8 {
			return
		}
		check(t, "a.pdf", data)
	})
}

// The cost of reading a PDF is linear: four times the text takes about four times the memory.
func TestPDFIsLinear(t *testing.T) {
	cost := func(lines int) float64 {
		data := makePDF("", "BT /F1 12 Tf 72 700 Td "+strings.Repeat("(abcdefghijklmn-) Tj 0 -14 Td ", lines)+"ET")
		least := math.Inf(1)
		for range 4 { // other goroutines allocate too, but not each time
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := readPDF(t.Context(), data); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
		}
		return least
	}
	const n = 1 << 11
	if one, four := cost(n), cost(4*n); four > 8*one {
		t.Errorf("%.0f kB of memory for %d lines, %.0f kB for four times that", one/1000, n, four/1000)
	}
}

// BenchmarkPDF reads a page of 500 lines with packed objects by our reading of pages and by the library's.
func BenchmarkPDF(b *testing.B) {
	data := packedPage(500)
	open := func() *pdf.Reader {
		r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			reader, glyphs := pdfReader{fonts: map[string]*pdfFont{}}, 0
			reader.each(open().Trailer().Key("Root").Key("Pages"), pdfPage{}, 0, func(p pdfPage) bool {
				glyphs += len(reader.page(p))
				return true
			})
			if glyphs == 0 {
				b.Fatal("nothing was read")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for range b.N {
			if len(open().Page(1).Content().Text) == 0 {
				b.Fatal("nothing was read")
			}
		}
	})
}
