// Package officetest makes small DOCX, ODT, XLSX, ODS, PPTX, ODP and EPUB files for tests.
package officetest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Zip writes an archive. The entries are names and contents by turns.
func Zip(entries ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
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

// DOCX writes a Word document with a body and further parts, by name.
func DOCX(body string, parts map[string]string) []byte {
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
	return Zip(append(entries, "word/_rels/document.xml.rels", rels+`</Relationships>`)...)
}

// Para writes a Word paragraph with properties and text. A tab and a line end are elements.
func Para(properties, text string) string {
	text = escape(text)
	text = strings.NewReplacer("&#x9;", "</w:t><w:tab/><w:t>", "&#xA;", "</w:t><w:br/><w:t>").Replace(text)
	return "<w:p><w:pPr>" + properties + `</w:pPr><w:r><w:t xml:space="preserve">` + text + "</w:t></w:r></w:p>"
}

// InStyle writes a Word paragraph with a style.
func InStyle(name, text string) string { return Para(`<w:pStyle w:val="`+name+`"/>`, text) }

// InList writes a Word paragraph that is an item of a list.
func InList(list, level int, text string) string {
	return Para(fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, list), text)
}

// DOCXTable writes a Word table. With head, it marks the first row as the names of the columns.
func DOCXTable(rows [][]string, head bool) string {
	var b strings.Builder
	b.WriteString("<w:tbl>")
	for i, row := range rows {
		b.WriteString("<w:tr>")
		if head && i == 0 {
			b.WriteString("<w:trPr><w:tblHeader/></w:trPr>")
		}
		for _, cell := range row {
			b.WriteString("<w:tc><w:tcPr/>" + Para("", cell) + "</w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	return b.String() + "</w:tbl>"
}

// XLSX writes a workbook with the rows of each sheet. The shared texts are Tool, Shelf, Drill and a long one. The styles show
// numbers as they are, as a day, a share, a day with its time, a time, in five currencies, in a unit, in hours and in thousands.
func XLSX(sheets ...string) []byte {
	book, parts := "", ""
	var entries []string
	for i, rows := range sheets {
		name := []string{"Tools", fmt.Sprintf("Sheet %d", i+1)}[min(i, 1)]
		book += fmt.Sprintf(`<sheet name="%s" sheetId="%d" r:id="r%d"/>`, name, i+1, i)
		parts += fmt.Sprintf(`<Relationship Id="r%d" Type="http://x/worksheet" Target="worksheets/sheet%d.xml"/>`, i, i+1)
		entries = append(entries, fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1), `<worksheet><sheetData>`+rows+`</sheetData></worksheet>`)
	}
	return Zip(append(entries, "xl/workbook.xml", `<workbook xmlns:r="r"><sheets>`+book+`</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships>`+parts+`</Relationships>`,
		"xl/sharedStrings.xml", `<sst><si><t>Tool</t></si><si><t>Shelf</t></si><si><t>Drill</t></si><si><t>`+strings.Repeat("long ", 200)+`</t></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-809]d\ mmm\ yyyy\ hh:mm"/><numFmt numFmtId="165" formatCode="#,##0.00\ [$€-407];[Red]\-#,##0.00\ [$€-407]"/><numFmt numFmtId="166" formatCode="&quot;$&quot;#,##0_);(&quot;$&quot;#,##0)"/><numFmt numFmtId="44" formatCode="_-* #,##0.00\ &quot;€&quot;_-;\-* #,##0.00\ &quot;€&quot;_-"/><numFmt numFmtId="167" formatCode="[$CHF] #,##0.00"/><numFmt numFmtId="168" formatCode="£#,##0.00"/><numFmt numFmtId="169" formatCode="0.0&quot; kg&quot;"/><numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171" formatCode="#,##0.0,&quot; T€&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="44"/><xf numFmtId="167"/><xf numFmtId="168"/><xf numFmtId="169"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>`)...)
}

// ODT writes an OpenDocument text with a body and further parts.
func ODT(body string, parts map[string]string) []byte {
	entries := []string{"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:dc="dc" xmlns:draw="d"><office:automatic-styles><style:style style:name="P1" style:parent-style-name="Title"/><style:style style:name="T1"><style:text-properties style:text-line-through-style="solid"/></style:style><style:default-style><style:text-properties style:text-line-through-style="solid"/></style:default-style><style:style style:name="T2"><style:text-properties style:text-line-through-style="none"/></style:style><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:list-style><text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style></office:automatic-styles><office:body><office:text>` + body + `</office:text></office:body></office:document-content>`}
	for name, part := range parts {
		entries = append(entries, name, part)
	}
	return Zip(entries...)
}

// ODTTable writes an OpenDocument table whose first row names the columns.
func ODTTable(rows [][]string) string {
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

// EPUB writes a book with chapters in the order of reading.
func EPUB(chapters ...string) []byte {
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
	return Zip(append(entries, "OEBPS/book.opf", `<package xmlns:dc="dc"><metadata><dc:title>The Mill</dc:title><dc:creator>Ada Byron</dc:creator></metadata><manifest>`+items+`</manifest><spine>`+spine+`</spine></package>`)...)
}

// ODS writes an OpenDocument spreadsheet with tables. The sheets in the style ta2 are hidden.
func ODS(tables string) []byte {
	return Zip("mimetype", "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:draw="d" xmlns:calcext="c"><office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>`+tables+`</office:spreadsheet></office:body></office:document-content>`)
}

// PPTX writes a presentation whose slides have the given shapes, and further parts. The slide 1 has those named notesSlide1.xml and
// data1.xml, its notes and its diagram.
func PPTX(parts map[string]string, slides ...string) []byte {
	order, rels := "", ""
	var entries []string
	for name, part := range parts {
		entries = append(entries, name, part)
	}
	for i, shapes := range slides {
		n := i + 1
		order += fmt.Sprintf(`<p:sldId id="%d" r:id="rId%d"/>`, 255+n, n)
		rels += fmt.Sprintf(`<Relationship Id="rId%d" Type="http://x/slide" Target="slides/slide%d.xml"/>`, n, n)
		if !strings.HasPrefix(shapes, "<p:sld ") {
			shapes = `<p:sld xmlns:p="p" xmlns:a="a" xmlns:mc="mc"><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/></p:nvGrpSpPr>` + shapes + `</p:spTree></p:cSld></p:sld>`
		}
		entries = append(entries, fmt.Sprintf("ppt/slides/slide%d.xml", n), shapes,
			fmt.Sprintf("ppt/slides/_rels/slide%d.xml.rels", n), fmt.Sprintf(`<Relationships><Relationship Id="rId1" Type="http://x/notesSlide" Target="../notesSlides/notesSlide%d.xml"/><Relationship Id="rId2" Type="http://x/diagramData" Target="../diagrams/data%d.xml"/></Relationships>`, n, n))
	}
	return Zip(append(entries, "ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>`+order+`</p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships>`+rels+`</Relationships>`)...)
}

// Shape writes a shape of a slide with paragraphs. Its kind is that of a placeholder, or "-" for a box of its own.
func Shape(kind string, paragraphs ...string) string {
	holder := `<p:ph type="` + kind + `"/>`
	switch kind {
	case "-":
		holder = ""
	case "":
		holder = `<p:ph idx="1"/>`
	}
	out := `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Shape"/><p:cNvSpPr/><p:nvPr>` + holder + `</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/>`
	for _, text := range paragraphs {
		if strings.HasPrefix(text, "<") {
			out += "<a:p>" + text + "</a:p>"
			continue
		}
		out += `<a:p><a:r><a:rPr lang="en-GB" dirty="0"/><a:t>` + escape(text) + `</a:t></a:r><a:endParaRPr lang="en-GB"/></a:p>`
	}
	return out + `</p:txBody></p:sp>`
}

// ODP writes an OpenDocument presentation with pages. Those in the style dp2 are hidden.
func ODP(pages string) []byte {
	return Zip("mimetype", "application/vnd.oasis.opendocument.presentation",
		"content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:draw="d" xmlns:svg="v" xmlns:presentation="p"><office:automatic-styles><style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style><text:list-style style:name="L1"><text:list-level-style-bullet text:level="1" text:bullet-char="●"/></text:list-style></office:automatic-styles><office:body><office:presentation>`+pages+`</office:presentation></office:body></office:document-content>`)
}
