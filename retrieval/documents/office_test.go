package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// makeZip writes an archive. The entries are names and contents by turns.
func makeZip(entries ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(entries); i += 2 {
		how := zip.Deflate
		if len(entries[i+1]) < 1<<12 {
			how = zip.Store // fuzzing is many times faster
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: entries[i], Method: how})
		if err == nil {
			_, err = f.Write([]byte(entries[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// makeDOCX writes a Word document with a body and further parts, by name.
func makeDOCX(body string, parts map[string]string) []byte {
	entries := []string{
		"_rels/.rels", `<Relationships><Relationship Id="a" Type="http://x/officeDocument" Target="word/document.xml"/><Relationship Id="b" Type="http://x/core-properties" Target="docProps/core.xml"/></Relationships>`,
		"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w" xmlns:mc="mc"><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style><w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style><w:style w:styleId="T"><w:name w:val="Title"/></w:style><w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style></w:styles>`,
		"word/numbering.xml", `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num></w:numbering>`,
	}
	rels := `<Relationships><Relationship Id="s" Type="http://x/styles" Target="styles.xml"/><Relationship Id="n" Type="http://x/numbering" Target="/word/numbering.xml"/>`
	for name, part := range parts {
		entries = append(entries, name, part)
		if kind, ok := strings.CutSuffix(strings.TrimPrefix(name, "word/"), ".xml"); ok {
			rels += fmt.Sprintf(`<Relationship Id="%s" Type="http://x/%s" Target="%s.xml"/>`, kind, strings.TrimRight(kind, "0123456789"), kind)
		}
	}
	return makeZip(append(entries, "word/_rels/document.xml.rels", rels+`</Relationships>`)...)
}

// para writes a Word paragraph with properties and text. A tab and a line end are elements.
func para(properties, text string) string {
	text = escape(text)
	text = strings.NewReplacer("&#x9;", "</w:t><w:tab/><w:t>", "&#xA;", "</w:t><w:br/><w:t>").Replace(text)
	return "<w:p><w:pPr>" + properties + `</w:pPr><w:r><w:t xml:space="preserve">` + text + "</w:t></w:r></w:p>"
}

func inStyle(name, text string) string { return para(`<w:pStyle w:val="`+name+`"/>`, text) }

func inList(list, level int, text string) string {
	return para(fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, list), text)
}

func docxTable(rows [][]string, head bool) string {
	var b strings.Builder
	b.WriteString("<w:tbl>")
	for i, row := range rows {
		b.WriteString("<w:tr>")
		if head && i == 0 {
			b.WriteString("<w:trPr><w:tblHeader/></w:trPr>")
		}
		for _, cell := range row {
			b.WriteString("<w:tc><w:tcPr/>" + para("", cell) + "</w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	return b.String() + "</w:tbl>"
}

func TestDOCX(t *testing.T) {
	body := inStyle("T", "Rental contract") + inStyle("V1", "Rooms\t2") +
		inStyle("berschrift1", "Rooms") + para("", "The flat has 4 rooms & a balcony.") +
		inStyle("Mine", "Keys") + inList(2, 0, "house keys: 3") + inList(1, 0, "Rent") + inList(1, 1, "due on the 3rd") + inList(1, 1, "by transfer") + inList(1, 0, "Deposit") +
		`<w:p><w:r><w:t>The old rent was </w:t></w:r><w:del><w:r><w:delText>900</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>94</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>0</w:t></w:r><w:r><w:rPr><w:strike w:val="0"/></w:rPr><w:t> </w:t></w:r><w:ins><w:r><w:t>950 €</w:t></w:r></w:ins><w:r><w:footnoteReference w:id="2"/><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>.</w:t></w:r></w:p>` +
		para("<w:tabs><w:tab/></w:tabs>", "Monday\t9:40\t17:20") + para("", "Tuesday\t9:50\t18:00") + para("", "1.\tFirst") +
		para("", "Ada Byron\nHigh Street 1") +
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + para("", "In a box.") + `</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>` + para("", "In a box.") + `</w:txbxContent></mc:Fallback></mc:AlternateContent><w:t>Around it.</w:t></w:r></w:p>` +
		`<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>` + para("", "Mon") + `</w:tc><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>` + para("", "9:00") + `</w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc>` + para("", "10:00") + `</w:tc><w:tc>` + para("", "b") + `</w:tc></w:tr></w:tbl>` +
		`<w:tbl><w:tr><w:tc>` + para("", "Tenant:") + `</w:tc><w:tc>` + para("", "Ada") + `</w:tc></w:tr></w:tbl>`
	data := makeDOCX(body, map[string]string{
		"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote w:id="2">` + para("", "Since 1 May.") + `</w:footnote></w:footnotes>`,
		"word/header1.xml":   `<w:hdr xmlns:w="w">` + para("", "Brandes GmbH") + `</w:hdr>`,
		"word/footer1.xml":   `<w:ftr xmlns:w="w">` + para("", "IBAN DE12 3456") + `<w:p><w:r><w:t>Page </w:t></w:r><w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple></w:p></w:ftr>`,
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
	doc, err := Parse(t.Context(), "a.docx", data)
	if got := show(doc); got != want || err != nil {
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
		{inStyle("berschrift1", "One") + para("", "x"), "Named", "One"},
		{inStyle("berschrift1", "One") + inStyle("berschrift1", "Two") + para("", "x"), "Named", "Named"},
		{para("", "x"), "Named", "Named"},
		{para("", "x"), "Microsoft Word - letter", "My letter"},
		{para("", "x"), "letter.doc", "My letter"},
	} {
		doc, err := Parse(t.Context(), "my-letter.docx", makeDOCX(c.body, core(c.core)))
		if doc.Title != c.want || err != nil {
			t.Errorf("title %q (%v), want %q", doc.Title, err, c.want)
		}
	}
}

// makeODT writes an OpenDocument text with a body and further parts.
func makeODT(body string, parts map[string]string) []byte {
	entries := []string{"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:dc="dc" xmlns:draw="d"><office:automatic-styles><style:style style:name="P1" style:parent-style-name="Title"/><style:style style:name="T1"><style:text-properties style:text-line-through-style="solid"/></style:style><style:default-style><style:text-properties style:text-line-through-style="solid"/></style:default-style><style:style style:name="T2"><style:text-properties style:text-line-through-style="none"/></style:style><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:list-style><text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style></office:automatic-styles><office:body><office:text>` + body + `</office:text></office:body></office:document-content>`}
	for name, part := range parts {
		entries = append(entries, name, part)
	}
	return makeZip(entries...)
}

func odtTable(rows [][]string) string {
	var b strings.Builder
	b.WriteString(`<table:table><table:table-column/>`)
	for i, row := range rows {
		if i == 0 {
			b.WriteString(`<table:table-header-rows>`)
		}
		b.WriteString(`<table:table-row>`)
		for _, cell := range row {
			b.WriteString(`<table:table-cell><text:p>` + escape(cell) + `</text:p></table:table-cell>`)
		}
		b.WriteString(`</table:table-row>`)
		if i == 0 {
			b.WriteString(`</table:table-header-rows>`)
		}
	}
	return b.String() + `</table:table>`
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
	data := makeODT(body, map[string]string{
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
	doc, err := Parse(t.Context(), "a.odt", data)
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// makeEPUB writes a book with chapters in the order of reading.
func makeEPUB(chapters ...string) []byte {
	entries := []string{"mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`}
	var items, spine string
	for i, c := range slices.Backward(chapters) {
		items += fmt.Sprintf(`<item id="c%d" href="text/chapter%%20%d.xhtml" media-type="application/xhtml+xml"/>`, i, i)
		entries = append(entries, fmt.Sprintf("OEBPS/text/chapter %d.xhtml", i), `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>`+c+`</body></html>`)
	}
	for i := range chapters {
		spine += fmt.Sprintf(`<itemref idref="c%d"/>`, i)
	}
	return makeZip(append(entries, "OEBPS/book.opf", `<package xmlns:dc="dc"><metadata><dc:title>The Mill</dc:title><dc:creator>Ada Byron</dc:creator></metadata><manifest>`+items+`</manifest><spine>`+spine+`</spine></package>`)...)
}

func TestEPUB(t *testing.T) {
	doc, err := Parse(t.Context(), "a.epub", makeEPUB("<h1>One</h1><p>It was <em>dark</em>.</p>", "<p>It was light.</p>"))
	want := "title The Mill\nl Author: Ada Byron\n# One\np It was dark.\np It was light."
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func TestArchiveErrors(t *testing.T) {
	huge := func(entry, before, fill string, n int) []byte {
		return makeZip(entry, before+strings.Repeat(fill, n/len(fill)))
	}
	locked := makeDOCX("", nil)
	at := bytes.Index(locked, []byte("PK\x01\x02"))
	for at >= 0 { // the flag of encryption, in each entry of the list
		locked[at+8] |= 1
		next := bytes.Index(locked[at+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	many := make([]string, 0, 2*archiveEntries+4)
	for i := range archiveEntries + 1 {
		many = append(many, fmt.Sprint(i), "")
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.docx", nil, "empty file"},
		{"a.docx", []byte("hello"), "not a .docx document, despite its name"},
		{"a.docx", append(slices.Clone(compound), "..WordDocument"...), "save it as .docx or PDF"},
		{"a.docx", append(slices.Clone(compound), utf16Of("EncryptedPackage")...), "save it without a password"},
		{"a.docx", makeDOCX("", nil)[:300], "damaged .docx document (zip: "},
		{"a.docx", makeZip("x", "y"), "no word/document.xml"},
		{"a.docx", makeZip("word/document.xml", "<a><b></a>"), "damaged"},
		{"a.docx", makeDOCX("", nil), "no text in it"},
		{"a.docx", locked, "encrypted"},
		{"a.docx", makeZip(many...), "entries"},
		{"a.docx", huge("word/document.xml", "<a>", "<p>", 3*xmlDepth+9), "nests"},
		{"a.docx", huge("word/document.xml", "<a>", "<p/>", entryLimit+100), "unpacks"},
		{"a.docx", huge("word/document.xml", "", "a", entryLimit+100), "unpacks"},
		{"a.docx", makeDOCX(para("", strings.Repeat("text ", textTotal/5))+para("", "more"), nil), "16 MB of text"},
		{"a.odt", makeZip("x", "y"), "no content.xml"},
		{"a.odt", makeODT("", map[string]string{"META-INF/manifest.xml": "<m><encryption-data/></m>"}), "encrypted"},
		{"a.epub", makeZip("x", "y"), "no META-INF/container.xml"},
		{"a.epub", makeEPUB("<p/>"), "no text in it"},
		{"a.epub", makeZip("META-INF/container.xml", `<rootfile full-path="b"/>`), `"b" is missing`},
		{"a.doc", nil, "save it as .docx or PDF"},
		{"a.xlsx", nil, "save it as CSV"},
		{"a.zip", nil, "unsupported type .zip (text, Markdown"},
	} {
		doc, err := Parse(t.Context(), c.name, c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(doc.Blocks) > 0 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Archives whose bytes were changed at random cause no panic, and no more memory than the bounds allow.
func TestDamagedArchives(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sound := map[string][]byte{
		"a.docx": makeDOCX(docxTable([][]string{{"a", "b", "c"}, {"1", "2", "3"}}, true)+inList(1, 1, "x"), nil),
		"a.odt":  makeODT(odtTable([][]string{{"a", "b", "c"}, {"1", "2", "3"}}), nil),
		"a.epub": makeEPUB("<p>one</p>", "<p>two</p>"),
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
	bomb := makeZip("word/document.xml", "<d>"+strings.Repeat("<p><r><t>x</t></r></p>", (entryLimit-9)/22))
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
	_, err := Parse(t.Context(), "a.docx", bomb)
	close(stop)
	if top := <-peak; top > before.HeapAlloc+512<<20 {
		t.Errorf("%d MB of memory for a file of %d kB (%v)", (top-before.HeapAlloc)>>20, len(bomb)>>10, err)
	}
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
	data := makeDOCX("<w:p>"+run("", "45 m")+run(`<w:vertAlign w:val="superscript"/>`, "2")+run("", " for 298")+run(`<w:position w:val="7"/>`, "1")+run(`<w:position w:val="-4"/>`, "3")+run("", " on the 3")+run(`<w:vertAlign w:val="superscript"/>`, "rd")+"</w:p>", nil)
	if doc, err := Parse(t.Context(), "a.docx", data); err != nil || show(doc) != "title A\np 45 m² for 298¹3 on the 3rd" {
		t.Errorf("%s, %v", show(doc), err)
	}
}

func FuzzDOCX(f *testing.F) {
	fuzzArchive(f, "a.docx", func(inner string) []byte {
		return makeDOCX(inner, map[string]string{"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote w:id="2">` + para("", "note") + `</w:footnote></w:footnotes>`})
	}, []string{"w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", "w:pPr", `w:pStyle w:val="berschrift1"`, `w:pStyle w:val="Mine"`, "w:numPr", `w:ilvl w:val="1"`, `w:numId w:val="1"`, `w:numId w:val="2"`,
		"w:tab", "w:br", "w:vMerge", `w:vMerge w:val="restart"`, `w:gridSpan w:val="9999"`, "w:tblHeader", "w:del", "mc:Fallback", "w:vanish", "w:instrText", `w:fldSimple w:instr="PAGE"`, `w:footnoteReference w:id="2"`, `w:outlineLvl w:val="2"`, "w:txbxContent", `w:footnote w:id="3"`},
		para("", "text")+inList(1, 0, "item"), docxTable([][]string{{"a", "b"}, {"1", "2"}}, true), "<w:p><w:p>", inStyle("Mine", "a\tb"))
}

func FuzzODT(f *testing.F) {
	fuzzArchive(f, "a.odt", func(inner string) []byte { return makeODT(inner, nil) },
		[]string{"text:p", "text:h", `text:h text:outline-level="3"`, "text:span", "text:s", `text:s text:c="99999"`, "text:tab", "text:line-break", "text:list", `text:list text:style-name="L1"`, `text:list text:style-name="L2"`, "text:list-item",
			"table:table", "table:table-row", "table:table-header-rows", "table:table-cell", `table:table-cell table:number-rows-spanned="3"`, `table:table-cell table:number-columns-repeated="9999"`, "table:covered-table-cell",
			"text:note", "text:note-citation", "text:tracked-changes", "text:page-number", `text:p text:style-name="P1"`, `text:list-style style:name="L9"`, `text:list-level-style-number text:level="1" style:num-format="i"`},
		"<text:p>a<text:s/>b</text:p>", odtTable([][]string{{"a", "b"}, {"1", "2"}}), `<text:list text:style-name="L1"><text:list-item><text:p>x</text:p></text:list-item></text:list>`, `<text:h>x</text:h>`)
}

func FuzzEPUB(f *testing.F) {
	fuzzArchive(f, "a.epub", func(inner string) []byte { return makeEPUB(inner) },
		[]string{"h1", "h2", "p", "table", "tr", "td", `td rowspan="3" colspan="9999"`, "th", "ul", "ol", "li", "pre", "div", "br", "form", "footer", "aside", "caption", "dl", "dt", "dd", "article", "a"},
		"<h1>a</h1><p>b</p>", "<table><tr><td>x</td></tr></table>", "<title/><p/>")
}

// A table within a cell does not end the cells of the outer table that reach down.
func TestODTNestedTable(t *testing.T) {
	body := `<table:table><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Tue</text:p></table:table-cell><table:table-cell><table:table><table:table-row><table:table-cell><text:p>R1</text:p></table:table-cell></table:table-row></table:table></table:table-cell><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>` +
		`<table:table-row><table:covered-table-cell/><table:table-cell><text:p>R2</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`
	doc, err := Parse(t.Context(), "a.odt", makeODT(body, nil))
	want := "title A\nr Tue | R1 | a\nr Tue | R2 | b"
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}
