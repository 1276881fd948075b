package office_test

import (
	"strings"
	"testing"

	"tandem/retrieval/documents"
	"tandem/retrieval/documents/office/officetest"
	"tandem/retrieval/internal/blocks/blockstest"
)

// A spreadsheet as LibreOffice writes it: rows and cells that repeat, the empty rest of the sheet, hidden sheets, notes at cells.
func TestODS(t *testing.T) {
	cell := func(attrs, shown string) string {
		return `<table:table-cell ` + attrs + `><text:p>` + shown + `</text:p></table:table-cell>`
	}
	text := func(shown string) string {
		return cell(`office:value-type="string" calcext:value-type="string"`, shown)
	}
	rest := `<table:table-cell table:number-columns-repeated="16380"/></table:table-row>`
	data := officetest.ODS(`<table:table table:name="Tools" table:style-name="ta1"><table:shapes><draw:frame><text:p>a chart</text:p></draw:frame></table:shapes><table:table-column table:number-columns-repeated="4"/>
<table:table-row table:style-name="ro1">` + text("Tool") + text(`Rent <text:s/><text:span>paid</text:span>`) + text("Day") + text("Share") + text("Open") + text("In use") + rest +
		`<table:table-row table:number-rows-repeated="2">` + text("Drill<office:annotation><text:p>remark</text:p></office:annotation>") + cell(`office:value-type="currency" office:currency="EUR" office:value="129.5"`, "129,50 €") + cell(`office:value-type="date" office:date-value="2026-09-03"`, "03.09.26") + cell(`office:value-type="percentage" office:value="0.19"`, "19,00 %") + cell(`office:value-type="time" office:time-value="PT08H30M00S"`, "08:30") + cell(`office:value-type="boolean" office:boolean-value="true"`, "WAHR") + rest +
		`<table:table-row>` + text("Saw") + cell(`table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"`, "#DIV/0!") + cell(`office:value-type="date" office:date-value="2026-09-03T12:30:00"`, "03.09.26 12:30") + cell(`table:number-columns-repeated="2" office:value-type="float" office:value="0.30000000000000004"`, "0,3") + `<table:covered-table-cell><text:p>hidden below</text:p></table:covered-table-cell>` + rest +
		`<table:table-row table:number-rows-repeated="1048571"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
<table:table table:name="Lists" table:style-name="ta2"><table:table-row>` + text("secret") + `</table:table-row></table:table>
<table:table table:name="Keys" table:style-name="ta1"><table:table-row><table:table-cell office:value-type="string"><text:p>Shed</text:p><text:p>key</text:p><table:table><table:table-row><table:table-cell><text:p>inner</text:p></table:table-cell></table:table-row></table:table></table:table-cell>` + text("Ada") + `</table:table-row><table:table-row>` + text("Post code") + cell(`office:value-type="float" office:value="1067"`, "01067") + `</table:table-row></table:table><table:named-expressions/>`)
	want := `title A
# Tools
h Tool | Rent paid | Day | Share | Open | In use
r Drill | 129,50 € | 2026-09-03 | 19 % | 08:30 | yes
r Drill | 129,50 € | 2026-09-03 | 19 % | 08:30 | yes
r Saw | | 2026-09-03 12:30 | 0.3 | 0.3 |
# Keys
h Shed key inner | Ada
r Post code | 01067`
	doc, err := documents.Parse(t.Context(), "a.ods", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// slideTable is a table of a slide, as PowerPoint writes one.
const slideTable = `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Table"/></p:nvGraphicFramePr><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr firstRow="1" bandRow="1"/><a:tblGrid><a:gridCol w="1"/></a:tblGrid>` +
	`<a:tr h="1"><a:tc><a:txBody><a:p><a:r><a:t>Month</a:t></a:r></a:p></a:txBody><a:tcPr/></a:tc><a:tc><a:txBody><a:p><a:r><a:t>Visitors</a:t></a:r></a:p></a:txBody></a:tc></a:tr>` +
	`<a:tr h="1"><a:tc rowSpan="2"><a:txBody><a:p><a:r><a:t>May</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>812</a:t></a:r></a:p></a:txBody></a:tc></a:tr>` +
	`<a:tr h="1"><a:tc vMerge="1"><a:txBody><a:p><a:endParaRPr/></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>640</a:t></a:r></a:p></a:txBody></a:tc></a:tr>` +
	`<a:tr h="1"><a:tc gridSpan="2"><a:txBody><a:p><a:r><a:t>closed in June</a:t></a:r></a:p></a:txBody></a:tc><a:tc hMerge="1"><a:txBody><a:p/></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`

func TestPPTX(t *testing.T) {
	para := func(properties, text string) string {
		return `<a:pPr ` + properties + `</a:pPr><a:r><a:rPr lang="de-DE"/><a:t>` + text + `</a:t></a:r>`
	}
	data := officetest.PPTX(map[string]string{
		"docProps/core.xml": `<c xmlns:dc="dc"><dc:title>PowerPoint-Präsentation</dc:title></c>`,
		"ppt/notesSlides/notesSlide2.xml": `<p:notes xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>` + officetest.Shape("sldImg") + officetest.Shape("body", "Say that Ada repaired the wheel.") +
			officetest.Shape("sldNum", `<a:fld type="slidenum"><a:t>2</a:t></a:fld>`) + `</p:spTree></p:cSld></p:notes>`,
		"ppt/diagrams/data3.xml": `<dgm:dataModel xmlns:dgm="dgm" xmlns:a="a"><dgm:ptLst><dgm:pt modelId="1" type="doc"><dgm:prSet/><dgm:t><a:bodyPr/><a:p><a:endParaRPr/></a:p></dgm:t></dgm:pt><dgm:pt modelId="2"><dgm:t><a:bodyPr/><a:lstStyle/><a:p><a:r><a:t>Grain</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>Flour</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`,
	},
		officetest.Shape("ctrTitle", "The mill in", "2026")+officetest.Shape("subTitle", "Yearly meeting, 3 May")+officetest.Shape("ftr", "Mill society")+officetest.Shape("dt", `<a:fld type="datetime1"><a:t>29.11.2026</a:t></a:fld>`),
		officetest.Shape("", "The wheel turns again.", para(`lvl="1">`, "since 4 April"), para(`><a:buNone/>`, "No bullet here."), para(`><a:buFont typeface="+mj-lt"/><a:buAutoNum type="arabicPeriod"/>`, "Oil it."), para(`><a:buAutoNum type="arabicPeriod"/>`, "Look at it."),
			`<a:r><a:t>It cost </a:t></a:r><a:r><a:rPr strike="sngStrike"/><a:t>900</a:t></a:r><a:r><a:t> 950 € for 45 m</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>2</a:t></a:r><a:br/><a:r><a:t>in all.</a:t></a:r>`)+
			officetest.Shape("title", `<a:r><a:t>The </a:t></a:r><a:r><a:t>wheel</a:t></a:r>`)+
			`<p:grpSp><p:nvGrpSpPr/>`+officetest.Shape("-", "A box in a group.")+`</p:grpSp><mc:AlternateContent><mc:Choice>`+officetest.Shape("-", "Choice.")+`</mc:Choice><mc:Fallback>`+officetest.Shape("-", "Choice.")+`</mc:Fallback></mc:AlternateContent>`+officetest.Shape("ftr", "Mill society")+officetest.Shape("sldNum", `<a:fld id="{1}" type="slidenum"><a:rPr/><a:t>2</a:t></a:fld>`),
		slideTable,
		`<p:sld xmlns:p="p" xmlns:a="a" show="0"><p:cSld><p:spTree>`+officetest.Shape("title", "Hidden")+`</p:spTree></p:cSld></p:sld>`,
		officetest.Shape("title"),
		officetest.Shape("-", "Hidden.")+strings.Replace(officetest.Shape("-", "Unseen."), "<p:cNvPr ", `<p:cNvPr hidden="1" `, 1),
	)
	want := `title The mill in 2026
l Mill society
p Yearly meeting, 3 May
# The wheel
l - The wheel turns again.
l - since 4 April
p No bullet here.
l 1. Oil it.
l 2. Look at it.
l - It cost ~~900~~ 950 € for 45 m² in all.
p A box in a group.
p Choice.
p Say that Ada repaired the wheel.
# Slide 3
h Month | Visitors
r May | 812
r May | 640
r closed in June |
l - Grain
l - Flour
# Slide 6
p Hidden.`
	doc, err := documents.Parse(t.Context(), "a.pptx", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// A first slide that has only a title is the cover. A later one keeps it as a heading, and what is too long for one is text.
func TestSlidesWithOnlyTitles(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	data := officetest.PPTX(nil, officetest.Shape("title", "The roof"), officetest.Shape("title", "Costs"), officetest.Shape("title", long))
	want := "title The roof\n# Costs\n# Slide 3\np " + long
	doc, err := documents.Parse(t.Context(), "a.pptx", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func TestODP(t *testing.T) {
	frame := func(class, text string) string {
		return `<draw:frame presentation:style-name="pr1" presentation:class="` + class + `" presentation:user-transformed="true"><draw:text-box>` + text + `</draw:text-box></draw:frame>`
	}
	list := func(items ...string) (out string) {
		for _, item := range items {
			out += `<text:list text:style-name="L1"><text:list-item><text:p>` + item + `</text:p></text:list-item></text:list>`
		}
		return out
	}
	data := officetest.ODP(`<presentation:footer-decl presentation:name="ftr1">Mill society</presentation:footer-decl><presentation:date-time-decl presentation:name="dtd1" presentation:source="fixed">3 May 2026</presentation:date-time-decl>
<draw:page draw:name="page1" draw:master-page-name="Default">` + frame("title", "<text:p>The mill in<text:line-break/>2026</text:p>") + frame("subtitle", "<text:p>Yearly meeting</text:p>") + `<presentation:notes><draw:page-thumbnail/><draw:frame presentation:class="notes" presentation:placeholder="true"><draw:text-box><text:p>Click to add notes</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>
<draw:page draw:name="page2">` + frame("outline", list("The wheel turns.", "It is oiled.")) + frame("title", "<text:p>The <text:span>wheel</text:span></text:p>") + `<draw:g><draw:custom-shape><text:p>A box.</text:p><draw:enhanced-geometry/></draw:custom-shape></draw:g><draw:frame><draw:image/><svg:title>Photo</svg:title><svg:desc>of a wheel</svg:desc></draw:frame><presentation:notes><draw:page-thumbnail presentation:class="page"/>` + frame("notes", "<text:p>Say who oiled it: Ada.</text:p>") + `</presentation:notes></draw:page>
<draw:page draw:name="page3" draw:style-name="dp2">` + frame("title", "<text:p>Hidden</text:p>") + `</draw:page>
<draw:page draw:name="page4"><draw:frame><table:table table:use-first-row-styles="true"><table:table-row><table:table-cell><text:p>Month</text:p></table:table-cell><table:table-cell><text:p>Visitors</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>May</text:p></table:table-cell><table:table-cell><text:p>812</text:p></table:table-cell></table:table-row></table:table><draw:image/></draw:frame></draw:page>`)
	want := `title The mill in 2026
l Mill society
l 3 May 2026
p Yearly meeting
# The wheel
l - The wheel turns.
l - It is oiled.
p A box.
l Say who oiled it: Ada.
# Slide 4
h Month | Visitors
r May | 812`
	doc, err := documents.Parse(t.Context(), "a.odp", data)
	if got := blockstest.Show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func FuzzODS(f *testing.F) {
	fuzzArchive(f, "a.ods", officetest.ODS,
		[]string{"table:table", `table:table table:style-name="ta2"`, "table:table-row", `table:table-row table:number-rows-repeated="99999"`, "table:table-cell", `table:table-cell table:number-columns-repeated="9999"`, "table:covered-table-cell",
			`table:table-cell office:value-type="float" office:value="0.5"`, `table:table-cell office:value-type="date" office:date-value="2026-09-03T12:30:00"`, `table:table-cell office:value-type="time" office:time-value="PT1H30M"`, "text:p", "text:s", "office:annotation", "draw:frame"},
		`<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>`, `<table:table-row><table:table-cell/></table:table-row>`)
}

func FuzzPPTX(f *testing.F) {
	fuzzArchive(f, "a.pptx", func(inner string) []byte {
		return officetest.PPTX(map[string]string{"ppt/notesSlides/notesSlide1.xml": `<p:notes xmlns:p="p" xmlns:a="a">` + officetest.Shape("body", "note") + `</p:notes>`}, inner)
	}, []string{"p:sp", `p:ph type="title"`, `p:ph type="ctrTitle"`, `p:ph type="ftr"`, "p:ph", "a:p", "a:r", "a:t", "a:br", `a:fld type="slidenum"`, `a:pPr lvl="9"`, "a:buNone", `a:buAutoNum type="romanLcParenBoth"`, `a:rPr strike="sngStrike" baseline="9"`,
		"a:tbl", `a:tblPr firstRow="1"`, "a:tr", "a:tc", `a:tc gridSpan="9999"`, `a:tc vMerge="1"`, `a:tc hMerge="1"`, "mc:Fallback", "p:graphicFrame", `p:sld show="0"`, `p:cNvPr hidden="1"`},
		officetest.Shape("title", "a")+officetest.Shape("", "b"), slideTable, `<a:p><a:p>`)
}

func FuzzODP(f *testing.F) {
	fuzzArchive(f, "a.odp", officetest.ODP,
		[]string{"draw:page", `draw:page draw:style-name="dp2"`, "draw:frame", `draw:frame presentation:class="title"`, `draw:frame presentation:class="subtitle"`, `draw:frame presentation:placeholder="true"`, "text:p", "text:h", "text:list", `text:list text:style-name="L1"`, "text:list-item", "text:line-break",
			"table:table", `table:table table:use-first-row-styles="true"`, "table:table-row", "table:table-cell", "presentation:notes", "presentation:footer-decl", "text:note"},
		`<draw:page><draw:frame presentation:class="title"><text:p>a</text:p></draw:frame></draw:page>`, `<draw:page><text:p>b</text:p></draw:page>`, `<draw:page><draw:page>`)
}
