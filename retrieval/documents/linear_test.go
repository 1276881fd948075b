package documents

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem/internal/cputime"
	"tandem/retrieval/documents/office/officetest"
	"tandem/retrieval/internal/blocks/blockstest"
)

// patience is far more than the processor time that a parser takes for any of the files here if it is linear in their size, and
// far less than if it is quadratic.
const patience = 15 * time.Second

// No file makes a parser work for hours: each of these would if some step looked at all of the file, or copied all of it,
// again and again.
func TestParsersAreLinear(t *testing.T) {
	blockstest.Large(t)
	chunks := strings.Repeat("a<!---->", 1<<20) // text that comes in many pieces
	mail := "From: Ada <a@b.example>\nSubject: x\nContent-Type: text/plain; format=flowed\n\n"
	for name, c := range map[string]struct {
		file string
		data func() []byte
	}{
		"a title in pieces, docx": {"a.docx", func() []byte {
			return officetest.DOCX(officetest.Para("", "x"), map[string]string{"docProps/core.xml": "<p><title>" + chunks + "</title></p>"})
		}},
		"a title in pieces, epub":   {"a.epub", func() []byte { return bookOf("<dc:title>" + chunks + "</dc:title>") }},
		"an author in pieces, epub": {"a.epub", func() []byte { return bookOf("<dc:creator>" + chunks + "</dc:creator>") }},
		"chapters and locks, epub":  {"a.epub", lockedBook},
		"a chapter repeated, epub": {"a.epub", func() []byte {
			return bookOf(`<item id="a" href="a.html"/>` + strings.Repeat(`<itemref idref="a"/>`, 1<<18))
		}},
		"long marks of lists, docx": {"a.docx", longMarks},
		"a slide repeated, pptx":    {"a.pptx", slideRepeated},
		"a long title, pptx": {"a.pptx", func() []byte {
			return officetest.PPTX(nil, `<p:sp><p:ph type="title"/>`+strings.Repeat("<a:p><a:t>a</a:t></a:p>", 1<<17)+"</p:sp>")
		}},
		"a row repeated, ods": {"a.ods", func() []byte {
			return officetest.ODS("<table:table>" + strings.Repeat(`<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="1024"><text:p>a</text:p></table:table-cell></table:table-row>`, 1<<13) + "</table:table>")
		}},
		"edges of slides, odp": {"a.odp", func() []byte {
			return officetest.ODP(strings.Repeat("<presentation:footer-decl>"+strings.Repeat("a", 999)+"</presentation:footer-decl>", 1<<13) + "<draw:page><text:p>x</text:p></draw:page>")
		}},
		"notes in notes, md": {"a.md", func() []byte {
			var b strings.Builder
			for n := range 1900 {
				b.WriteString(strings.Repeat("    ", n) + "!!! note\n")
			}
			return []byte(b.String())
		}},
		"other tags, md": {"a.md", func() []byte {
			var b strings.Builder
			for n := range 1 << 17 {
				fmt.Fprintf(&b, "{{< code%d >}}\n", n)
			}
			return []byte(b.String())
		}},
		"open tags, md":      {"a.md", func() []byte { return []byte(strings.Repeat("{{< `a` ", 1<<16)) }},
		"code, md":           {"a.md", func() []byte { return []byte(strings.Repeat("`a` ", 1<<19) + "<!-- b -->") }},
		"tags, md":           {"a.md", func() []byte { return []byte(strings.Repeat("{{< code >}}\n", 1<<15)) }},
		"short tables, csv":  {"a.csv", func() []byte { return []byte(strings.Repeat("a,b,c\n,,\n", 1<<16)) }},
		"flowed lines, mail": {"a.eml", func() []byte { return []byte(mail + strings.Repeat("abc \n", 1<<19)) }},
		"struck out, html": {"a.html", func() []byte {
			return []byte(strings.Repeat("<del>", 400) + "x" + strings.Repeat("<b>word</b> ", 1<<18))
		}},
		"terms, html": {"a.html", func() []byte { return []byte("<dl>" + strings.Repeat("<dt>a", 1<<18)) }},
		"descriptions, html": {"a.html", func() []byte {
			return []byte("<dl><dt>" + strings.Repeat("a", 1<<19) + strings.Repeat("<dd>a<!-- -->", 1<<16))
		}},
		"folded text, html": {"a.html", func() []byte { return []byte(strings.Repeat("<details><summary>a</summary></details> ", 1<<15)) }},
		"paragraphs, rtf":   {"a.rtf", func() []byte { return []byte(`{\rtf1 ` + strings.Repeat(`a\par `, 1<<16)) }},
		"calendars, mail": {"a.eml", func() []byte {
			return []byte("Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nContent-Type: text/calendar\n\n"+invitation, 900))
		}},
		"rules with bars":          {"a.txt", func() []byte { return []byte(strings.Repeat("--|--|--\n", 1<<16)) }},
		"rules with gaps":          {"a.txt", func() []byte { return []byte(strings.Repeat("--  --\n", 1<<16)) }},
		"edges of boxes":           {"a.txt", func() []byte { return []byte(strings.Repeat("+--+\n", 1<<16)) }},
		"edges of boxes, Markdown": {"a.md", func() []byte { return []byte(strings.Repeat("+--+\n", 1<<16)) }},
		"gaps, Markdown":           {"a.md", func() []byte { return []byte(strings.Repeat("--  --\n", 1<<16)) }},
		"a tall cell in a box": {"a.txt", func() []byte {
			return []byte("+-+-+\n" + strings.Repeat("|ab|c|\n", 1<<19) + "+-+-+\n|a|b|\n|c|d|\n+-+-+\n")
		}},
		"a tall cell in a column": {"a.txt", func() []byte { return []byte("Ab    cd\n" + strings.Repeat("      ef\n", 3<<17) + "Gh    ij\n") }},
		"justified lines": {"a.txt", func() []byte {
			return []byte(strings.Repeat("one two three  four five six seven eight nine ten eleven twelve\n", 1<<15))
		}},
		"a long form of numbers, xlsx": {"a.xlsx", longForm},
		"parameters of a line, ics": {"a.ics", func() []byte {
			return []byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\nATTENDEE" + strings.Repeat(";A", 1<<19) + ":\nEND:VEVENT\n")
		}},
		"deeper and deeper":     {"a.txt", deeper},
		"a long definition":     {"a.md", func() []byte { return []byte("Term\n: one\n" + strings.Repeat("  two\n", 3<<17)) }},
		"one cue, subtitles":    {"a.srt", func() []byte { return []byte("00:01,000 --> 00:02,000\n" + strings.Repeat("<i>word</i> ", 1<<18)) }},
		"cues, subtitles":       {"a.vtt", func() []byte { return []byte(strings.Repeat("00:01.000 --> 00:02.000\nword\n", 1<<17)) }},
		"marks, Org":            {"a.org", func() []byte { return []byte(strings.Repeat("=a ~b /c +d ", 1<<18)) }},
		"titles, Org":           {"a.org", func() []byte { return []byte(strings.Repeat("#+TITLE: a\n", 1<<18)) }},
		"drawers, Org":          {"a.org", func() []byte { return []byte(strings.Repeat(":A:\n", 1<<18)) }},
		"marks, RST":            {"a.rst", func() []byte { return []byte(strings.Repeat(":a:`b` ``c ", 1<<18)) }},
		"notes, RST":            {"a.rst", func() []byte { return []byte(strings.Repeat(".. note::\n", 1<<16) + strings.Repeat("  a\n", 1<<17)) }},
		"notes in notes, RST":   {"a.rst", notesInNotes},
		"comments, RST":         {"a.rst", func() []byte { return []byte(strings.Repeat("..\n\n\n\n", 1<<17)) }},
		"headings, RST":         {"a.rst", func() []byte { return []byte(strings.Repeat("a\n==\n", 1<<16)) }},
		"columns, RST":          {"a.rst", func() []byte { return []byte(strings.Repeat("= ", 1<<17) + "=\n" + strings.Repeat("a\n", 1<<18)) }},
		"rows, RST":             {"a.rst", func() []byte { return []byte(strings.Repeat("= ", 31) + "=\n" + strings.Repeat("a\n", 1<<18)) }},
		"a list of a list, RST": {"a.rst", func() []byte { return []byte(".. list-table:: a\n\n   * - a\n" + strings.Repeat("       a\n", 1<<18)) }},
		"rows of a column, RST": {"a.rst", func() []byte { return []byte("== ==\na b\n" + strings.Repeat("   c\n", 1<<18)) }},
		"lists, JSON":           {"a.json", func() []byte { return []byte("[" + strings.Repeat("[[1],", 1<<5) + strings.Repeat("[1],", 1<<16)) }},
		"a long name, JSON": {"a.json", func() []byte {
			return []byte(`{"` + strings.Repeat("k", 1<<19) + `":[` + strings.Repeat("[[1]],", 1<<14) + "1]}")
		}},
		"objects, JSON":  {"a.json", func() []byte { return []byte("[" + strings.Repeat(`{"a":{"b":[{"c":1}]}},`, 1<<15) + "1]") }},
		"lists, YAML":    {"a.yaml", func() []byte { return []byte(strings.Repeat("- - a\n", 1<<15)) }},
		"comments, YAML": {"a.yaml", func() []byte { return []byte("a: b\n" + strings.Repeat("# c\n", 1<<16)) }},
		"others' values, YAML": {"a.yaml", func() []byte {
			return []byte("- &a " + strings.Repeat("word ", 1<<13) + "\n" + strings.Repeat("- *a\n", 1<<15))
		}},
		"open brackets, YAML": {"a.yaml", func() []byte { return []byte(strings.Repeat("[", 9000) + strings.Repeat("a: ", 1<<16)) }},
		"comments, TOML": {"a.toml", func() []byte {
			return []byte(strings.Repeat("# c\n\n", 1<<19) + strings.Repeat("# c\n", 1<<19) + "a = 1\n")
		}},
		"tables, TOML":       {"a.toml", func() []byte { return []byte(strings.Repeat("[a] # word\n", 1<<18)) }},
		"quotes, TOML":       {"a.toml", func() []byte { return []byte("a = " + strings.Repeat(`"`, 1<<21)) }},
		"further lines, INI": {"a.ini", func() []byte { return []byte("a=b\n" + strings.Repeat(" c\n", 1<<19-2)) }},
		"comments, INI":      {"a.ini", func() []byte { return []byte("a=b\n" + strings.Repeat("# c\n", 1<<19-2)) }},
		"texts in pieces, XML": {"a.xml", func() []byte {
			return []byte(strings.Repeat("<a>", 60) + strings.Repeat("b<!---->", 1<<17) + strings.Repeat("</a>", 60))
		}},
		"pieces of HTML, XML": {"a.xml", func() []byte {
			return []byte("<a>" + strings.Repeat("<b>&lt;i>c&lt;/i></b>", 1<<16) + strings.Repeat("&lt;p>d&lt;/p>", 1<<16) + "</a>")
		}},
		"open commands, TeX": {"a.tex", func() []byte { return []byte(strings.Repeat(`\section{`, 1<<18)) }},
		"footnotes, TeX": {"a.tex", func() []byte {
			return []byte(strings.Repeat(`\footnote{`, 200) + strings.Repeat("a}", 200) + strings.Repeat("$a ", 1<<18))
		}},
		"texts of a name, TeX":  {"a.tex", func() []byte { return []byte(`\name` + strings.Repeat("{a}", 1<<19) + `\begin{document}a`) }},
		"words, TeX":            {"a.tex", func() []byte { return []byte(strings.Repeat("a-{b} ", 1<<19)) }},
		"a long cell, AsciiDoc": {"a.adoc", func() []byte { return []byte("|===\n|a\n" + strings.Repeat("b\n", 1<<19-3)) }},
		"names, AsciiDoc": {"a.adoc", func() []byte {
			return []byte(":a: " + strings.Repeat("b", 1<<12) + "\n\n" + strings.Repeat("{a}", 1<<19))
		}},
		"headings, AsciiDoc": {"a.adoc", func() []byte { return []byte(strings.Repeat("= a\n", 1<<16)) }},
		"emphasis, Markdown": {"a.md", func() []byte {
			return []byte(strings.Repeat("*a _b ==c **d", 1<<17) + strings.Repeat("* _ == ** a*", 1<<17))
		}},
		"comments, Markdown":     {"a.md", func() []byte { return []byte(strings.Repeat("%%a\n", 1<<17) + strings.Repeat(" %%", 1<<17) + "b") }},
		"meanings below an item": {"a.md", func() []byte { return []byte("- item\n" + strings.Repeat(": a\n", 1<<17)) }},
		"a long key before a list": {"a.md", func() []byte {
			return []byte("---\n" + strings.Repeat("k", 1<<19) + ":\n" + strings.Repeat("- a\n", 1<<16) + "---\nText.\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.data()
			ctx, stop := cputime.WithLimit(t.Context(), patience)
			defer stop()
			if Parse(ctx, c.file, data); ctx.Err() != nil {
				t.Errorf("not read within %v of the processor", patience)
			}
		})
	}
}

// bookOf returns a book with a list of contents.
func bookOf(contents string) []byte {
	return officetest.Zip("META-INF/container.xml", `<container><rootfile full-path="book.opf"/></container>`, "a.html", "<p></p>", "book.opf", `<package xmlns:dc="dc">`+contents+`</package>`)
}

// lockedBook returns a book with many chapters and a long list of what is encrypted, which is none of them.
func lockedBook() []byte {
	var items strings.Builder
	for i := range 1 << 17 {
		fmt.Fprintf(&items, `<item id="%d" href="%d.html"/><itemref idref="%d"/>`, i, i, i)
	}
	locked := "<encryption>" + strings.Repeat(`<CipherReference URI="font.otf"/>`, 1<<19) + "</encryption>"
	return officetest.Zip("META-INF/container.xml", `<container><rootfile full-path="book.opf"/></container>`, "book.opf", `<package>`+items.String()+`</package>`, "META-INF/encryption.xml", locked)
}

// slideRepeated returns a presentation that names its only slide again and again.
func slideRepeated() []byte {
	return officetest.Zip("ppt/presentation.xml", `<p xmlns:r="r">`+strings.Repeat(`<sldId r:id="a"/>`, 1<<19)+"</p>", "ppt/_rels/presentation.xml.rels", `<r><Relationship Id="a" Target="s.xml"/></r>`,
		"ppt/s.xml", "<sld>"+strings.Repeat("<p><t>word</t></p>", 1<<12)+"</sld>")
}

// longMarks returns a document with a list whose items have a mark of a million characters.
func longMarks() []byte {
	numbering := `<numbering><abstractNum abstractNumId="7"><lvl ilvl="0"><numFmt val="decimal"/><lvlText val="` + strings.Repeat("%1.", 1<<18) + `"/></lvl></abstractNum><num numId="1"><abstractNumId val="7"/></num></numbering>`
	return officetest.Zip("word/document.xml", "<body>"+strings.Repeat(officetest.InList(1, 0, "item"), 1<<13)+"</body>", "word/num.xml", numbering,
		"word/_rels/document.xml.rels", `<Relationships><Relationship Id="n" Type="http://x/numbering" Target="num.xml"/></Relationships>`)
}

// notesInNotes returns notes that each stand in the one above.
func notesInNotes() []byte {
	var b strings.Builder
	for i := range 1 << 10 {
		b.WriteString(strings.Repeat(" ", i) + ".. note::\n\n")
	}
	return []byte(b.String() + strings.Repeat(" ", 1<<10) + "Deep.\n")
}

// longForm returns a workbook with many numbers in a long form.
func longForm() []byte {
	return officetest.Zip("xl/workbook.xml", `<workbook><sheet name="x" id="r"/></workbook>`, "xl/_rels/workbook.xml.rels", `<R><Relationship Id="r" Target="s.xml"/></R>`,
		"xl/styles.xml", `<s><numFmt numFmtId="200" formatCode="`+strings.Repeat("a", 1<<20)+`"/><cellXfs><xf numFmtId="200"/></cellXfs></s>`,
		"xl/s.xml", strings.Repeat(`<row><c s="0"><v>1</v></c></row>`, 1<<15))
}

// deeper returns lines that are each indented more than the one above.
func deeper() []byte {
	var b strings.Builder
	b.WriteString("A few words here.\n")
	for i := range 1 << 11 {
		b.WriteString(strings.Repeat("\t", i) + "word\n")
	}
	return []byte(b.String())
}

// A parser whose context has ended stops by itself, so that none that Parse has abandoned works on.
func TestParsersStop(t *testing.T) {
	text := []byte("<p>One.</p>\n\nTwo.\n\n- three\n")
	packed := map[string][]byte{
		".docx": officetest.DOCX(officetest.Para("", "One\nTwo"), nil), ".odt": officetest.ODT("<text:p>One<text:line-break/>Two</text:p>", nil), ".epub": officetest.EPUB("<p>One.</p>"),
		".eml": []byte("Subject: x\n\nOne.\n\nTwo.\n"), ".mbox": []byte("From a@x Mon May  6 10:00:00 2024\nSubject: x\n\nOne.\n"), ".csv": []byte("a,b\nc,d\n"), ".pdf": []byte(smallPDF),
		".xlsx": officetest.XLSX("<row><c><v>1</v></c></row>"), ".rtf": []byte(richText), ".ics": []byte(calendarText), ".vcf": []byte(contactsText),
		".json": []byte(jsonText), ".toml": []byte(tomlText), ".ini": []byte(iniText), ".xml": []byte(xmlSample), ".tex": []byte(texSample), ".mht": []byte(webArchive), ".yaml": []byte(yamlText), ".srt": []byte(srtText),
		".ods": officetest.ODS("<table:table><table:table-row><table:table-cell><text:p>One</text:p></table:table-cell></table:table-row></table:table>"), ".odp": officetest.ODP("<draw:page><text:p>One</text:p></draw:page>"), ".pptx": officetest.PPTX(nil, officetest.Shape("-", "One")),
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, p := range parsers {
		data := text
		if of := packed[p.extensions[0]]; of != nil {
			data = of
		}
		if doc, err := p.parse(ctx, data); len(doc.Blocks) > 0 || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d blocks, %v", p.extensions[0], len(doc.Blocks), err)
		}
		if doc, err := p.parse(t.Context(), data); len(doc.Blocks) == 0 || err != nil {
			t.Errorf("%s: %d blocks, %v", p.extensions[0], len(doc.Blocks), err)
		}
	}
	if doc := flatHTML(ctx, text); len(doc.Blocks) > 0 {
		t.Errorf("flat HTML: %d blocks", len(doc.Blocks))
	}
}

// Elements that nothing closes are not opened again in each paragraph: the tree of such a page would be a thousand
// times its size.
func TestOpenFormatting(t *testing.T) {
	var page strings.Builder
	page.WriteString("<p>")
	for i := range 100 {
		fmt.Fprintf(&page, "<b id=%d>", i)
	}
	page.WriteString(strings.Repeat("<p>x", 1<<12))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc, err := parseHTML(t.Context(), []byte(page.String()))
	runtime.ReadMemStats(&after)
	if err != nil || len(doc.Blocks) != 1<<12 {
		t.Errorf("%d blocks, %v", len(doc.Blocks), err)
	}
	if took := int(after.TotalAlloc - before.TotalAlloc); took > 1000*page.Len() {
		t.Errorf("%d kB for a page of %d kB", took>>10, page.Len()>>10)
	}
	want := "title A\np Two words.\np The old ~~price~~ one."
	if doc, err := Parse(t.Context(), "a.html", []byte("<p><b>Two</i> <i>words.<p>The old <s>price</s> <font hidden>x</font><u>one.")); show(doc) != want || err != nil {
		t.Errorf("%s (%v)", show(doc), err)
	}
}
