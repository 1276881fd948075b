package office_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/retrieval/documents"
	"tandem/retrieval/documents/office"
	"tandem/retrieval/documents/office/officetest"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/blocks/blockstest"
)

func TestDOCX(t *testing.T) {
	body := officetest.InStyle("T", "Rental contract") + officetest.InStyle("V1", "Rooms\t2") +
		officetest.InStyle("berschrift1", "Rooms") + officetest.Para("", "The flat has 4 rooms & a balcony.") +
		officetest.InStyle("Mine", "Keys") + officetest.InList(2, 0, "house keys: 3") + officetest.InList(1, 0, "Rent") + officetest.InList(1, 1, "due on the 3rd") + officetest.InList(1, 1, "by transfer") + officetest.InList(1, 0, "Deposit") +
		`<w:p><w:r><w:t>The old rent was </w:t></w:r><w:del><w:r><w:delText>900</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>94</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>0</w:t></w:r><w:r><w:rPr><w:strike w:val="0"/></w:rPr><w:t> </w:t></w:r><w:ins><w:r><w:t>950 €</w:t></w:r></w:ins><w:r><w:footnoteReference w:id="2"/><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>.</w:t></w:r></w:p>` +
		officetest.Para("<w:tabs><w:tab/></w:tabs>", "Monday\t9:40\t17:20") + officetest.Para("", "Tuesday\t9:50\t18:00") + officetest.Para("", "1.\tFirst") +
		officetest.Para("", "Ada Byron\nHigh Street 1") +
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + officetest.Para("", "In a box.") + `</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>` + officetest.Para("", "In a box.") + `</w:txbxContent></mc:Fallback></mc:AlternateContent><w:t>Around it.</w:t></w:r></w:p>` +
		`<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>` + officetest.Para("", "Mon") + `</w:tc><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>` + officetest.Para("", "9:00") + `</w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc>` + officetest.Para("", "10:00") + `</w:tc><w:tc>` + officetest.Para("", "b") + `</w:tc></w:tr></w:tbl>` +
		`<w:tbl><w:tr><w:tc>` + officetest.Para("", "Tenant:") + `</w:tc><w:tc>` + officetest.Para("", "Ada") + `</w:tc></w:tr></w:tbl>`
	data := officetest.DOCX(body, map[string]string{
		"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote w:id="2">` + officetest.Para("", "Since 1 May.") + `</w:footnote></w:footnotes>`,
		"word/header1.xml":   `<w:hdr xmlns:w="w">` + officetest.Para("", "Brandes GmbH") + `</w:hdr>`,
		"word/footer1.xml":   `<w:ftr xmlns:w="w">` + officetest.Para("", "IBAN DE12 3456") + `<w:p><w:r><w:t>Page </w:t></w:r><w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple></w:p></w:ftr>`,
		"docProps/core.xml":  `<c xmlns:dc="dc"><dc:title>Template</dc:title></c>`,
	})
	want := `title Rental contract
l Brandes GmbH
l IBAN DE12 3456
# Rooms
p The flat has 4 rooms & a balcony.
# Keys
l - house keys: 3
l 3. Rent
l 3.a) due on the 3rd
l 3.b) by transfer
l 4. Deposit
p The old rent was ~~940~~ 950 €.
p Since 1 May.
r Monday | 9:40 | 17:20
r Tuesday | 9:50 | 18:00
l 1. First
p Ada Byron
p High Street 1
p In a box.
p Around it.
r Mon | 9:00 |
r Mon | 10:00 | b
l Tenant: Ada`
	doc, err := documents.Parse(t.Context(), "a.docx", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
	if doc.Blocks[2].Level != 1 || doc.Blocks[4].Level != 2 {
		t.Errorf("levels %d and %d", doc.Blocks[2].Level, doc.Blocks[4].Level)
	}
}

func TestTitles(t *testing.T) {
	core := func(title string) map[string]string {
		return map[string]string{"docProps/core.xml": `<c xmlns:dc="dc"><dc:title>` + title + `</dc:title></c>`}
	}
	for _, c := range []struct {
		body, core, want string
	}{
		{officetest.InStyle("berschrift1", "One") + officetest.Para("", "x"), "Named", "One"},
		{officetest.InStyle("berschrift1", "One") + officetest.InStyle("berschrift1", "Two") + officetest.Para("", "x"), "Named", "Named"},
		{officetest.Para("", "x"), "Named", "Named"},
		{officetest.Para("", "x"), "Microsoft Word - letter", "My letter"},
		{officetest.Para("", "x"), "letter.doc", "My letter"},
	} {
		doc, err := documents.Parse(t.Context(), "my-letter.docx", officetest.DOCX(c.body, core(c.core)))
		if doc.Title != c.want || err != nil {
			t.Errorf("title %q (%v), want %q", doc.Title, err, c.want)
		}
	}
}

func TestODT(t *testing.T) {
	body := `<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p text:style-name="P1">Statutes</text:p>
<text:table-of-content><text:index-body><text:p>Fees<text:tab/>2</text:p></text:index-body></text:table-of-content>
<text:h text:outline-level="1">Fees</text:h><text:p>The fee is
  <text:span text:style-name="T1">150 <text:span text:style-name="T2">€</text:span><text:span text:style-name="T1"/></text:span> <text:span>160 €</text:span><text:s text:c="2"/>a year<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Since 2024.</text:p></text:note-body></text:note>.<office:annotation><text:p>remark</text:p></office:annotation></text:p>
<text:h text:outline-level="2">Boats</text:h>
<text:list text:style-name="L1"><text:list-item><text:p>One</text:p><text:p>goes on</text:p><text:list><text:list-item><text:p>deep</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>Two</text:p></text:list-item></text:list>
<text:list text:style-name="L2"><text:list-item><text:p>dash</text:p></text:list-item></text:list>
<text:p>Monday<text:tab/>9:40<text:line-break/>Tuesday<text:tab/>9:50</text:p>
<text:p>Before<draw:frame><draw:text-box><text:p>In a box.</text:p></draw:text-box></draw:frame> after.</text:p>
<table:table><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Mon</text:p></table:table-cell><table:table-cell><text:p>9:00</text:p></table:table-cell><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row><table:table-row><table:covered-table-cell/><table:table-cell><text:p>10:00</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`
	data := officetest.ODT(body, map[string]string{
		"styles.xml": `<o xmlns:text="t" xmlns:style="s"><style:header><text:p>Rowing club</text:p></style:header><style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></o>`,
	})
	want := `title Statutes
l Rowing club
# Fees
p The fee is ~~150 €~~ 160 € a year.
p Since 2024.
# Boats
l 1. One
p goes on
l 1.a) deep
l 2. Two
l - dash
l Monday: 9:40
l Tuesday: 9:50
p In a box.
p Before after.
r Mon | 9:00 | a
r Mon | 10:00 | b`
	doc, err := documents.Parse(t.Context(), "a.odt", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// A book with an encrypted chapter is refused, however its list of encrypted files is written. One with encrypted fonts is not.
func TestLockedEPUB(t *testing.T) {
	for list, locked := range map[string]bool{
		`<encryption><EncryptedData><CipherData><CipherReference URI="chapter 1.xhtml"/></CipherData></EncryptedData></encryption>`:       true,
		`<encryption><EncryptedData><CipherData><CipherReference URI='chapter%201.xhtml'/></CipherData></EncryptedData></encryption>`:     true,
		`<encryption><EncryptedData><CipherData><CipherReference URI="./chapter&#32;1.xhtml"/></CipherData></EncryptedData></encryption>`: true,
		`<encryption><EncryptedData><CipherData><CipherReference URI="font.otf"/></CipherData></EncryptedData></encryption>`:              false,
		`<encryption>`: true, // cut off
	} {
		data := officetest.Zip("META-INF/container.xml", `<container><rootfile full-path="book.opf"/></container>`,
			"book.opf", `<package><item id="1" href="chapter%201.xhtml"/><itemref idref="1"/></package>`,
			"chapter 1.xhtml", "<p>It was dark.</p>", "META-INF/encryption.xml", list)
		_, err := documents.Parse(t.Context(), "a.epub", data)
		if refused := err != nil && strings.Contains(err.Error(), "copy protection"); refused != locked || err != nil && !refused {
			t.Errorf("%s: %v", list, err)
		}
	}
}

func TestXLSX(t *testing.T) {
	cell := func(style, value string) string { return `<c s="` + style + `"><v>` + value + `</v></c>` }
	data := officetest.XLSX(`<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is><r><t>Pri</t></r><r><t>ce</t></r><rPh><t>x</t></rPh></is></c><c t="str"><v>Day</v></c><c t="s"><v>2</v></c></row>`+
		`<row><c r="A2" t="s"><v>2</v></c><c r="C2"><v>129.5</v></c>`+cell("1", "46268")+`<c t="b"><v>1</v></c></row>`+
		`<row>`+cell("2", "0.190000000000000002")+`<c t="e"><v>#REF!</v></c>`+cell("0", "0.30000000000000004")+cell("3", "46268.5208333333")+cell("4", "0.75")+`</row>`,
		`<row><c t="s"><v>2</v></c></row>`, ``)
	want := `title A
# Tools
h Tool | Shelf | Price | Day | Drill
r Drill | | 129.5 | 2026-09-03 | yes
r 19 % | | 0.3 | 2026-09-03 12:30 | 18:00
# Sheet 2
l Drill`
	doc, err := documents.Parse(t.Context(), "a.xlsx", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func TestEPUB(t *testing.T) {
	doc, err := documents.Parse(t.Context(), "a.epub", officetest.EPUB("<h1>One</h1><p>It was <em>dark</em>.</p>", "<p>It was light.</p>"))
	want := "title The Mill\nl Author: Ada Byron\n# One\np It was dark.\np It was light."
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func TestArchiveErrors(t *testing.T) {
	blockstest.Large(t)
	huge := func(entry, before, fill string, n int) []byte {
		return officetest.Zip(entry, before+strings.Repeat(fill, n/len(fill)))
	}
	workbook := func(book, styles, shared string) []byte {
		return officetest.Zip("xl/workbook.xml", "<w>"+book+"</w>", "xl/styles.xml", "<s>"+styles+"</s>", "xl/sharedStrings.xml", "<s>"+shared+"</s>")
	}
	var forms strings.Builder
	for i := range office.MaxStyles + 1 {
		fmt.Fprintf(&forms, `<numFmt numFmtId="%d" formatCode="0"/>`, i)
	}
	locked := officetest.DOCX("", nil)
	at := bytes.Index(locked, []byte("PK\x01\x02"))
	for at >= 0 { // the flag of encryption, in each entry of the list
		locked[at+8] |= 1
		next := bytes.Index(locked[at+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	many := make([]string, 0, 2*office.ArchiveEntries+4)
	for i := range office.ArchiveEntries + 1 {
		many = append(many, fmt.Sprint(i), "")
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.docx", nil, "empty file"},
		{"a.docx", []byte("hello"), "not a .docx document, despite its name"},
		{"a.docx", append(slices.Clone(office.Compound), "..WordDocument"...), "save it as .docx or PDF"},
		{"a.docx", append(slices.Clone(office.Compound), office.UTF16Of("EncryptedPackage")...), "save it without a password"},
		{"a.docx", officetest.DOCX("", nil)[:300], "damaged .docx document (zip: "},
		{"a.docx", officetest.Zip("x", "y"), "no word/document.xml"},
		{"a.docx", officetest.Zip("word/document.xml", "<a><b></a>"), "damaged"},
		{"a.docx", officetest.DOCX("", nil), "no text in it"},
		{"a.docx", locked, "encrypted"},
		{"a.docx", officetest.Zip(many...), "entries"},
		{"a.docx", huge("word/document.xml", "<a>", "<p>", 3*office.XMLDepth+9), "nests"},
		{"a.docx", huge("word/document.xml", "<a>", "<p/>", office.EntryLimit+100), "unpacks"},
		{"a.docx", huge("word/document.xml", "", "a", office.EntryLimit+100), "unpacks"},
		{"a.docx", huge("word/document.xml", "<a ", `b="" `, 5*office.XMLAttributes+9), "attributes"},
		{"a.docx", officetest.Zip("word/document.xml", `<?xml version="1.0" encoding="utf-16le"?>`+string(office.UTF16Of("<a "))+
			strings.Repeat(string(office.UTF16Of(`b="`))+"\x41\x3c"+string(office.UTF16Of(`" `)), office.XMLAttributes+1)), "attributes"}, // U+3C41 has the byte of "<"
		{"a.docx", officetest.DOCX(officetest.Para("", strings.Repeat("text ", blocks.MaxText/5))+officetest.Para("", "more"), nil), "16 MB of text"},
		{"a.docx", officetest.DOCX("<w:tbl><w:tr>"+strings.Repeat("<w:tc/>", office.MaxPlaces)+"</w:tr></w:tbl>", nil), "rows and cells"},
		{"a.odt", officetest.ODT("<table:table>"+strings.Repeat("<table:table-row/>", office.MaxPlaces+1)+"</table:table>", nil), "rows and cells"},
		{"a.odt", officetest.Zip("x", "y"), "no content.xml"},
		{"a.odt", officetest.ODT("", map[string]string{"META-INF/manifest.xml": "<m><encryption-data/></m>"}), "encrypted"},
		{"a.epub", officetest.Zip("x", "y"), "no META-INF/container.xml"},
		{"a.epub", officetest.EPUB("<p/>"), "no text in it"},
		{"a.epub", officetest.Zip("META-INF/container.xml", `<rootfile full-path="b"/>`), `"b" is missing`},
		{"a.doc", nil, "save it as .docx or PDF"},
		{"a.xls", nil, "save it as .xlsx, or as CSV"},
		{"a.xlsx", nil, "empty file"},
		{"a.xlsx", officetest.Zip("x", "y"), "no xl/workbook.xml"},
		{"a.xlsx", officetest.XLSX(""), "no text in it"},
		{"a.xlsx", officetest.XLSX(`<row><c r="ZZZ1"><v>1</v></c></row>`), "columns"},
		{"a.xlsx", officetest.XLSX(strings.Repeat(`<row><c t="s"><v>3</v></c></row>`, blocks.MaxText/1000+1)), "16 MB of text"},
		{"a.xlsx", officetest.XLSX(strings.Repeat(`<row><c r="AAA1"><v>1</v></c></row>`, 6000)), "cells"},
		{"a.xlsx", officetest.XLSX(strings.Repeat(`<row/>`, office.SheetCells+1)), "rows and cells"},
		{"a.xlsx", workbook(strings.Repeat(`<sheet/>`, office.ArchiveEntries+1), "", ""), "sheets"},
		{"a.xlsx", workbook("", "<cellXfs>"+strings.Repeat(`<xf/>`, office.MaxStyles+1)+"</cellXfs>", ""), "styles"},
		{"a.xlsx", workbook("", forms.String(), ""), "styles"},
		{"a.xlsx", workbook("", "", strings.Repeat(`<si/>`, office.SheetCells+1)), "rows and cells"},
		{"a.ods", officetest.Zip("x", "y"), "no content.xml"},
		{"a.ods", officetest.ODS(""), "no text in it"},
		{"a.ods", officetest.Zip("content.xml", "<a/>", "META-INF/manifest.xml", "<m><encryption-data/></m>"), "encrypted .ods spreadsheet"},
		{"a.ods", officetest.ODS(`<table:table><table:table-row><table:table-cell table:number-columns-repeated="1024"/><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>`), "columns"},
		{"a.ods", officetest.ODS("<table:table>" + strings.Repeat(`<table:table-row><table:table-cell table:number-columns-repeated="1023"/><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>`, 4200) + "</table:table>"), "cells"},
		{"a.pptx", append(slices.Clone(office.Compound), office.UTF16Of("EncryptedPackage")...), "encrypted .pptx presentation"},
		{"a.pptx", officetest.Zip("x", "y"), "no ppt/presentation.xml"},
		{"a.pptx", officetest.PPTX(nil, officetest.Shape("title")), "no text in it"},
		{"a.pptx", officetest.PPTX(nil, "<a:p><a:t>")[:400], "damaged"},
		{"a.pptx", officetest.PPTX(nil, "<a:tbl><a:tr>"+strings.Repeat("<a:tc/>", office.MaxPlaces/2)+"</a:tr></a:tbl>", "<a:tbl><a:tr>"+strings.Repeat("<a:tc/>", office.MaxPlaces/2)+"</a:tr></a:tbl>"), "rows and cells"},
		{"a.pptx", officetest.PPTX(nil, officetest.Shape("-", strings.Repeat("text ", blocks.MaxText/10)), officetest.Shape("-", strings.Repeat("text ", blocks.MaxText/10), "more", "more")), "16 MB of text"},
		{"a.odp", officetest.ODP(""), "no text in it"},
		{"a.ppt", nil, "save it as .pptx or PDF"},
		{"a.zip", nil, "unsupported type .zip (text, Markdown"},
	} {
		doc, err := documents.Parse(t.Context(), c.name, c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(doc.Blocks) > 0 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Archives whose bytes were changed at random cause no panic, and no more memory than the bounds allow.
func TestDamagedArchives(t *testing.T) {
	blockstest.Large(t)
	random := rand.New(rand.NewPCG(1, 2))
	sound := map[string][]byte{
		"a.docx": officetest.DOCX(officetest.DOCXTable([][]string{{"a", "b", "c"}, {"1", "2", "3"}}, true)+officetest.InList(1, 1, "x"), nil),
		"a.odt":  officetest.ODT(officetest.ODTTable([][]string{{"a", "b", "c"}, {"1", "2", "3"}}), nil),
		"a.epub": officetest.EPUB("<p>one</p>", "<p>two</p>"),
		"a.xlsx": officetest.XLSX(`<row><c t="s"><v>0</v></c><c s="1"><v>46268.5</v></c></row>`),
		"a.ods":  officetest.ODS(`<table:table><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="3"><text:p>a</text:p></table:table-cell></table:table-row></table:table>`),
		"a.pptx": officetest.PPTX(nil, officetest.Shape("title", "a")+officetest.Shape("", "b")+slideTable),
		"a.odp":  officetest.ODP(`<draw:page><draw:frame presentation:class="title"><text:p>a</text:p></draw:frame><text:p>b</text:p></draw:page>`),
	}
	for name, data := range sound {
		for range 400 {
			broken := slices.Clone(data)
			for range 1 + random.IntN(8) {
				broken[random.IntN(len(broken))] = byte(random.Uint32())
			}
			if random.IntN(4) == 0 {
				broken = broken[:random.IntN(len(broken))]
			}
			check(t, name, broken)
		}
	}
	// a bomb: each entry unpacks to as much as is allowed
	bomb := officetest.Zip("word/document.xml", "<d>"+strings.Repeat("<p><r><t>x</t></r></p>", (office.EntryLimit-9)/22))
	var before, after runtime.MemStats
	peak := make(chan uint64)
	stop := make(chan struct{})
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		top := uint64(0)
		for {
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(10 * time.Millisecond):
				runtime.ReadMemStats(&after)
				top = max(top, after.HeapAlloc)
			}
		}
	}()
	_, err := documents.Parse(t.Context(), "a.docx", bomb)
	close(stop)
	if top := <-peak; top > before.HeapAlloc+512<<20 {
		t.Errorf("%d MB of memory for a file of %d kB (%v)", (top-before.HeapAlloc)>>20, len(bomb)>>10, err)
	}
}

// check fails on what documents.Parse may not return, among that a panic of this package.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	doc, err := documents.Parse(t.Context(), name, data)
	if err != nil && strings.Contains(err.Error(), "the program made a mistake") {
		t.Fatal(err)
	}
	blockstest.Check(t, doc, err, len(data))
}

// written returns XML that a fuzzer chose: each byte begins an element of the list, ends the current one or is text. So it is
// always well formed, unlike XML whose bytes are changed.
func written(data []byte, elements []string) string {
	var b strings.Builder
	var open []string
	for _, c := range data {
		switch i := int(c); {
		case i < len(elements):
			b.WriteString("<" + elements[i] + ">")
			name, _, _ := strings.Cut(elements[i], " ")
			open = append(open, name)
		case i < 128 && len(open) > 0:
			b.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		default:
			b.WriteString([]string{"a", " word", ": ", "1", "\n", "|", "é", "PAGE", "-"}[i%9])
		}
	}
	for _, name := range slices.Backward(open) {
		b.WriteString("</" + name + ">")
	}
	return b.String()
}

// fuzzArchive reads archives with an XML file of elements that the fuzzer chose, or of its bytes, or the fuzzer's archive.
func fuzzArchive(f *testing.F, name string, pack func(inner string) []byte, elements []string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), byte(1))
	}
	f.Add(pack(seeds[0]), byte(2))
	f.Add([]byte("\x00\x01\x80\x70\x02\x03\x81\x70\x70\x70"), byte(0))
	every := make([]byte, 0, 3*len(elements))
	for i := range elements {
		every = append(every, byte(i), 0x81, 0x70)
	}
	f.Add(every, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		switch kind % 3 {
		case 0:
			data = pack(written(data, elements))
		case 1:
			data = pack(string(data))
		}
		check(t, name, data)
	})
}

// Raised figures stay so, in Word's way and LibreOffice's.
func TestDOCXRaised(t *testing.T) {
	run := func(properties, text string) string {
		return "<w:r><w:rPr>" + properties + "</w:rPr><w:t>" + text + "</w:t></w:r>"
	}
	data := officetest.DOCX("<w:p>"+run("", "45 m")+run(`<w:vertAlign w:val="superscript"/>`, "2")+run("", " for 298")+run(`<w:position w:val="7"/>`, "1")+run(`<w:position w:val="-4"/>`, "3")+run("", " on the 3")+run(`<w:vertAlign w:val="superscript"/>`, "rd")+"</w:p>", nil)
	if doc, err := documents.Parse(t.Context(), "a.docx", data); err != nil || blockstest.Show(doc) != "title A\np 45 m² for 298¹3 on the 3rd" {
		t.Errorf("%s, %v", blockstest.Show(doc), err)
	}
}

// Amounts keep the currency or the unit that their cells show.
func TestXLSXCurrencies(t *testing.T) {
	row := func(name, style, value string) string {
		return `<row><c t="str"><v>` + name + `</v></c><c s="` + style + `"><v>` + value + `</v></c><c t="str"><v>x</v></c></row>`
	}
	data := officetest.XLSX(`<row><c t="str"><v>Item</v></c><c t="str"><v>Amount</v></c><c t="str"><v>Note</v></c></row>` +
		row("Rent", "5", "1250.5") + row("Refund", "5", "-3") + row("Hosting", "6", "12") + row("Power", "7", "80") + row("Ticket", "8", "9.4") +
		row("Lunch", "9", "7.25") + row("Flour", "10", "2.5") + row("Work", "11", "1.5") + row("Sales", "12", "1200000"))
	want := `title A
h Item | Amount | Note
r Rent | 1250.50 € | x
r Refund | -3.00 € | x
r Hosting | $12 | x
r Power | 80.00 € | x
r Ticket | CHF 9.40 | x
r Lunch | £7.25 | x
r Flour | 2.5 kg | x
r Work | 36:00 | x
r Sales | 1200000 | x`
	doc, err := documents.Parse(t.Context(), "a.xlsx", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func FuzzDOCX(f *testing.F) {
	fuzzArchive(f, "a.docx", func(inner string) []byte {
		return officetest.DOCX(inner, map[string]string{"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote w:id="2">` + officetest.Para("", "note") + `</w:footnote></w:footnotes>`})
	}, []string{"w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", "w:pPr", `w:pStyle w:val="berschrift1"`, `w:pStyle w:val="Mine"`, "w:numPr", `w:ilvl w:val="1"`, `w:numId w:val="1"`, `w:numId w:val="2"`,
		"w:tab", "w:br", "w:vMerge", `w:vMerge w:val="restart"`, `w:gridSpan w:val="9999"`, "w:tblHeader", "w:del", "mc:Fallback", "w:vanish", "w:instrText", `w:fldSimple w:instr="PAGE"`, `w:footnoteReference w:id="2"`, `w:outlineLvl w:val="2"`, "w:txbxContent", `w:footnote w:id="3"`},
		officetest.Para("", "text")+officetest.InList(1, 0, "item"), officetest.DOCXTable([][]string{{"a", "b"}, {"1", "2"}}, true), "<w:p><w:p>", officetest.InStyle("Mine", "a\tb"))
}

func FuzzODT(f *testing.F) {
	fuzzArchive(f, "a.odt", func(inner string) []byte { return officetest.ODT(inner, nil) },
		[]string{"text:p", "text:h", `text:h text:outline-level="3"`, "text:span", "text:s", `text:s text:c="99999"`, "text:tab", "text:line-break", "text:list", `text:list text:style-name="L1"`, `text:list text:style-name="L2"`, "text:list-item",
			"table:table", "table:table-row", "table:table-header-rows", "table:table-cell", `table:table-cell table:number-rows-spanned="3"`, `table:table-cell table:number-columns-repeated="9999"`, "table:covered-table-cell",
			"text:note", "text:note-citation", "text:tracked-changes", "text:page-number", `text:p text:style-name="P1"`, `text:list-style style:name="L9"`, `text:list-level-style-number text:level="1" style:num-format="i"`},
		"<text:p>a<text:s/>b</text:p>", officetest.ODTTable([][]string{{"a", "b"}, {"1", "2"}}), `<text:list text:style-name="L1"><text:list-item><text:p>x</text:p></text:list-item></text:list>`, `<text:h>x</text:h>`)
}

func FuzzXLSX(f *testing.F) {
	fuzzArchive(f, "a.xlsx", func(inner string) []byte { return officetest.XLSX(inner) },
		[]string{"row", "c", `c t="s"`, `c t="inlineStr"`, `c t="b"`, `c s="1"`, `c s="3"`, `c s="5"`, `c s="11"`, `c r="ZZ9"`, "v", "is", "t", "rPh"},
		`<row><c t="s"><v>0</v></c><c><v>1</v></c></row>`, `<row><c s="1"><v>46268.5</v></c></row>`, `<c><v>1</v></c>`)
}

func FuzzEPUB(f *testing.F) {
	fuzzArchive(f, "a.epub", func(inner string) []byte { return officetest.EPUB(inner) },
		[]string{"h1", "h2", "p", "table", "tr", "td", `td rowspan="3" colspan="9999"`, "th", "ul", "ol", "li", "pre", "div", "br", "form", "footer", "aside", "caption", "dl", "dt", "dd", "article", "a"},
		"<h1>a</h1><p>b</p>", "<table><tr><td>x</td></tr></table>", "<title/><p/>")
}

// A table within a cell does not end the cells of the outer table that reach down.
func TestODTNestedTable(t *testing.T) {
	body := `<table:table><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Tue</text:p></table:table-cell><table:table-cell><table:table><table:table-row><table:table-cell><text:p>R1</text:p></table:table-cell></table:table-row></table:table></table:table-cell><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>` +
		`<table:table-row><table:covered-table-cell/><table:table-cell><text:p>R2</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`
	doc, err := documents.Parse(t.Context(), "a.odt", officetest.ODT(body, nil))
	want := "title A\nr Tue | R1 | a\nr Tue | R2 | b"
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// A document whose styles or lists are missing, or not named where they should be, has the headings and items that Word's
// names of styles say.
func TestDOCXWithoutStyles(t *testing.T) {
	body := officetest.InStyle("Title", "Trip") + officetest.InStyle("TOC1", "Boat 3") + officetest.InStyle("Heading1", "Boat") +
		officetest.Para("", "She is the Merganser.") + officetest.InStyle("Heading2", "Fees") + officetest.InStyle("ListBullet", "The berth is 38.") +
		officetest.InList(5, 0, "The deposit is 850.") + officetest.InStyle("Heading10", "Not one.")
	document := `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`
	want := `title Trip
# Boat
p She is the Merganser.
# Fees
l - The berth is 38.
l - The deposit is 850.
p Not one.`
	for name, data := range map[string][]byte{
		"no styles": officetest.Zip("word/document.xml", document),
		"styles that are not named": officetest.Zip("word/document.xml", document,
			"word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`),
	} {
		doc, err := documents.Parse(t.Context(), "trip.docx", data)
		if got := blockstest.Show(doc); got != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", name, got, err, want)
			continue
		}
		if doc.Blocks[0].Level != 1 || doc.Blocks[2].Level != 2 {
			t.Errorf("%s: levels %d and %d", name, doc.Blocks[0].Level, doc.Blocks[2].Level)
		}
	}
}
