package office

import (
	"path"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// deck builds the document of a presentation. Each slide is a flow of its own, whose styled text is the slide's title.
type deck struct {
	flow  flow
	shown int // slides so far
}

// slide returns the flow of the next slide. It goes on with what the slides before it have taken of the bounds.
func (d *deck) slide(before flow) flow {
	return flow{ctx: d.flow.ctx, lines: d.flow.lines, size: before.size, places: before.places}
}

// add appends a slide. If the first is the cover, or has nothing but a title, that is the presentation's title.
func (d *deck) add(slide *flow, cover bool) {
	d.shown++
	slide.flush()
	title := english.Collapse(slide.styled)
	switch {
	case d.shown == 1 && (cover || len(slide.doc.Blocks) == 0):
		d.flow.styled = title
	case title != "" && english.CountWords(title) <= blocks.MaxHeading:
		d.flow.doc.AddHeading(slideLevel, title)
	case title != "" || len(slide.doc.Blocks) > 0:
		d.flow.doc.AddHeading(slideLevel, "Slide "+strconv.Itoa(d.shown))
		d.flow.doc.Add(blocks.Paragraph, title)
	}
	for _, b := range slide.doc.Blocks {
		d.flow.doc.AddBlock(b)
	}
	d.flow.size, d.flow.places = slide.size, slide.places
}

// slideLevel is the level of the slides' headings.
const slideLevel = 2

// document returns the presentation's document. The name that programs give every presentation is no title.
func (d *deck) document(named string) (blocks.Document, error) {
	if d.flow.size > blocks.MaxText {
		return blocks.Document{}, blocks.ErrMuchText
	}
	if !strings.Contains(named, "PowerPoint") && path.Ext(named) == "" {
		d.flow.named = named
	}
	return d.flow.document()
}
