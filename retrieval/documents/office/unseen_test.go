package office_test

import (
	"testing"

	"tandem/retrieval/documents"
	"tandem/retrieval/documents/office/officetest"
	"tandem/retrieval/internal/blocks/blockstest"
)

// What a document does not show is not its text: what is deleted, with its marks, comments, prompts of forms, how words are
// pronounced, text in a hidden style. What it shows once on each page stands once.
func TestUnseen(t *testing.T) {
	run := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
	word := officetest.DOCX(`<w:p><w:commentRangeStart w:id="0"/>`+run("The rent is ")+`<w:del w:id="1" w:author="Ada" w:date="2026-05-03T10:00:00Z"><w:r><w:delText>900</w:delText></w:r></w:del><w:ins w:id="2"><w:r><w:t>950</w:t></w:r></w:ins>`+run(" €.")+`<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`+
		`<w:p><w:pPr><w:rPr><w:del w:id="3" w:author="Ada"/></w:rPr></w:pPr><w:del w:id="4"><w:r><w:delText>A paragraph that is gone.</w:delText></w:r></w:del></w:p>`+
		`<w:sdt><w:sdtPr><w:alias w:val="Name"/><w:showingPlcHdr/><w:text/></w:sdtPr><w:sdtContent><w:p>`+run("Click or tap here to enter text.")+`</w:p></w:sdtContent></w:sdt>`+
		`<w:p>`+run("Tenant: ")+`<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>`+run("Bo Lund")+`</w:sdtContent></w:sdt></w:p>`+
		`<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby></w:r>`+run(" is far.")+`</w:p>`+
		`<w:p>`+run("Next to it.")+`<w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p>`+run("In an old box.")+`</w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>`, map[string]string{
		"word/comments.xml":  `<w:comments xmlns:w="w"><w:comment w:id="0" w:author="Ada">` + officetest.Para("", "Is that right?") + `</w:comment></w:comments>`,
		"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>` + run(" Since May.") + `</w:p></w:footnote></w:footnotes>`,
		"word/header1.xml":   `<w:hdr xmlns:w="w">` + officetest.Para("", "Lund Homes") + `</w:hdr>`,
		"word/header2.xml":   `<w:hdr xmlns:w="w">` + officetest.Para("", "Lund Homes") + `</w:hdr>`,
	})
	text := officetest.ODT(`<text:tracked-changes><text:changed-region><text:deletion><office:change-info><dc:creator>Ada</dc:creator></office:change-info><text:p>900</text:p></text:deletion></text:changed-region></text:tracked-changes>`+
		`<text:p>The rent is <text:change text:change-id="1"/><text:change-start text:change-id="2"/>950<text:change-end text:change-id="2"/> €.<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>Since May.</text:p></text:note-body></text:note><office:annotation office:name="1"><dc:creator>Ada</dc:creator><text:p>Is that right?</text:p></office:annotation></text:p>`+
		`<text:p text:style-name="H1">A hidden paragraph.</text:p><text:p>Tenant: Bo<text:span text:style-name="H2"> hidden</text:span> Lund</text:p><text:p><text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby> is far. <text:placeholder text:placeholder-type="text">&lt;Name&gt;</text:placeholder></text:p><text:p>Next to it.<draw:frame><draw:text-box><text:p>In an old box.</text:p></draw:text-box></draw:frame></text:p>`, map[string]string{
		"styles.xml": `<o xmlns:text="t" xmlns:style="s"><style:style style:name="H1"><style:text-properties text:display="none"/></style:style><style:style style:name="H2" style:family="text"><style:text-properties text:display="none"/></style:style><style:master-page><style:header><text:p>Lund Homes</text:p></style:header><style:header-first><text:p>Lund Homes</text:p></style:header-first></style:master-page></o>`,
	})
	const want = `title A
l Lund Homes
p The rent is 950 €.
p Since May.
l Tenant: Bo Lund
p 東京 is far.
p In an old box.
p Next to it.`
	for name, data := range map[string][]byte{"a.docx": word, "a.odt": text} {
		doc, err := documents.Parse(t.Context(), name, data)
		if got := blockstest.Show(doc); got != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", name, got, err, want)
		}
	}
}
