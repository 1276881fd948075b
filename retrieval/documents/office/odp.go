package office

import (
	"context"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// ODP reads the text of an OpenDocument presentation: of each slide its title as a heading, its paragraphs and tables, and
// its notes. It leaves out hidden slides and comments.
func (r Reader) ODP(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openODF(ctx, data, "an .odp presentation")
	if err != nil {
		return blocks.Document{}, err
	}
	o := &odp{deck: deck{flow: flow{ctx: ctx, lines: r.Lines}}, hides: map[string]bool{}}
	o.odt = newODT(o.deck.flow)
	if err := a.scan("content.xml", o); err != nil {
		return blocks.Document{}, err
	}
	named, err := a.titleIn("meta.xml")
	if err != nil {
		return blocks.Document{}, err
	}
	return o.deck.document(named)
}

// odp reads content.xml of a presentation. Its slides have the elements of text.
type odp struct {
	*odt
	deck    deck
	hides   map[string]bool // the styles of slides that are not shown
	inStyle string          // the style being read

	cover    bool    // the current slide has a subtitle
	edge     excerpt // what slides have at their edges
	declared bool    // it is being read
}

func (o *odp) start(name string, attrs attributes) {
	switch {
	case o.skip > 0:
	case name == "style":
		o.inStyle = attrs.get("name")
	case name == "drawing-page-properties" && attrs.get("visibility") == "hidden":
		o.hides[o.inStyle] = true
	case name == "footer-decl", name == "header-decl", name == "date-time-decl":
		o.edge, o.declared = excerpt{}, true
		return
	case name == "page":
		if o.hides[attrs.get("style-name")] {
			o.deck.shown++
			o.skip++
			return
		}
		o.cover, o.odt.flow = false, o.deck.slide(o.odt.flow)
	case name == "frame", name == "custom-shape":
		switch class := attrs.get("class"); {
		case class == "header", class == "footer", class == "date-time", class == "page-number", attrs.get("placeholder") == "true":
			o.skip++
			return
		default:
			o.titled = class == "title"
			o.cover = o.cover || class == "subtitle"
		}
	}
	o.odt.start(name, attrs)
}

func (o *odp) text(s string) {
	if o.declared && o.skip == 0 {
		o.edge.add(s)
		return
	}
	o.odt.text(s)
}

func (o *odp) end(name string) {
	if o.skip == 0 {
		switch name {
		case "footer-decl", "header-decl", "date-time-decl":
			o.declared = false
			var line blocks.Document
			line.Add(blocks.Line, english.Collapse(o.edge.String()))
			o.deck.flow.furniture(line)
			return
		case "frame", "custom-shape":
			o.titled = false
		case "page":
			o.deck.add(&o.odt.flow, o.cover)
		}
	}
	o.odt.end(name)
}
