package pdf

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/md5"
	"crypto/rc4"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

func TestParse(t *testing.T) {
	data := makePDF("/Title (Harbour museum)",
		"BT /F1 12 Tf 72 700 Td (The harbour museum opens) Tj 0 -14 Td (at 9:30 and closes at 17:00.) Tj 0 -40 Td (The director is In-) Tj 0 -14 Td (es Calder.) Tj ET",
		"BT /F1 12 Tf 72 700 Td [(Entry) -600 (fee:) -600 (8) -600 (euros)] TJ ET")
	doc, err := Parse(t.Context(), data)
	want := "title Harbour museum\np The harbour museum opens at 9:30 and closes at 17:00.\np The director is Ines Calder.\nl Entry fee: 8 euros"
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
	doc, _ = Parse(t.Context(), makePDF("/Title (Microsoft Word - x.doc)", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET"))
	if doc.Title != "" {
		t.Errorf("title %q", doc.Title)
	}
	if _, err = Parse(t.Context(), makePDF("", "0 0 m 10 10 l S")); err == nil || !strings.Contains(err.Error(), "scanned") {
		t.Errorf("no text: %v", err)
	}
	encrypted := bytes.Replace(data, []byte("/Root 1 0 R"), []byte("/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) >> /ID [(0123456789012345) (0123456789012345)]"), 1)
	if _, err = Parse(t.Context(), encrypted); err == nil || err.Error() != "encrypted PDF (it needs a password)" {
		t.Errorf("encrypted: %v", err)
	}
}

func TestPacked(t *testing.T) {
	doc, err := Parse(t.Context(), packedPage(2))
	if len(doc.Blocks) != 1 || doc.Blocks[0].Text != "The harbour office The harbour office" {
		t.Errorf("%v, %v", doc.Blocks, err)
	}
}

// Pages may have no contents, and an unreadable page does not spoil the others.
func TestPages(t *testing.T) {
	const font = " /Resources << /Font << /F1 << /Type /Font >> >> >>"
	text := "<< /Length 32 >>\nstream\nBT /F1 12 Tf 72 700 Td (a) Tj ET\nendstream"
	kids := "<< /Type /Pages" + font + " /Kids [4 0 R 5 0 R 6 0 R 2 0 R 9 0 R 10 0 R] /Count 9 >>"
	doc, err := Parse(t.Context(), writePDF("<< /Type /Catalog /Pages 2 0 R >>", kids, text,
		"<< /Type /Page >>", "<< /Type /Page /Contents 3 0 R >>", "<< /Type /Page /Contents 7 0 R >>", "<< /Length 1 /Filter /No >>\nstream\n \nendstream",
		"<< /Type /Page /Contents 3 0 R >>", "<< /Type /Pages /Kids [8 0 R 99 0 R] >>", "<< /Type /Page /Contents 8"))
	if err != nil || len(doc.Blocks) < 2 || doc.Blocks[0].Text != "a" {
		t.Errorf("%v, %v", doc.Blocks, err)
	}
	endless := strings.Replace(kids, "2 0 R", "2 0 R 2 0 R", 1)
	if _, err := Parse(t.Context(), writePDF("<< /Type /Catalog /Pages 2 0 R >>", endless, text, "<< >>", "<< >>")); err == nil || !strings.HasPrefix(err.Error(), "damaged PDF") {
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
	if doc, err := Parse(t.Context(), writePDF(objects...)); len(doc.Blocks) != len(many) {
		t.Errorf("%d of %d pages, %v", len(doc.Blocks), len(many), err)
	}
}

// Codes of one and two bytes, tables of both kinds, gaps for spaces, lines, and forms.
func TestText(t *testing.T) {
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
		"composite":       {composite, cmap(table), "", "[<00010002> -50 <0003> -300 <0004>] TJ", "abc d"},
		"listed":          {composite, cmap("1 beginbfrange <0001> <0002> [<00660069> <D83DDE00>] endbfrange 1 beginbfchar <0003> <0078> endbfchar"), "", "<000100020003> Tj", "fi😀x"},
		"moved":           {composite, cmap(table), "", "<00010002> Tj 11 0 Td <0003> Tj 30 0 Td <0004> Tj", "abc d"},
		"WinAnsi":         {simple, cmap(""), "", "(it\x92s \xa7 3) Tj", "it’s § 3"},
		"differences":     {"<< /Type /Font /Subtype /Type1 /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /ff /fi 65 /B] >> >>", cmap(""), "", "(o\001ice A\x92s) Tj", "office B’s"},
		"its own table":   {"<< /Type /Font /Subtype /Type1 /ToUnicode 8 0 R /Encoding << /Differences [1 /g1 /g2] >> >>", cmap("2 beginbfchar <01> <0041> <02> <0042> endbfchar"), "", "(\001\002c) Tj", "ABc"},
		"lines":           {simple, cmap(""), "", "14 TL (one) Tj T* (two) Tj (three) ' 1 2 (four) \" 0 -40 TD (five) Tj", "one two three four|five"},
		"no font":         {simple, cmap(""), "", "/F9 12 Tf (x) Tj /F1 12 Tf (y) Tj", "xy"},
		"form":            {simple, cmap(""), "BT /F1 12 Tf 72 300 Td (within) Tj ET", "(before) Tj ET /X1 Do BT 72 100 Td (after) Tj", "before|within|after"},
		"form in itself":  {simple, cmap(""), "BT /F1 12 Tf 72 300 Td (x) Tj ET /X1 Do", "(before) Tj ET /X1 Do BT", "before|x"},
		"damaged form":    {simple, "<< /Length 3 /Subtype /Form /Filter /Unknown >>\nstream\nabc\nendstream", "BT /F1 12 Tf (y) Tj ET", "(before) Tj ET /X2 Do BT 72 600 Td (after) Tj", "before|after"},
		"damaged table":   {strings.Replace(simple, ">>", "/ToUnicode 8 0 R >>", 1), "<< /Length 3 /Filter /Unknown >>\nstream\nabc\nendstream", "", "(a) Tj", "a"},
		"escapes":         {simple, "<< >>", "", `(\$5 \q \(a\) \101\1012\053 (b)) Tj <41 4> Tj`, "$5 q (a) AA2+ (b)A@"},
		"image":           {simple, "<< >>", "", "(a ) Tj BI /W 2 /H 1 ID ((<< EIx ) ] EI (b) Tj", "a b"},
		"no widths":       {"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", "<< >>", "", "(Entry) Tj 30.7 0 Td (fee) Tj 20 0 Td (is) Tj", "Entry fee is"},
		"Mac":             {"<< /Type /Font /Subtype /Type1 /Encoding << /BaseEncoding /MacRomanEncoding /Differences [233 /eacute /uni0416] >> >>", "<< >>", "", `(\351\352\216) Tj`, "éЖé"},
		"type 3":          {"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 50 50] /FontMatrix [.01 0 0 .01 0 0] /FirstChar 97 /LastChar 99 /Widths [50 50 50] /Encoding << /Differences [97 /a /b /c] >> /CharProcs << /a 8 0 R /b 8 0 R /c 8 0 R >> >>", stream("", "50 0 d0 0 0 50 50 re f"), "", "(ab) Tj 12 0 Td (c) Tj 9 0 Td (a) Tj", "abc a"},
		"turned":          {simple, "<< >>", "", "0 1 -1 0 100 100 Tm (one) Tj 0 -14 TD (two) Tj", "one two"},
		"by a state":      {simple, "<< >>", "", "ET /G1 gs BT 72 700 Td (a) Tj", "a"},
		"saved and wrong": {simple, cmap(""), "", "ET Q Q q /F2 Do q 1 cm Q BT 72 700 Td (a) Tj [] TJ TJ Tj Tf Tm", "a"},
	} {
		doc, err := Parse(t.Context(), writePDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R "+map[bool]string{true: "/Rotate 90"}[name == "turned"]+
				"/Resources << /Font << /F1 5 0 R >> /XObject << /X1 6 0 R /X2 8 0 R >> /ExtGState << /G1 << /Font [5 0 R 12] >> >> >> /Contents [null 7 0 R] >>", "<< >>",
			c.font, stream("/Subtype /Form", c.form), stream("", "BT /F1 12 Tf 72 700 Td "+c.text+" ET"), c.toUnicode))
		var got []string
		if doc.Title != "" {
			got = append(got, doc.Title)
		}
		for _, b := range doc.Blocks {
			got = append(got, b.Text)
		}
		if got := strings.Join(got, "|"); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// A file whose owner has a password and whose readers need none is read.
func TestEncrypted(t *testing.T) {
	data := makePDF("", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	// The standard security handler, revision 2: ISO 32000-1, section 7.6.3.
	pad := []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")
	encrypt := func(key, text []byte) []byte {
		c, err := rc4.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, len(text))
		c.XORKeyStream(out, text)
		return out
	}
	hash := func(parts ...[]byte) []byte { sum := md5.Sum(bytes.Join(parts, nil)); return sum[:] }
	owner := encrypt(hash(append([]byte("owner"), pad[:27]...))[:5], pad)
	id := []byte("0123456789012345")
	key := hash(pad, owner, []byte{0xfc, 0xff, 0xff, 0xff}, id)[:5]
	at := bytes.Index(data, []byte("stream\n")) + len("stream\n")
	end := at + bytes.Index(data[at:], []byte("\nendstream"))
	copy(data[at:end], encrypt(hash(key, []byte{6, 0, 0, 0, 0})[:10], data[at:end])) // object 6
	data = bytes.Replace(data, []byte("/Root 1 0 R"), fmt.Appendf(nil, "/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x> >> /ID [<%x> <%x>]", owner, encrypt(key, pad), id, id), 1)
	if doc, err := Parse(t.Context(), data); err != nil || show(doc) != "p Text." {
		t.Errorf("%s, %v", show(doc), err)
	}
}

// Damaged files are refused, and soon.
func TestDamage(t *testing.T) {
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
		if _, err := Parse(t.Context(), b); err == errTooLate || err == errTooLarge || errors.Is(err, ErrStart) {
			t.Errorf("damage %d: %v", i, err)
		}
	}
	t.Logf("%d damaged files in %v", len(cases), time.Since(start))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse(ctx, data); err == nil {
		t.Error("read despite a cancelled context")
	}
}

// The reason why a PDF cannot be read is text, whatever bytes of the file it quotes.
func TestReasonIsText(t *testing.T) {
	if err := damaged(errors.New("3: bad \xff\xfe name")); !utf8.ValidString(err.Error()) {
		t.Errorf("%q", err)
	}
}

func FuzzParse(f *testing.F) {
	sound := makePDF("/Title (x)", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	if _, err := Parse(f.Context(), sound); err != nil { // starts PDFium, which takes longer than one execution may
		f.Fatal(err)
	}
	f.Add(sound)
	f.Add(makePDF("", "q q (a\\)(b)) <6 1> Tj % (\nQ [(a) 1 (b)] TJ"))
	f.Add([]byte("%PDF-1.4\nxref\n0 1\ntrailer\n<< /Size 1 >>\nstartxref\n9\n%%EOF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 || slices.Contains([]string{"", "%"}, string(data[:min(len(data), 1)])) && len(data) < 8 {
			return
		}
		check(t, data)
	})
}

// check fails on what Parse may not return.
func check(t *testing.T, data []byte) {
	doc, err := Parse(t.Context(), data)
	if err != nil {
		if len(doc.Blocks) > 0 || !utf8.ValidString(err.Error()) {
			t.Fatalf("%q and %d blocks", err, len(doc.Blocks))
		}
		return
	}
	if len(doc.Blocks) == 0 || !utf8.ValidString(doc.Title) {
		t.Fatalf("title %q and %d blocks", doc.Title, len(doc.Blocks))
	}
	total := len(doc.Title)
	for _, b := range doc.Blocks {
		if b.Text == "" || b.Text != english.Collapse(b.Text) || !utf8.ValidString(b.Text) || b.Kind >= blocks.Code || (b.Level > 0) != (b.Kind == blocks.Heading) || b.Level > blocks.LowestLevel {
			t.Fatalf("block %q of kind %d", b.Text, b.Kind)
		}
		total += len(b.Text)
	}
	if total > 64*len(data)+1024 {
		t.Fatalf("%d bytes of text in %d", total, len(data))
	}
}

// BenchmarkParse reads a page of 500 lines with packed objects.
func BenchmarkParse(b *testing.B) {
	data := packedPage(500)
	for b.Loop() {
		if _, err := Parse(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}

// show writes a document, one block on each line: the title, if there is one, "1 heading" with its level, "l line", "p paragraph",
// "h head of a table", "r row".
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

// TestMain keeps the compiled code of PDFium in a folder for the fuzzer's processes too.
func TestMain(m *testing.M) {
	const folder = "TANDEM_TEST_PDFIUM"
	code := func() int {
		if os.Getenv(folder) == "" {
			dir, err := os.MkdirTemp("", "pdfium")
			if err != nil {
				panic(err)
			}
			defer os.RemoveAll(dir)
			os.Setenv(folder, dir)
		}
		Configure(os.Getenv(folder), nil)
		return m.Run()
	}()
	os.Exit(code)
}

// A small file that takes much memory to read is refused, and the next file is still read.
func TestBomb(t *testing.T) {
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
			"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /DW 500 >>] >>", flate(toUnicode, ""), flate(contents, parms))
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
	h := newHost(shared.cache, nil)
	if _, err := h.parse(t.Context(), sound); err != nil {
		t.Fatal(err)
	}
	before := liveMemory()
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"many characters", errTooLate.Error(), page(plain, begin+strings.Repeat("(aaaaaaaaaaaaaaaa) Tj ", 1<<20), "")},
		{"sound", "", sound},
		{"many states", errTooLarge.Error(), page(plain, strings.Repeat("q ", 4<<20)+begin+"(aa) Tj", "")},
		{"a large table of characters", "", page(plain+strings.Repeat("1 ", 15<<20), begin+"(aa) Tj", "")},
		{"wide rows", "no text in it (a scanned PDF?)", page(plain, begin+"(aa) Tj", "/DecodeParms << /Predictor 12 /Columns 30000000000 >>")},
		{"many objects", "", entry(600_000_000)},
		{"a large object number", "", entry(8_000_000_000)},
	} {
		h.pageTime = maxTime // a busy machine is slow, too
		if c.want == errTooLate.Error() {
			h.pageTime = 2 * time.Second
		}
		doc, err := h.parse(t.Context(), c.data)
		if fmt.Sprint(err) != cmp.Or(c.want, "<nil>") || (err == nil) != (len(doc.Blocks) > 0) {
			t.Errorf("%s: %d blocks from %d kB, error %v, want %q", c.name, len(doc.Blocks), len(c.data)>>10, err, c.want)
		}
	}
	// Neither the files nor PDFium's memory for them are kept.
	if p := h.running; p != nil && cap(p.memory.bytes) > keptMemory {
		t.Errorf("PDFium keeps %d MB", cap(p.memory.bytes)>>20)
	}
	if grown := liveMemory() - before; grown > keptMemory {
		t.Errorf("%d MB are kept", grown>>20)
	}
}

// liveMemory returns the bytes that the program still uses.
func liveMemory() int64 {
	runtime.GC()
	runtime.GC() // what finalizers released
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}

// Whatever ends the reading of a file, the next file is read.
func TestPDFiumStarts(t *testing.T) {
	data := makePDF("", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	h := newHost(shared.cache, nil)
	begun := 0
	h.preparing = func() { begun++ }
	long := func(lib pdfium.Pdfium, tick func()) error { // longer than any limit
		for {
			opened, err := lib.OpenDocument(&requests.OpenDocument{File: &data})
			if err != nil {
				return err
			}
			lib.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: opened.Document})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		ctx                context.Context
		pageTime, fileTime time.Duration
		read               func(pdfium.Pdfium, func()) error
		want               error
	}{
		{t.Context(), 20 * time.Millisecond, time.Minute, long, errTooLate},
		{t.Context(), time.Minute, 20 * time.Millisecond, long, errTooMany},
		{ctx, time.Minute, time.Minute, func(lib pdfium.Pdfium, tick func()) error { cancel(); return long(lib, tick) }, context.Canceled},
		{ctx, time.Minute, time.Minute, long, context.Canceled},
		{t.Context(), time.Minute, time.Minute, func(pdfium.Pdfium, func()) error { return errors.New("wasm error: unreachable") }, errCrashed},
	} {
		h.pageTime, h.fileTime = c.pageTime, c.fileTime
		if err := h.use(c.ctx, c.read); err != c.want {
			t.Errorf("%v, want %v", err, c.want)
		}
		h.pageTime, h.fileTime = time.Minute, time.Minute
		if doc, err := h.parse(t.Context(), data); err != nil || len(doc.Blocks) != 1 {
			t.Errorf("after %v: %v, %v", c.want, doc, err)
		}
	}
	func() {
		defer func() { recover() }()
		h.use(t.Context(), func(pdfium.Pdfium, func()) error { panic("a mistake") })
	}()
	if h.running != nil {
		t.Error("PDFium goes on after a panic, though it is being stopped")
	}
	if doc, err := h.parse(t.Context(), data); err != nil || len(doc.Blocks) != 1 {
		t.Errorf("after a panic: %v, %v", doc, err)
	}
	if begun != 1 {
		t.Errorf("PDFium was prepared %d times", begun)
	}
}

// A folder that cannot be used, or holds damaged code, costs time only.
func TestPDFiumFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles PDFium twice")
	}
	data := makePDF("", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	if err := os.CopyFS(damaged, os.DirFS(shared.cache)); err != nil {
		t.Fatal(err)
	}
	n := 0
	filepath.WalkDir(damaged, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
			err = os.Truncate(path, 100)
		}
		return err
	})
	if n == 0 {
		t.Error("no compiled code is kept")
	}
	for _, dir := range []string{filepath.Join(file, "x"), damaged} {
		if doc, err := newHost(dir, nil).parse(t.Context(), data); err != nil || len(doc.Blocks) != 1 {
			t.Errorf("%s: %v, %v", dir, doc, err)
		}
	}
}

func TestLayout(t *testing.T) {
	body := "72 %d 11 The harbour museum shows the boats of the lake, and how they were built and sailed."
	var columns []string
	for i := range 6 {
		columns = append(columns, fmt.Sprintf("72 %d 10 left line %d goes on in this column", 700-12*i, i), fmt.Sprintf("320 %d 10 right line %d goes on in that column", 700-12*i, i))
	}
	paged := func(n int) string {
		lines := []string{"72 760 9 Harbour museum, guide for visitors", fmt.Sprintf("300 40 9 Page %d of 3", n), fmt.Sprintf("72 54 9 Season 2024 - page %d of 3", n)}
		for i := range 4 {
			lines = append(lines, fmt.Sprintf("72 %d 11 Room %d%d shows one of the boats.", 700-40*i, n, i))
		}
		return drawPage(lines...)
	}
	for name, c := range map[string]struct {
		pages []string
		want  string
	}{
		"headings": {[]string{drawPage("72 720 24 Guide of the museum", fmt.Sprintf(body, 680), "72 666 11 It is open.", "72 630 16 Prices", fmt.Sprintf(body, 600), "72 570 11 **For children", fmt.Sprintf(body, 556))},
			"title Guide of the museum\n1 Guide of the museum\np " + body[9:] + " It is open.\n2 Prices\np " + body[9:] + "\n6 For children\np " + body[9:]},
		"columns": {[]string{drawPage(columns...)},
			"p left line 0 goes on in this column left line 1 goes on in this column left line 2 goes on in this column left line 3 goes on in this column left line 4 goes on in this column left line 5 goes on in this column " +
				"right line 0 goes on in that column right line 1 goes on in that column right line 2 goes on in that column right line 3 goes on in that column right line 4 goes on in that column right line 5 goes on in that column"},
		"table": {[]string{drawPage("72 700 11 Day", "200 700 11 Opens", "300 700 11 Closes", "72 686 11 Monday", "200 686 11 9:40", "300 686 11 17:20", "72 672 11 Tuesday and", "200 672 11 10:00", "300 672 11 18:00", "72 660 11 the day after", "72 600 11 Fee:", "200 600 11 8 euros")},
			"h Day | Opens | Closes\nr Monday | 9:40 | 17:20\nr Tuesday and the day after | 10:00 | 18:00\nl Fee: 8 euros"},
		"cell after cell": {[]string{drawPage("72 700 11 Small", "300 700 11 2.40", "400 700 11 24", "72 686 11 Van with a ramp", "72 673 11 for wheelchairs", "300 686 11 4.90", "400 686 11 49")},
			"r Small | 2.40 | 24\nr Van with a ramp for wheelchairs | 4.90 | 49"},
		"address": {[]string{drawPage("72 740 11 Ines Calder", "72 726 11 Uferweg 3", "72 712 11 88131 Lindau", fmt.Sprintf(body, 660), "72 646 11 It is open.", "72 600 11 1 Introduction . . . . . . . . 3", "72 586 11 2 Boats . . . . . . . . . . . . 17")},
			"p Ines Calder\np Uferweg 3\np 88131 Lindau\np " + body[9:] + " It is open.\nl 1 Introduction .... 3\nl 2 Boats .... 17"},
		"margins": {[]string{paged(1), paged(2), paged(3)},
			"title Harbour museum, guide for visitors\n6 Season 2024 - page 1 of 3\np Room 10 shows one of the boats.\np Room 11 shows one of the boats.\np Room 12 shows one of the boats.\np Room 13 shows one of the boats.\n" +
				"p Room 20 shows one of the boats.\np Room 21 shows one of the boats.\np Room 22 shows one of the boats.\np Room 23 shows one of the boats.\n" +
				"p Room 30 shows one of the boats.\np Room 31 shows one of the boats.\np Room 32 shows one of the boats.\np Room 33 shows one of the boats."},
		"paragraphs": {[]string{drawPage(fmt.Sprintf(body, 700), "72 686 11 The museum is open.", fmt.Sprintf(strings.Replace(body, "72", "84", 1), 672), "72 658 11 It closes late.", "72 644 11 \\225 one boat", "72 630 11 \\225 two boats")},
			"p " + body[9:] + " The museum is open.\np " + body[9:] + " It closes late.\nl • one boat\nl • two boats"},
		"over pages": {[]string{drawPage("72 700 11 The first line of text on this page is long,", "72 686 11 and so is the second which is not yet at its"), drawPage("72 700 11 end here.")},
			"p The first line of text on this page is long, and so is the second which is not yet at its end here."},
		"kerned": {[]string{"BT /F1 12 Tf 72 700 Td [(Tw ) 270 (o columns of inter-)] TJ 0 -14 Td (est to all Anglo-) Tj 0 -14 Td (Saxon readers) Tj ET"},
			"p Two columns of interest to all Anglo-Saxon readers"},
		"moved apart": {[]string{"BT /F1 12 Tf 72 700 Td [(the)-400(lake)-400(cabin)-400(is)-400(warm)] TJ ET"}, "p the lake cabin is warm"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.pages...))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// What belongs together in lines below each other, and what does not.
func TestLines(t *testing.T) {
	below := func(lines ...string) string { // lines of 11 points from the top of the page
		for i, l := range lines {
			lines[i] = fmt.Sprintf("72 %d 11 %s", 700-13*i, l)
		}
		return drawPage(lines...)
	}
	const full = "The harbour museum shows the boats of the lake, and how they were built, "
	for name, c := range map[string]struct{ page, want string }{
		"hyphens": {below(full+"in the G\\344rtner-", "stra\\337e and by e-", "mail to bib-", "west@lindau.example, on A-", "roads, in lunch-", "and dinnertime, with a well-known, well-", "known boat of 3-", "litre engines."),
			"p " + full + "in the Gärtnerstraße and by e-mail to bib-west@lindau.example, on A-roads, in lunch- and dinnertime, with a well-known, well-known boat of 3-litre engines."},
		"dashes": {below(full+"from 15:30\\226", "16:15, for all the visitors of the town, in winter until noon, and again in the whole of May/", "June, \\226", "if it rains \\226 later."), "p " + full + "from 15:30–16:15, for all the visitors of the town, in winter until noon, and again in the whole of May/June, – if it rains – later."},
		"figures": {below(full+"in length", "and for them paid 2.400,00 to one of the yards at the southern shore in the year", "2023. That was much. Four are of wood and older. The hotline for all is 0800 555", "7655. Call it."),
			"p " + full + "in length and for them paid 2.400,00 to one of the yards at the southern shore in the year 2023. That was much. Four are of wood and older. The hotline for all is 0800 555 7655. Call it."},
		"raised": {"BT /F1 11 Tf 72 700 Td (The cellar has 45 m) Tj /F1 6 Tf 4 Ts (2) Tj 0 Ts /F1 11 Tf ( and costs 298) Tj /F1 6 Tf 4 Ts (1) Tj 0 Ts /F1 11 Tf ( euros.) Tj ET", "p The cellar has 45 m² and costs 298¹ euros."},
		"items": {drawPage("72 700 11 \\225", "84 700 11 Changed: the file moved from one folder to", "84 687 11 Another folder, whose name is so long that this line is the widest of all the lines here.", "72 674 11 \\225", "84 674 11 Removed: it", "72 661 11 Text."),
			"l • Changed: the file moved from one folder to Another folder, whose name is so long that this line is the widest of all the lines here.\nl • Removed: it\np Text."},
		"chat": {below("[03.03.24, 18:02] Sven: the water comes back on 30 March, close the taps", "[03.03.24, 18:05] Ada: at last", "\\(1\\) Any person may become a member of the club, and many have done so.", "\\(2\\) Minors need a form."),
			"p [03.03.24, 18:02] Sven: the water comes back on 30 March, close the taps\np [03.03.24, 18:05] Ada: at last\np (1) Any person may become a member of the club, and many have done so.\np (2) Minors need a form."},
		"labels": {below("Discussed: Lutherkirche or Orangerie. The concert takes place in the", "Lutherkirche on 15 June at 18:00, and the emergency numbers are 110 for", "food: 95 euros.", "Policy number ........ 4711", "Name: Ada"),
			"p Discussed: Lutherkirche or Orangerie. The concert takes place in the Lutherkirche on 15 June at 18:00, and the emergency numbers are 110 for food: 95 euros.\nl Policy number .... 4711\nl Name: Ada"},
		"a short line that cannot end": {below("The garage in the yard of the mill is let from", "1 September 2023. "+full+"all by hand and in one year."), "p The garage in the yard of the mill is let from 1 September 2023. " + full + "all by hand and in one year."},
		"a label goes on":              {below("Numbers: fire 110, police 112, ambulance 113 in the whole country, plus", "food: 95 euros.", "Text."), "p Numbers: fire 110, police 112, ambulance 113 in the whole country, plus food: 95 euros.\np Text."},
		"plain headings": {drawPage("72 700 11 House rules", "72 670 11 \\247 3 Membership", "72 640 11 Any person may become a member.", "72 610 11 FEES", "72 597 11 The fee is 20 euros.", "72 567 11 Boats of the club", "72 537 11 There are four."),
			"title House rules\n6 § 3 Membership\np Any person may become a member.\n6 FEES\np The fee is 20 euros.\n6 Boats of the club\np There are four."},
		"days":                 {drawPage("72 700 11 Monday 3 June", "72 670 11 It rained.", "72 640 11 Tuesday 4 June", "72 610 11 It rained."), "6 Monday 3 June\np It rained.\n6 Tuesday 4 June\np It rained."},
		"a title with figures": {drawPage("72 740 18 Statement 3/2024", "72 700 11 "+full+"in one year."), "title Statement 3/2024\n1 Statement 3/2024\np " + full + "in one year."},
		"versions":             {drawPage("72 730 18 Changes", "72 700 16 1.4.2 \\(2024-03-18\\)", "72 670 11 Fixed: the chart.", "72 640 16 12", "72 610 11 "+full+"in all the years."), "title Changes\n1 Changes\n2 1.4.2 (2024-03-18)\nl Fixed: the chart.\np 12\np " + full + "in all the years."},
		"one line":             {below("Harbour museum"), "p Harbour museum"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.page))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
	for _, title := range []string{"letter.md.html", "Microsoft Word - x", "Budget 2024.xlsx"} {
		if doc, _ := Parse(t.Context(), makePDF("/Title ("+title+")", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")); doc.Title != "" {
			t.Errorf("%q is a title", title)
		}
	}
}

// Bullets may be drawn, and spaces of justified lines wide.
func TestDrawn(t *testing.T) {
	disc := func(x, y float64) string {
		return fmt.Sprintf("%g %g m %g %g %g %g %g %g c %g %g %g %g %g %g c f\n", x, y, x, y+2, x+4, y+2, x+4, y, x+4, y-2, x, y-2, x, y)
	}
	for name, c := range map[string]struct{ page, want string }{
		"bullets": {disc(72, 704) + disc(72, 678) + "80 661 4 4 re f " + drawPage("84 700 11 Juniors on Tuesday and Thursday with a coach of the club, all of them", "84 687 11 in boats", "84 674 11 Masters", "92 660 11 on Sunday"),
			"l • Juniors on Tuesday and Thursday with a coach of the club, all of them in boats\nl • Masters\nl • on Sunday"},
		"justified": {drawPage("72 700 11 and all of the lakes, as") + "BT /F1 11 Tf 20.2 Tw 72 687 Td (boats of many) Tj 0 -13 Td (boats of many) Tj 0 Tw 0 -13 Td (and all of the lakes, as) Tj ET",
			"p and all of the lakes, as boats of many boats of many and all of the lakes, as"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.page))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// The layout of a page with very many lines takes no more than its share of time and memory.
func TestLayoutIsBounded(t *testing.T) {
	const n = 1 << 17
	for name, place := range map[string]func(i int) (x, y float64, joined bool){
		"lines":                  func(i int) (float64, float64, bool) { return 0, float64(-12 * i), false },
		"one line":               func(i int) (float64, float64, bool) { return float64(20 * i), 0, i > 0 },
		"rows of moving columns": func(i int) (float64, float64, bool) { return float64(i%2*4*n + 3*i/2), float64(-i / 2), i%2 == 1 },
		"rows":                   func(i int) (float64, float64, bool) { return float64(i % 10 * 100), float64(-i / 10 * 12), i%10 > 0 },
		"lines up":               func(i int) (float64, float64, bool) { return float64(i % 3 * 100), float64(12 * i), false },
	} {
		var d document
		var runs []run
		for i := range n {
			x, y, joined := place(i)
			runs = append(runs, run{text: "ab", font: font{10, false}, base: y, joined: joined, box: box{x, y, x + 2, y + 8}})
		}
		start := time.Now()
		text := pageText{grids: unruledGrids(runs, 0)}
		for i, r := range runs {
			runs[i].grid, runs[i].cell = text.cellAt(r.box, 0)
		}
		d.pages = []page{{runs, text.grids}}
		if doc := d.layout(t.Context()); len(doc.Blocks) == 0 {
			t.Errorf("%s: nothing", name)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		} else {
			t.Log(name, took)
		}
	}
}

// No page is laid out once the context has ended.
func TestLayoutStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	pages := document{pages: []page{{runs: []run{{text: "One.", font: font{size: 10}}}}}}
	if doc := pages.layout(ctx); len(doc.Blocks) > 0 {
		t.Errorf("%d blocks", len(doc.Blocks))
	}
}

// FuzzLayout lays out pieces of text at any places, with lines between them.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("\x10\x80\x20\x0aone two three four five\n\x90\x80\x20\x0asix\n\x10\x70\x20\x0aseven-\n\x90\x70\x20\x1aEight: 9"))
	f.Add([]byte("\x10\x90\x40\x00\n\x10\x80\x40\x00\n\x10\x70\x40\x00\n\x10\x70\x00\x20\n\x30\x70\x00\x20\n\x50\x70\x00\x20\n\x12\x88\x20\x0aone two\n\x32\x88\x20\x0athree\n\x12\x78\x20\x0afour\n\x32\x78\x20\x0afive"))
	f.Add([]byte("\x10\x90\x40\x00\n\x10\x80\x40\x00\n\x10\x70\x40\x00\n\x12\x88\x20\x0aone two\n\x32\x88\x20\x0athree\n\x12\x78\x20\x0afour\n\x32\x78\x20\x0afive"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		var d document
		var runs []run
		var lines []box
		endPage := func() {
			var ink []box
			for _, r := range runs {
				ink = append(ink, r.box)
			}
			text := pageText{grids: gridsOf(lines, newInk(ink))}
			place := func() {
				for i, r := range runs {
					runs[i].grid, runs[i].cell = text.cellAt(r.box, 0)
				}
			}
			place()
			text.grids = append(text.grids, unruledGrids(runs, 0)...)
			place()
			d.pages, runs, lines = append(d.pages, page{runs, text.grids}), nil, nil
		}
		for piece := range bytes.SplitSeq(data, []byte("\n")) {
			if len(piece) == 4 {
				x, y := float64(piece[0])*3, float64(piece[1])*4
				lines = append(lines, box{x, y, x + 3*float64(piece[2]), y + 4*float64(piece[3])})
				continue
			}
			if len(piece) < 4 {
				endPage()
				continue
			}
			text := english.Collapse(string(piece[4:]))
			if text == "" {
				continue
			}
			x, y, wide, size := float64(piece[0])*3, float64(piece[1])*4, float64(piece[2]), float64(piece[3]&31)+1
			runs = append(runs, run{text: text, font: font{size, piece[3]&32 > 0}, base: y, joined: piece[3]&64 > 0, hyphen: piece[3]&128 > 0, box: box{x, y, x + wide, y + size}})
		}
		endPage()
		letters := func(s string) (n int) {
			for _, r := range s {
				if unicode.IsLetter(r) {
					n++
				}
			}
			return n
		}
		doc, want := d.layout(t.Context()), 0
		got := letters(doc.Title)
		for _, page := range d.pages { // without the margins
			for _, r := range page.runs {
				want += letters(r.text)
			}
		}
		want -= letters(repeatedHeads(d))
		for _, b := range doc.Blocks {
			if got += letters(b.Text); b.Text != english.Collapse(b.Text) || (b.Level > 0) != (b.Kind == blocks.Heading) {
				t.Fatalf("%+v", b)
			}
		}
		if got < want {
			t.Fatalf("%d of %d letters in %+v", got, want, doc.Blocks)
		}
	})
}

// repeatedHeads returns the names of columns that a table repeats where it goes on, which are read once.
func repeatedHeads(d document) (text string) {
	var t *table
	words := d.compounds()
	for _, page := range d.pages {
		for _, l := range page.lines(words) {
			if l.table == nil {
				t = nil
				continue
			}
			if t == nil {
				t = l.table
				continue
			}
			rows := len(t.Rows) + len(l.table.Rows)
			if !t.goOn(l.table) {
				t = l.table
			} else if len(t.Rows) < rows {
				text += strings.Join(l.table.Rows[0], " ")
			}
		}
	}
	return text
}

// Lines on the page make cells, however programs draw them.
func TestRuledTables(t *testing.T) {
	var (
		xs      = []float64{70, 150, 230}
		ys      = []float64{712, 696, 668, 652}
		trainer = drawPage("72 700 11 Trainer", "152 700 11 Since", "72 686 11 Gudrun", "152 686 11 3 May", "72 673 11 Pietsch", "72 656 11 Ayse Korkmaz", "152 656 11 1 June")
		bold    = strings.NewReplacer("/F1 11 Tf 72 700", "/F2 11 Tf 72 700", "/F1 11 Tf 152 700", "/F2 11 Tf 152 700").Replace(trainer)
		table   = "h Trainer | Since\nr Gudrun Pietsch | 3 May\nr Ayse Korkmaz | 1 June"
		boxes   strings.Builder
		thin    strings.Builder
	)
	for r := range 3 {
		for c := range 2 {
			x, y := xs[c]+1, ys[r+1]+1
			fmt.Fprintf(&boxes, "%g %g %g %g re S\n", x, y, xs[c+1]-x-1, ys[r]-y-1)
			for _, e := range [][4]float64{{x, y, xs[c+1] - x, 1}, {x, y, 1, ys[r] - y}, {xs[c+1] - 1, y, 1, ys[r] - y}, {x, ys[r] - 1, xs[c+1] - x, 1}} {
				fmt.Fprintf(&thin, "%g %g %g %g re f\n", e[0], e[1], e[2], e[3])
			}
		}
	}
	for name, c := range map[string]struct {
		pages []string
		want  string
	}{
		"lines":              {[]string{drawGrid(xs, ys) + bold}, table},
		"no head":            {[]string{drawGrid(xs, ys) + trainer}, "l Trainer: Since\nl Gudrun Pietsch: 3 May\nl Ayse Korkmaz: 1 June"},
		"boxes":              {[]string{boxes.String() + bold}, table},
		"thin rectangles":    {[]string{thin.String() + bold}, table},
		"open sides":         {[]string{drawLines("70 712 230 712", "70 696 230 696", "70 668 230 668", "70 652 230 652", "150 712 150 652") + bold}, table},
		"moved and enlarged": {[]string{"q 2 0 0 2 10 20 cm 30 346 m 110 346 l 30 338 m 110 338 l 30 324 m 110 324 l 30 316 m 110 316 l 30 346 m 30 316 l 70 346 m 70 316 l 110 346 m 110 316 l S Q " + bold}, table},
		"lines across only":  {[]string{drawLines("70 712 260 712", "70 696 260 696", "70 668 260 668", "70 652 260 652") + bold}, table},
		"head above the lines": {[]string{drawLines("70 696 260 696", "70 668 260 668", "70 640 260 640") + drawPage("72 716 11 **Trainer of", "72 703 11 **all", "152 709 11 **Since", "72 686 11 Gudrun", "152 686 11 3 May", "72 673 11 Pietsch", "72 656 11 Ayse", "152 656 11 1 June", "72 626 11 Bo", "152 626 11 9 June", "72 580 11 Those are the trainers.")},
			"h Trainer of all | Since\nr Gudrun Pietsch | 3 May\nr Ayse | 1 June\nr Bo | 9 June\np Those are the trainers."},
		"shaded rows":       {[]string{"70 696 190 16 re f 70 652 190 16 re f " + bold}, table},
		"a frame and lines": {[]string{drawLines("70 696 260 696", "70 668 260 668") + "70 652 190 60 re S\n" + bold}, table},
		"merged": {[]string{drawLines("70 720 310 720", "70 640 310 640", "70 720 70 640", "310 720 310 640", "150 720 150 640", "230 700 230 640", "150 700 310 700", "70 680 310 680", "150 660 310 660") +
			drawPage("72 696 11 **Line", "152 706 11 **Monday to Friday", "152 686 11 **First", "232 686 11 **Last", "72 656 11 27", "152 666 11 5:48", "232 666 11 22:40", "152 646 11 6:18", "232 646 11 23:10")},
			"h Line | Monday to Friday First | Monday to Friday Last\nr 27 | 5:48 | 22:40\nr 27 | 6:18 | 23:10"},
		"two tables": {[]string{drawGrid([]float64{70, 200, 300}, []float64{720, 700, 680}) + drawGrid([]float64{70, 120, 250, 300}, []float64{680, 660, 640}) +
			drawPage("72 706 11 Small", "202 706 11 2.40", "72 686 11 Large", "202 686 11 4.80", "72 666 11 Day", "122 666 11 Opens", "252 666 11 Closes", "72 646 11 Monday", "122 646 11 9:40", "252 646 11 17:20")},
			"l Small: 2.40\nl Large: 4.80\nh Day | Opens | Closes\nr Monday | 9:40 | 17:20"},
		"over pages": {[]string{drawPage("72 740 11 Below are the trainers.") + drawGrid(xs, ys) + bold,
			drawGrid(xs, ys) + bold + drawPage("72 600 11 That is all."),
			drawGrid(xs, ys[:3]) + drawPage("72 700 11 Jo", "152 700 11 1 July", "72 676 11 Bo", "152 676 11 1 May")},
			"p Below are the trainers.\nh Trainer | Since\nr Gudrun Pietsch | 3 May\nr Ayse Korkmaz | 1 June\nr Gudrun Pietsch | 3 May\nr Ayse Korkmaz | 1 June\np That is all.\nl Jo: 1 July\nl Bo: 1 May"},
		"paragraphs in cells": {[]string{drawGrid([]float64{70, 300, 560}, []float64{720, 500, 480}) + drawPage("72 486 9 left.", "302 486 9 right.") + drawPage(wordy(72, 706, 14)...) + drawPage(wordy(302, 706, 3)...)},
			"p " + strings.TrimSpace(strings.Repeat("The harbour museum shows the boats of the lake ", 14)) + "\np " + strings.TrimSpace(strings.Repeat("The harbour museum shows the boats of the lake ", 3)) + "\np left.\np right."},
		"a frame around the page": {[]string{"20 20 570 750 re S " + drawPage("72 700 11 The museum is open.", "72 600 11 It closes late.")}, "p The museum is open.\np It closes late."},
		"boxes around paragraphs": {[]string{"70 680 300 40 re S 70 590 300 40 re S " + drawPage("72 700 11 The museum is open.", "72 600 11 It closes late.")}, "p The museum is open.\np It closes late."},
		"underlined": {[]string{drawLines("72 698 200 698", "72 684 170 684", "72 670 180 670") + drawPage("72 700 11 The museum is open and", "72 686 11 the tower is not, as", "72 672 11 the stairs are old.")},
			"p The museum is open and the tower is not, as the stairs are old."},
		"rules between sections": {[]string{drawLines("70 712 500 712", "70 650 500 650", "70 600 500 600") + drawPage("72 700 11 The museum is open all day long in", "72 686 11 summer, and in winter until noon.", "72 630 11 The tower is not, as its stairs are old.")},
			"p The museum is open all day long in summer, and in winter until noon.\np The tower is not, as its stairs are old."},
		"a chart": {[]string{drawGrid([]float64{100, 150, 200, 250}, []float64{700, 650, 600}) + "110 600 20 80 re f 160 600 20 40 re f " + drawPage("80 698 11 20", "80 648 11 10", "80 598 11 0", "105 580 11 May", "160 580 11 June")},
			"p 20\np 10\np 0\nl May June"},
		"rows between lines": {[]string{drawLines("70 712 260 712", "70 696 260 696", "70 640 260 640") + drawPage("72 700 11 **Day", "152 700 11 **Opens", "72 682 11 Monday", "152 682 11 9:40", "72 666 11 Tuesday", "152 666 11 10:00", "72 650 11 Friday", "152 650 11 8:15")},
			"h Day | Opens\nr Monday | 9:40\nr Tuesday | 10:00\nr Friday | 8:15"},
		"boxes side by side":      {[]string{"70 670 105 50 re S 175 670 100 50 re S " + drawPage("72 700 11 Ines Calder", "177 700 11 Date", "72 686 11 Uferweg 3", "177 686 11 3 May")}, "p Ines Calder Uferweg 3\np Date 3 May"},
		"a drawing within a cell": {[]string{drawGrid(xs, ys) + drawGrid([]float64{205, 213, 220}, []float64{663, 660, 657}) + bold}, table},
		"a chart with words":      {[]string{drawGrid([]float64{70, 90, 110, 130, 150, 170, 190, 210}, []float64{720, 690, 660}) + drawPage("75 700 11 scaled for visualization", "75 670 11 users and target")}, "title scaled for visualization\np users and target"},
		"bars":                    {[]string{"70 690 150 20 re f 70 670 90 20 re f " + drawPage("72 695 11 May", "150 695 11 12", "72 675 11 June", "150 675 11 8")}, "l May: 12\nl June: 8"},
		"only drawn":              {[]string{strings.Repeat("10 10 m 100 10 l S\n", maxPageObjects) + drawGrid(xs, ys) + trainer}, "l Trainer: Since\nl Gudrun: 3 May\np Pietsch\np Ayse Korkmaz 1 June"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.pages...))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// wordy returns n full lines of text.
func wordy(x, y float64, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%g %g 9 The harbour museum shows the boats of the lake", x, y-11*float64(i)))
	}
	return lines
}

// Lines may be drawn in a form.
func TestRuledForm(t *testing.T) {
	stream := func(dict, s string) string {
		return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(s), dict, s)
	}
	form := drawGrid([]float64{70, 150, 230}, []float64{756, 728, 712})
	doc, err := Parse(t.Context(), writePDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> /XObject << /X1 6 0 R >> >> /Contents 7 0 R >>", "<< >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>", stream("/Subtype /Form /BBox [0 0 612 792]", form),
		stream("", "q 1 0 0 1 0 -60 cm /X1 Do Q "+drawPage("72 686 11 Gudrun", "152 686 11 3 May", "72 673 11 Pietsch", "72 656 11 Ayse", "152 656 11 1 June"))))
	if got, want := show(doc), "l Gudrun Pietsch: 3 May\nl Ayse: 1 June"; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// Each grid of a page looks only at the letters near it, and letters in many grids are looked at a bounded number of times.
func TestGridsAreLinear(t *testing.T) {
	frame := func(x, y, wide, high float64) []box {
		return []box{{x, y, x + wide, y}, {x, y + high, x + wide, y + high}, {x, y, x, y + high}, {x + wide, y, x + wide, y + high}, {x + wide/2, y, x + wide/2, y + high}}
	}
	for name, c := range map[string]struct {
		place func(i int) []box
		found bool
	}{
		"below each other": {func(i int) []box { return frame(0, float64(40*i), 100, 20) }, true},
		"in each other":    {func(i int) []box { return frame(-10*float64(i), -10*float64(i), 100+20*float64(i), 20+20*float64(i)) }, false},
	} {
		const grids, letters = 500, 1 << 17
		var lines, boxes []box
		for i := range grids {
			lines = append(lines, c.place(i)...)
		}
		for i := range letters {
			x, y := float64(i%2*50+10), float64(i/2%grids*40+5)
			if !c.found {
				y = 5
			}
			boxes = append(boxes, box{x, y, x + 4, y + 10})
		}
		ink := newInk(boxes)
		if found := gridsOf(lines, ink); len(found) > 0 != c.found {
			t.Errorf("%s: %d grids", name, len(found))
		}
		if looked := maxLooks - ink.left; c.found && looked > 8*letters || looked > maxLooks+letters {
			t.Errorf("%s: looked at %d letters of %d", name, looked, letters)
		}
	}
}

// A text without spaces, whose lines end with dashes, is not copied for each line.
func TestDashesAreLinear(t *testing.T) {
	cost := func(lines int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		line := run{text: "two–"}
		text := []byte(line.text)
		for range lines {
			text = append(compounds{}.between(text, line, line), line.text...)
		}
		if len(text) != (lines+1)*len(line.text) {
			t.Fatalf("%d bytes", len(text))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, four := cost(1<<12), cost(1<<14); four > 8*one {
		t.Errorf("%d kB, %d kB for four times the lines", one>>10, four>>10)
	}
}
