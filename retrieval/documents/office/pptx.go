package office

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/textline"
)

// PPTX reads the text of a PowerPoint presentation: of each slide its title as a heading, its paragraphs, tables and diagrams,
// and its notes. It leaves out hidden slides, charts and comments.
func (r Reader) PPTX(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openArchive(ctx, data, "a .pptx presentation")
	if err != nil {
		return blocks.Document{}, err
	}
	const main = "ppt/presentation.xml"
	if !a.has(main) {
		return blocks.Document{}, errors.New("not a .pptx presentation, despite its name (it has no ppt/presentation.xml)")
	}
	order := &slideOrder{}
	if err := a.scan(main, order); err != nil {
		return blocks.Document{}, err
	}
	parts, err := a.relations(main)
	if err != nil {
		return blocks.Document{}, err
	}
	p := &pptx{archive: a, deck: deck{flow: flow{ctx: ctx, lines: r.Lines}}}
	read := map[string]bool{} // a list may name a slide again and again
	for _, id := range order.ids {
		if name := parts.targets[id]; a.has(name) && !read[name] {
			read[name] = true
			if err := p.read(name); err != nil {
				return blocks.Document{}, err
			}
		}
	}
	named, err := a.titleIn("docProps/core.xml")
	if err != nil {
		return blocks.Document{}, err
	}
	return p.deck.document(named)
}

// relations returns the other parts that a part of an Office file names.
func (a *archive) relations(part string) (*relations, error) {
	rels := &relations{dir: path.Dir(part), targets: map[string]string{}}
	return rels, a.scanIfAny(path.Join(rels.dir, "_rels", path.Base(part)+".rels"), rels)
}

// slideOrder reads which slides a presentation has.
type slideOrder struct {
	unhandled
	ids []string
}

func (s *slideOrder) start(name string, attrs attributes) {
	if name != "sldId" {
		return
	}
	for _, a := range attrs { // besides the slide's own number, which has the same name without a prefix
		if a.Name.Local == "id" && a.Name.Space != "" {
			s.ids = append(s.ids, a.Value)
		}
	}
}

// pptx reads the parts of a PowerPoint presentation.
type pptx struct {
	archive *archive
	deck    deck

	flow   flow // of the current slide
	hidden bool // the slide is not shown
	cover  bool // the slide has the presentation's title
	notes  bool // its notes are being read

	skip   int // depth below an element that is left out
	shape  shape
	counts []int // the numbers of the current list, by level
	para   *slideParagraph
	inText bool
}

// shape is a place of a slide.
type shape struct {
	kind   string // what the slide's layout has there: "title", "body"
	listed bool   // its paragraphs are items of a list, unless they say otherwise
	hidden bool
}

// slideParagraph is a paragraph that has not ended yet.
type slideParagraph struct {
	text     struckText
	depth    int
	bullet   bool
	numbered string // how it is numbered, "" if it is not
	first    int    // the number of a list's first item
	inField  bool   // in one whose text is the slide's number or today's date
	raised   bool   // the current run is a superscript
	struck   bool   // the current run is struck out
}

// read reads a slide, with the diagrams and notes that belong to it.
func (p *pptx) read(name string) error {
	parts, err := p.archive.relations(name)
	if err != nil {
		return err
	}
	p.flow, p.hidden, p.cover, p.shape = p.deck.slide(p.flow), false, false, shape{}
	if err := p.archive.scan(name, p); err != nil {
		return err
	}
	if p.hidden {
		p.deck.shown++
		return nil
	}
	for _, diagram := range parts.kinds["diagramData"] {
		p.shape = shape{listed: true}
		if err := p.archive.scanIfAny(diagram, p); err != nil {
			return err
		}
	}
	p.notes = true
	if err := p.archive.scanIfAny(parts.first("notesSlide"), p); err != nil {
		return err
	}
	p.notes = false
	p.deck.add(&p.flow, p.cover)
	return nil
}

func (p *pptx) start(name string, attrs attributes) {
	if p.skip > 0 || name == "Fallback" {
		p.skip++
		return
	}
	switch name {
	case "sld":
		p.hidden = attrs.get("show") == "0" || attrs.get("show") == "false"
	case "sp", "graphicFrame", "pic", "cxnSp":
		p.shape, p.counts = shape{}, nil
	case "cNvPr":
		p.shape.hidden = attrs.isTrue("hidden")
	case "ph":
		p.shape.kind = attrs.get("type")
		p.shape.listed = !p.notes && slices.Contains([]string{"", "body", "obj"}, p.shape.kind)
		p.cover = p.cover || !p.notes && (p.shape.kind == "ctrTitle" || p.shape.kind == "subTitle")
	case "tbl":
		p.flow.beginTable()
		p.shape.listed = false
	case "tblPr":
		if t := p.flow.table(); t != nil {
			t.headed = attrs.isTrue("firstRow")
		}
	case "tr":
		p.flow.beginRow()
	case "tc":
		if attrs.get("hMerge") == "" { // not covered by the cell to its left
			columns, _ := strconv.Atoi(attrs.get("gridSpan"))
			p.flow.beginCell(columns, attrs.get("vMerge") != "")
		}
	case "p":
		p.para = &slideParagraph{bullet: p.shape.listed}
	default:
		p.startText(name, attrs)
	}
}

// startText handles the elements of a shape's text. Bullets before all paragraphs are those of each.
func (p *pptx) startText(name string, attrs attributes) {
	para := p.para
	switch name {
	case "buNone", "buChar", "buBlip", "buAutoNum":
		if para == nil {
			p.shape.listed = name != "buNone"
			return
		}
		if para.bullet = name != "buNone"; name == "buAutoNum" {
			para.numbered, para.first = attrs.get("type"), 1
			if n, err := strconv.Atoi(attrs.get("startAt")); err == nil {
				para.first = n
			}
		}
	}
	if para == nil {
		return
	}
	switch name {
	case "pPr":
		n, _ := strconv.Atoi(attrs.get("lvl"))
		para.depth = max(0, min(n, maxLevels-1))
	case "fld":
		para.inField = strings.HasPrefix(attrs.get("type"), "slidenum") || strings.HasPrefix(attrs.get("type"), "datetime")
	case "r":
		para.raised, para.struck = false, false
	case "rPr":
		raised, _ := strconv.Atoi(strings.TrimSuffix(attrs.get("baseline"), "%"))
		line := attrs.get("strike")
		para.raised, para.struck = raised > 0, line != "" && line != "noStrike"
	case "t":
		p.inText = true
	case "br":
		para.text.WriteByte('\n')
	}
}

func (p *pptx) text(s string) {
	para := p.para
	if p.skip > 0 || para == nil || !p.inText || para.inField {
		return
	}
	if para.raised {
		s = textline.Raised(s)
	}
	para.text.strike(para.struck)
	para.text.WriteString(s)
}

func (p *pptx) end(name string) {
	if p.skip > 0 {
		p.skip--
		return
	}
	switch name {
	case "t":
		p.inText = false
	case "fld":
		if p.para != nil {
			p.para.inField = false
		}
	case "tbl":
		p.flow.endTable()
	case "p":
		if p.para != nil {
			p.paragraph(p.para)
			p.para = nil
		}
	}
}

// paragraph takes a paragraph that has ended.
func (p *pptx) paragraph(para *slideParagraph) {
	para.text.strike(false)
	out := paragraph{text: strings.ReplaceAll(para.text.String(), "\v", "\n")}
	switch kind := p.shape.kind; {
	case p.flow.size > blocks.MaxText:
		p.flow.size += len(out.text) // document reports it
		return
	case strings.TrimSpace(out.text) == "", p.shape.hidden, p.notes && kind != "body", kind == "sldNum":
		return
	case kind == "ftr", kind == "hdr", kind == "dt":
		var line blocks.Document
		line.Add(blocks.Line, out.text)
		p.deck.flow.furniture(line)
		return
	case kind == "title", kind == "ctrTitle":
		p.flow.addTitle(out)
		return
	default:
		out.mark = p.mark(para)
	}
	p.flow.add(out)
}

// mark returns what stands before an item of a list, with a space: its number or a dash.
func (p *pptx) mark(para *slideParagraph) string {
	if para.numbered == "" {
		p.counts = p.counts[:min(len(p.counts), para.depth)]
		if para.bullet {
			return "- "
		}
		return ""
	}
	for len(p.counts) <= para.depth {
		p.counts = append(p.counts, 0)
	}
	p.counts = p.counts[:para.depth+1]
	if p.counts[para.depth]++; p.counts[para.depth] < para.first {
		p.counts[para.depth] = para.first
	}
	format := map[string]string{"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
	kind := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(para.numbered, "Period"), "ParenR"), "ParenBoth")
	number := numeral(p.counts[para.depth], format[kind])
	switch {
	case strings.HasSuffix(para.numbered, "ParenBoth"):
		return "(" + number + ") "
	case strings.HasSuffix(para.numbered, "ParenR"):
		return number + ") "
	}
	return number + ". "
}
