package office

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// DOCX reads the text of a Word document: paragraphs with their lists' numbers, tables, text boxes, footnotes, and page headers
// and footers once. It leaves out what is deleted or hidden, comments, the prompts of forms and tables of contents.
func (r Reader) DOCX(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openArchive(ctx, data, "a .docx document")
	if err != nil {
		return blocks.Document{}, err
	}
	main := &relations{targets: map[string]string{}}
	if err := a.scanIfAny("_rels/.rels", main); err != nil {
		return blocks.Document{}, err
	}
	body := main.first("officeDocument")
	if !a.has(body) {
		body = "word/document.xml"
	}
	if !a.has(body) {
		return blocks.Document{}, errors.New("not a .docx document, despite its name (it has no word/document.xml)")
	}
	d := &docx{archive: a, flow: flow{ctx: ctx, lines: r.Lines}, lists: newLists(), styles: map[string]*style{}, notes: map[string][]paragraph{}}
	if err := d.read(body); err != nil {
		return blocks.Document{}, err
	}
	if d.flow.named, err = a.titleIn(main.first("core-properties")); err != nil {
		return blocks.Document{}, err
	}
	return d.flow.document()
}

// relations are the other parts that a part of an Office file names.
type relations struct {
	unhandled
	dir     string
	targets map[string]string   // by id
	kinds   map[string][]string // by the last word of the kind
}

func (r *relations) start(name string, attrs attributes) {
	if name != "Relationship" || attrs.get("TargetMode") == "External" {
		return
	}
	target := attrs.get("Target")
	if !strings.HasPrefix(target, "/") {
		target = path.Join(r.dir, target)
	}
	if r.kinds == nil {
		r.kinds = map[string][]string{}
	}
	target = strings.TrimPrefix(path.Clean(target), "/")
	r.targets[attrs.get("Id")] = target
	kind := path.Base(attrs.get("Type"))
	r.kinds[kind] = append(r.kinds[kind], target)
}

// first returns the first part of a kind, or "".
func (r *relations) first(kind string) string {
	if of := r.kinds[kind]; len(of) > 0 {
		return of[0]
	}
	return ""
}

// property finds the first element of a name.
type property struct {
	name   string
	value  excerpt
	inside bool
	found  bool
}

func (p *property) start(name string, _ attributes) { p.inside = name == p.name && !p.found }
func (p *property) end(string) {
	p.found, p.inside = p.found || p.inside, false
}
func (p *property) text(s string) {
	if p.inside {
		p.value.add(s)
	}
}

// maxExcerpt is the number of bytes that are kept of a title or a name.
const maxExcerpt = 4 << 10

// excerpt is the beginning of a text that comes in pieces.
type excerpt struct{ strings.Builder }

func (e *excerpt) add(s string) { e.WriteString(english.FirstBytes(s, maxExcerpt-e.Len())) }

// style is what a paragraph's style says.
type style struct {
	name, based string
	level       int // of a heading; 0 for others
	list, depth string
}

// docx reads the parts of a Word document.
type docx struct {
	archive *archive
	flow    flow
	lists   *lists
	styles  map[string]*style
	notes   map[string][]paragraph // the footnotes and endnotes

	open   []*docxParagraph
	skip   int    // depth below an element that is left out
	inText bool   // in the text of a run
	inside int    // depth within a paragraph's properties
	note   string // the note being read
	margin bool   // a page header or footer is being read
	prompt bool   // the field of a form that follows says what to enter
}

// docxParagraph is a paragraph that has not ended yet.
type docxParagraph struct {
	text        struckText
	style       string
	level       int
	list, depth string
	hidden      bool     // the current run
	raised      bool     // the current run is a superscript
	struck      bool     // the current run is struck out
	inRun       bool     // a run is open
	numbered    bool     // the text has the page's number
	notes       []string // the notes it refers to
}

// read reads the main part and those that it names.
func (d *docx) read(body string) error {
	rels, err := d.archive.relations(body)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		kind string
		h    xmlHandler
	}{{"styles", &docxStyles{of: d.styles}}, {"numbering", d.lists}, {"footnotes", d}, {"endnotes", d}} {
		if err := d.archive.scanIfAny(d.part(rels, part.kind), part.h); err != nil {
			return err
		}
	}
	d.flow.size = 0
	if err := d.archive.scan(body, d); err != nil {
		return err
	}
	text := d.flow
	d.margin = true
	for _, kind := range []string{"header", "footer"} {
		for _, name := range rels.kinds[kind] {
			d.flow = flow{ctx: text.ctx, lines: text.lines}
			if err := d.archive.scanIfAny(name, d); err != nil {
				return err
			}
			d.flow.flush()
			text.furniture(d.flow.doc)
		}
	}
	d.flow = text
	if d.flow.size > blocks.MaxText {
		return blocks.ErrMuchText
	}
	return nil
}

// part returns the name of a part of a kind: as the main part has it, or the usual one if that does not name an existing one.
func (d *docx) part(rels *relations, kind string) string {
	if name := rels.first(kind); d.archive.has(name) {
		return name
	}
	return path.Join(rels.dir, kind+".xml")
}

// leftOut are elements whose text is not part of the document. What is moved or deleted stays in the file; a Fallback says
// again what is said before it for older programs; rt is how a word is pronounced.
var leftOut = []string{"Fallback", "rt", "del", "moveFrom", "pPrChange", "rPrChange", "tblPrChange", "trPrChange", "tcPrChange", "sectPrChange"}

func (d *docx) start(name string, attrs attributes) {
	if d.skip > 0 || slices.Contains(leftOut, name) || name == "sdtContent" && d.prompt {
		d.skip++
		d.prompt = false
		return
	}
	switch name {
	case "sdtPr":
		d.prompt = false
	case "showingPlcHdr":
		d.prompt = isOn(attrs)
	case "footnote", "endnote":
		d.note = name + attrs.get("id")
	case "p":
		d.open = append(d.open, &docxParagraph{depth: "0"})
		return
	case "tbl":
		d.flow.beginTable()
	case "tr":
		d.flow.beginRow()
	case "tc":
		d.flow.beginCell(1, false)
	case "gridSpan":
		if cell := d.flow.cell(); cell != nil {
			cell.columns, _ = strconv.Atoi(attrs.get("val"))
		}
	case "vMerge":
		if cell := d.flow.cell(); cell != nil {
			cell.continues = attrs.get("val") != "restart"
		}
	case "tblHeader":
		if isOn(attrs) {
			d.flow.headRow()
		}
	}
	if n := len(d.open); n > 0 {
		d.startIn(d.open[n-1], name, attrs)
	}
}

// isOn reports whether a switch is on, as it is without a value.
func isOn(attrs attributes) bool {
	v := attrs.get("val")
	return v != "0" && v != "false" && v != "off"
}

// startIn handles the elements of a paragraph.
func (d *docx) startIn(p *docxParagraph, name string, attrs attributes) {
	if d.inside > 0 || name == "pPr" {
		d.inside++
		value := attrs.get("val")
		switch name {
		case "pStyle":
			p.style = value
		case "outlineLvl":
			setOutlineLevel(&p.level, value)
		case "ilvl":
			p.depth = value
		case "numId":
			p.list = value
		}
		return
	}
	switch name {
	case "r":
		p.inRun, p.hidden, p.raised, p.struck = true, false, false, false
	case "vanish":
		p.hidden = isOn(attrs)
	case "strike", "dstrike":
		p.struck = isOn(attrs)
	case "vertAlign":
		p.raised = attrs.get("val") == "superscript"
	case "position": // LibreOffice writes it instead
		p.raised = attrs.get("val") > "0"
	case "t":
		d.inText = true
	case "instrText":
		d.inText = false
	case "tab":
		if p.inRun {
			p.text.WriteByte('\t')
		}
	case "br", "cr":
		p.text.WriteByte('\n')
	case "noBreakHyphen":
		p.text.WriteByte('-')
	case "fldSimple":
		p.numbered = p.numbered || isPageField(attrs.get("instr"))
	case "footnoteReference", "endnoteReference":
		p.notes = append(p.notes, strings.TrimSuffix(name, "Reference")+attrs.get("id"))
	}
}

// setOutlineLevel sets the level of a heading to that of a paragraph or a style, whose levels count from 0.
func setOutlineLevel(level *int, value string) {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < maxLevels {
		*level = n + 1
	}
}

// isPageField reports whether a field is the number of the page, or that of all pages.
func isPageField(instruction string) bool {
	fields := strings.Fields(instruction)
	return len(fields) > 0 && (fields[0] == "PAGE" || fields[0] == "NUMPAGES")
}

func (d *docx) text(s string) {
	n := len(d.open)
	switch {
	case d.skip > 0 || n == 0:
	case d.inText && !d.open[n-1].hidden:
		p := d.open[n-1]
		if p.raised {
			s = textline.Raised(s)
		}
		p.text.strike(p.struck)
		p.text.WriteString(s)
	case !d.inText && isPageField(s):
		d.open[n-1].numbered = true
	}
}

func (d *docx) end(name string) {
	if d.skip > 0 {
		d.skip--
		return
	}
	if d.inside > 0 {
		d.inside--
		return
	}
	n := len(d.open)
	switch name {
	case "t":
		d.inText = false
	case "r":
		if n > 0 {
			d.open[n-1].inRun = false
		}
	case "tbl":
		d.flow.endTable()
	case "footnote", "endnote":
		d.note = ""
	case "p":
		if n > 0 {
			p := d.open[n-1]
			d.open = d.open[:n-1]
			d.paragraph(p)
		}
	}
}

// struckText is a text of which some is struck out.
type struckText struct {
	strings.Builder
	marked bool // the text ends within that
}

// strike begins or ends what is struck out, between marks as in Markdown.
func (t *struckText) strike(out bool) {
	if out != t.marked {
		t.WriteString("~~")
		t.marked = out
	}
}

// paragraph takes a paragraph that has ended.
func (d *docx) paragraph(p *docxParagraph) {
	p.text.strike(false)
	level, list, depth, name := p.level, p.list, p.depth, ""
	s := d.style(p.style)
	for n := 0; s != nil && n < 16; s, n = d.style(s.based), n+1 {
		if name == "" {
			name = strings.ToLower(s.name)
		}
		if level == 0 {
			level = s.level
		}
		if list == "" && s.list != "" {
			list, depth = s.list, s.depth
		}
	}
	text := p.text.String()
	switch {
	case strings.TrimSpace(text) == "", p.numbered && d.margin, strings.HasPrefix(name, "toc "):
		return
	case d.flow.size > blocks.MaxText:
		d.flow.size += len(text) // read reports it
		return
	}
	out := paragraph{text, level, d.lists.next(list, depth), name == "title"}
	if d.note != "" {
		d.notes[d.note] = append(d.notes[d.note], out)
		return
	}
	d.flow.add(out)
	for _, note := range p.notes {
		for _, of := range d.notes[note] {
			d.flow.add(of)
		}
		delete(d.notes, note)
	}
}

// usualStyle matches the names by which Word's own styles are known in files.
var usualStyle = regexp.MustCompile(`^(?i:(title)|(heading)([1-9])|(toc)[1-9]|(list(?:bullet|number))[2-5]?)$`)

// style returns the style of an id, nil if there is none. Programs that write no styles use the ids of Word's own.
func (d *docx) style(id string) *style {
	if s := d.styles[id]; s != nil {
		return s
	}
	switch m := usualStyle.FindStringSubmatch(id); {
	case m == nil:
		return nil
	case m[2] != "":
		return &style{level: int(m[3][0] - '0')}
	case m[4] != "":
		return &style{name: "toc 1"}
	case m[5] != "":
		return &style{list: unknownList, depth: "0"}
	}
	return &style{name: "title"}
}

// docxStyles reads the styles of a Word document.
type docxStyles struct {
	unhandled
	of      map[string]*style
	current *style
}

func (s *docxStyles) start(name string, attrs attributes) {
	value := attrs.get("val")
	if name == "style" {
		s.current = &style{depth: "0"}
		s.of[attrs.get("styleId")] = s.current
	}
	if s.current == nil {
		return
	}
	switch name {
	case "name":
		s.current.name = value
		if level, ok := strings.CutPrefix(strings.ToLower(value), "heading "); ok {
			s.current.level, _ = strconv.Atoi(level)
		}
	case "basedOn":
		s.current.based = value
	case "outlineLvl":
		setOutlineLevel(&s.current.level, value)
	case "numId":
		s.current.list = value
	case "ilvl":
		s.current.depth = value
	}
}

func (s *docxStyles) end(name string) {
	if name == "style" {
		s.current = nil
	}
}
