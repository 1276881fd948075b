package pdf

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rc4"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
