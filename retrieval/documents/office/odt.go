package office

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// ODT reads the text of an OpenDocument text: paragraphs with their lists' numbers, tables, text boxes, footnotes, and
// page headers and footers once. It leaves out what is deleted or hidden, comments, and tables of contents.
func (r Reader) ODT(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openODF(ctx, data, "an .odt document")
	if err != nil {
		return blocks.Document{}, err
	}
	o := newODT(flow{ctx: ctx, lines: r.Lines})
	var front flow
	if err := a.scanIfAny("styles.xml", o); err != nil {
		return blocks.Document{}, err
	}
	o.flow.flush()
	front.furniture(o.flow.doc)
	o.flow = flow{ctx: ctx, lines: r.Lines, front: front.front}
	if err := a.scan("content.xml", o); err != nil {
		return blocks.Document{}, err
	}
	if o.flow.size > blocks.MaxText {
		return blocks.Document{}, blocks.ErrMuchText
	}
	if o.flow.named, err = a.titleIn("meta.xml"); err != nil {
		return blocks.Document{}, err
	}
	return o.flow.document()
}

func newODT(f flow) *odt {
	return &odt{flow: f, styles: map[string]string{}, lists: map[string]map[string]*listLevel{}, struck: map[string]bool{}, hidden: map[string]bool{}}
}

// odt reads content.xml and styles.xml.
type odt struct {
	flow   flow
	styles map[string]string // the style on which a paragraph's style is based
	lists  map[string]map[string]*listLevel
	struck map[string]bool // the styles of text that is struck out
	hidden map[string]bool // the styles of text that does not show

	named  string // the style being read
	style  string // the list style being read
	items  []*odtList
	open   []*odtParagraph
	notes  []paragraph // of the paragraph that is open
	note   int         // depth of notes
	titled bool        // what is read is a slide's title
	skip   int
	reach  []int // by column of the outer table: the rows below that a cell reaches
	at     int   // the current column
}

// odtList is a list that has not ended yet.
type odtList struct {
	style string
	count int
	begun bool   // the current item has had its first paragraph
	label string // its number, for the levels below
}

// odtParagraph is a paragraph that has not ended yet.
type odtParagraph struct {
	text     strings.Builder
	style    string
	level    int
	numbered bool   // the text has the page's number
	spans    []bool // of those that have not ended, which one begins what is struck out
}

// odtLeftOut are elements whose text is not part of the document.
var odtLeftOut = []string{"tracked-changes", "annotation", "annotation-end", "note-citation", "table-of-content", "ruby-text", "placeholder",
	"alphabetical-index", "illustration-index", "table-index", "object-index", "forms", "script", "title", "desc", "bibliography-configuration"}

func (o *odt) start(name string, attrs attributes) {
	if o.skip > 0 || slices.Contains(odtLeftOut, name) || (name == "p" || name == "h" || name == "span") && o.hidden[attrs.get("style-name")] {
		o.skip++
		return
	}
	switch name {
	case "style":
		o.named = attrs.get("name")
		o.styles[o.named] = attrs.get("parent-style-name")
	case "text-properties":
		if line := attrs.get("text-line-through-style"); o.named != "" && line != "" && line != "none" {
			o.struck[o.named] = true
		}
		if o.named != "" && attrs.get("display") == "none" {
			o.hidden[o.named] = true
		}
	case "list-style":
		o.style = attrs.get("name")
		o.lists[o.style] = map[string]*listLevel{}
	case "list-level-style-number", "list-level-style-bullet", "list-level-style-image":
		o.listLevel(name, attrs)
	case "list":
		o.beginList(attrs.get("style-name"))
	case "list-item":
		if n := len(o.items); n > 0 {
			item := o.items[n-1]
			item.begun, item.label = false, ""
			item.count++
		}
	case "note":
		o.note++
	case "table":
		o.flow.beginTable()
		if t := o.flow.table(); t != nil {
			o.reach, t.headed = nil, attrs.get("use-first-row-styles") == "true"
		}
	case "table-header-rows":
		o.markHeads(true)
	case "table-row":
		o.beginRow()
	case "table-cell", "covered-table-cell":
		o.beginCell(name, attrs)
	default:
		o.startText(name, attrs)
	}
}

// startText handles the elements of text.
func (o *odt) startText(name string, attrs attributes) {
	if name == "p" || name == "h" {
		p := &odtParagraph{style: attrs.get("style-name")}
		if name == "h" {
			level, err := strconv.Atoi(attrs.get("outline-level"))
			if err != nil {
				level = 1
			}
			p.level = max(1, level)
		}
		o.open = append(o.open, p)
		return
	}
	if len(o.open) == 0 {
		return
	}
	p := o.open[len(o.open)-1]
	switch name {
	case "span":
		p.spans = append(p.spans, o.struck[attrs.get("style-name")] && !slices.Contains(p.spans, true))
		p.strike()
	case "s":
		n, err := strconv.Atoi(attrs.get("c"))
		if err != nil {
			n = 1
		}
		p.text.WriteString(strings.Repeat(" ", max(0, min(n, 64))))
	case "tab":
		p.text.WriteByte('\t')
	case "line-break":
		p.text.WriteByte('\n')
	case "page-number", "page-count":
		p.numbered = true
	}
}

// strike marks where the last span begins or ends if it is struck out, as in Markdown.
func (p *odtParagraph) strike() {
	if p.spans[len(p.spans)-1] {
		p.text.WriteString("~~")
	}
}

func (o *odt) text(s string) {
	if n := len(o.open); n > 0 && o.skip == 0 {
		o.open[n-1].text.WriteString(lineEnds.Replace(s))
	}
}

// lineEnds makes spaces of the line ends and tabs with which a program indented the XML.
var lineEnds = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

func (o *odt) end(name string) {
	if o.skip > 0 {
		o.skip--
		return
	}
	switch name {
	case "style":
		o.named = ""
	case "list-style":
		o.style = ""
	case "list":
		o.items = o.items[:max(0, len(o.items)-1)]
	case "note":
		o.note--
	case "span":
		if n := len(o.open); n > 0 && len(o.open[n-1].spans) > 0 {
			p := o.open[n-1]
			p.strike()
			p.spans = p.spans[:len(p.spans)-1]
		}
	case "table":
		o.flow.endTable()
	case "table-header-rows":
		o.markHeads(false)
	case "p", "h":
		if n := len(o.open); n > 0 {
			p := o.open[n-1]
			o.open = o.open[:n-1]
			o.paragraph(p)
		}
	}
}

// paragraph takes a paragraph that has ended. Footnotes follow the paragraph that refers to them.
func (o *odt) paragraph(p *odtParagraph) {
	text := p.text.String()
	if strings.TrimSpace(text) == "" || p.numbered && p.level == 0 && len(text) < 40 {
		return
	}
	if o.flow.size > blocks.MaxText {
		o.flow.size += len(text) // ODT reports it
		return
	}
	if o.titled {
		o.flow.addTitle(paragraph{text: text})
		return
	}
	out := paragraph{text: text, level: p.level}
	for style, n := p.style, 0; style != "" && n < 16; style, n = o.styles[style], n+1 {
		out.title = out.title || style == "Title"
	}
	if o.note > 0 {
		o.notes = append(o.notes, out)
		return
	}
	out.mark = o.mark()
	o.flow.add(out)
	if len(o.open) == 0 {
		for _, note := range o.notes {
			o.flow.add(note)
		}
		o.notes = nil
	}
}

// beginList starts a list. One within another has its style, unless it names one itself.
func (o *odt) beginList(style string) {
	if n := len(o.items); n > 0 && style == "" {
		style = o.items[n-1].style
	}
	l := &odtList{style: style}
	if level := o.lists[style][strconv.Itoa(len(o.items)+1)]; level != nil {
		l.count = level.first - 1
	}
	o.items = append(o.items, l)
}

// listLevel notes how a level of the list style is numbered. Its text is "%1" with what stands around it.
func (o *odt) listLevel(name string, attrs attributes) {
	if o.style == "" {
		return
	}
	level := &listLevel{format: "bullet", first: 1}
	if name == "list-level-style-number" {
		level.format = attrs.get("num-format")
		level.text = english.FirstBytes(attrs.get("num-prefix"), 8) + "%1" + english.FirstBytes(attrs.get("num-suffix"), 8)
		if n, err := strconv.Atoi(attrs.get("start-value")); err == nil {
			level.first = n
		}
		if n, err := strconv.Atoi(attrs.get("display-levels")); err == nil && n > 1 {
			level.text = "%%" + level.text // with the numbers of the levels above
		}
	}
	o.lists[o.style][attrs.get("level")] = level
}

// mark returns what stands before a list item's first paragraph, with a space: its number or a dash.
func (o *odt) mark() string {
	n := len(o.items)
	if n == 0 || o.items[n-1].begun {
		return ""
	}
	item := o.items[n-1]
	if item.count == 0 && item.style == "" {
		return "" // the head of a list
	}
	item.begun = true
	level := o.lists[item.style][strconv.Itoa(n)]
	if level == nil || level.format == "bullet" {
		return "- "
	}
	if level.format == "" {
		return ""
	}
	item.label = numeral(item.count, level.format)
	text, above := strings.CutPrefix(level.text, "%%")
	number := item.label
	if above && n > 1 && o.items[n-2].label != "" {
		number = o.items[n-2].label + "." + number
		item.label = english.FirstBytes(number, maxMark)
	}
	return strings.TrimSpace(strings.Replace(text, "%1", number, 1)) + " "
}

// markHeads begins or ends the rows that name a table's columns.
func (o *odt) markHeads(on bool) {
	if t := o.flow.table(); t != nil {
		t.marking = on
	}
}

// beginRow starts a row. That of a table within a cell leaves the place in the outer table as it is.
func (o *odt) beginRow() {
	o.flow.beginRow()
	t := o.flow.table()
	if t == nil {
		return
	}
	if o.at = 0; t.marking {
		o.flow.headRow()
	}
}

// beginCell starts a cell. A covered cell belongs to the cell above it or to its left.
func (o *odt) beginCell(name string, attrs attributes) {
	if o.flow.table() == nil || o.at >= blocks.MaxColumns {
		o.flow.beginCell(1, false)
		return
	}
	for len(o.reach) <= o.at {
		o.reach = append(o.reach, 0)
	}
	continues := false
	if rows, _ := strconv.Atoi(attrs.get("number-rows-spanned")); name == "table-cell" {
		o.reach[o.at] = max(0, rows-1)
	} else if o.reach[o.at] > 0 {
		o.reach[o.at]--
		continues = true
	}
	columns, _ := strconv.Atoi(attrs.get("number-columns-repeated"))
	columns = max(1, min(columns, blocks.MaxColumns))
	o.at += columns
	o.flow.beginCell(columns, continues)
}
