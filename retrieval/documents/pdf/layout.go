package pdf

import (
	"context"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/margins"
	"tandem/retrieval/internal/textline"
)

// This file makes a document of lines: it finds where paragraphs begin and end, and what is a heading.

// dropMargins removes page numbers, and headers and footers that return on other pages, but for the first of each.
func (d *document) dropMargins() {
	pages := make([][]margins.Piece, len(d.pages))
	for p, page := range d.pages {
		for _, r := range page.runs {
			pages[p] = append(pages[p], margins.Piece{Y: r.base, Text: r.text, Cell: r.grid > 0})
		}
	}
	for p, repeated := range margins.Repeated(pages) {
		var kept []run
		for i, r := range d.pages[p].runs {
			if !repeated[i] {
				kept = append(kept, r)
			}
		}
		d.pages[p].runs = kept
	}
}

// layout returns the document: headings, paragraphs, items, and the rows of tables. It lays out no more pages once ctx has ended.
func (d *document) layout(ctx context.Context) blocks.Document {
	d.dropMargins()
	b := blockBuilder{doc: blocks.Document{Title: d.title}, words: d.compounds(), headings: map[int]float64{}}
	b.body, b.largest = d.fonts()
	for i, page := range d.pages {
		if ctx.Err() != nil {
			break
		}
		b.first = i == 0
		lines := page.lines(b.words)
		b.setPage(lines)
		for len(lines) > 0 {
			n := blockLength(lines)
			b.add(lines[:n])
			lines = lines[n:]
		}
	}
	b.below = true
	b.end()
	b.endTable()
	b.rank()
	for ; b.plain > 0; b.plain-- { // nothing is below them
		last := len(b.doc.Blocks) - b.plain
		b.doc.Blocks[last] = blocks.Block{Kind: blocks.Paragraph, Text: b.doc.Blocks[last].Text}
	}
	if len(b.doc.Blocks) == 0 && b.doc.Title != d.title { // the title is all the text
		b.doc.Add(blocks.Paragraph, b.doc.Title)
		b.doc.Title = d.title
	}
	b.doc.DemoteTitle(b.doc.Title != d.title)
	return b.doc
}

// fonts returns the most frequent font and the largest size.
func (d *document) fonts() (body font, largest float64) {
	letters := map[font]int{}
	for _, page := range d.pages {
		for _, r := range page.runs {
			f := font{math.Round(2*r.font.size) / 2, r.font.bold}
			largest = max(largest, r.font.size)
			if letters[f] += len(r.text); letters[f] > letters[body] {
				body = f
			}
		}
	}
	return body, largest
}

// blockLength returns the number of lines at the start of lines that stand below each other in one column and size.
func blockLength(lines []line) int {
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		dy := a.base - b.base
		if a.table != nil || b.table != nil || a.alone || b.alone || a.angle != b.angle || math.Abs(a.font.size-b.font.size) > 0.1*a.font.size ||
			dy < 0.3*a.font.size || dy > 2.5*a.font.size || min(a.box.right, b.box.right) < max(a.box.left, b.box.left) {
			return i
		}
	}
	return len(lines)
}

// blockBuilder makes blocks of lines.
type blockBuilder struct {
	doc     blocks.Document
	body    font    // of most of the text
	largest float64 // size of all fonts
	page    []line
	wide    float64 // how wide the text of the page is
	first   bool    // the page is the first

	words compounds
	table *table // the table at the end of what was added, which may go on on the next page

	headings map[int]float64 // sizes of headings by the index of their block
	plain    int             // the last blocks that only their place makes headings

	text  []byte  // of the current block
	lines int     // in text
	left  float64 // of the first of them
	item  bool    // the first of them begins an item
	font  font    // of the first of them; bold if all are
	last  line
	seen  line // the last of all that was added
	apart bool // there is a gap above the block
	below bool // there is a gap below last
	full  bool // last reaches the right edge of its column: the block may continue elsewhere
}

// setPage begins a page with the given lines.
func (b *blockBuilder) setPage(lines []line) {
	left, right := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		if l.table == nil {
			left, right = min(left, l.box.left), max(right, l.box.right)
		}
	}
	b.page, b.wide = lines, right-left
}

// add adds lines that stand below each other.
func (b *blockBuilder) add(lines []line) {
	gap := b.gapAbove(lines[0])
	b.below, b.seen = gap, lines[len(lines)-1]
	switch {
	case lines[0].table != nil:
		b.end()
		if b.table == nil || !b.table.goOn(lines[0].table) {
			b.endTable()
			b.table = lines[0].table
		}
	case lines[0].alone:
		b.end()
		b.endTable()
		b.doc.Add(blocks.Line, lines[0].text)
		b.plain = 0
	case b.areEntries(lines):
		b.end()
		b.endTable()
		b.addEntries(lines, gap)
	default:
		b.endTable()
		b.addParagraphs(lines, gap)
	}
}

// addEntries adds lines that are a block each.
func (b *blockBuilder) addEntries(lines []line, gap bool) {
	for i, l := range lines {
		if i > 0 {
			gap = b.last.base-l.base > 1.8*l.font.size
			b.below = gap
			b.end()
		}
		b.apart = gap
		b.append(l)
	}
}

// addParagraphs adds lines of running text.
func (b *blockBuilder) addParagraphs(lines []line, gap bool) {
	column, steps := b.column(lines)
	step := usualStep(steps, lines[0].font.size)
	for i, l := range lines {
		if i > 0 {
			gap = b.last.base-l.base > step+0.3*l.font.size
		}
		if i == 0 && !b.carries(l) || i > 0 && (gap || b.breaks(l, column)) {
			b.below = gap
			b.end()
			b.apart = gap
		}
		b.append(l)
	}
	b.full = len(lines) > 1 && b.last.box.right > column.right-0.1*column.width()
}

// column returns the extent of the column of lines, and the distances of the lines from each other.
func (b *blockBuilder) column(lines []line) (box, []float64) {
	column := lines[0].box
	var steps []float64
	for i, l := range lines {
		if column = column.union(l.box); i > 0 {
			steps = append(steps, lines[i-1].base-l.base)
		}
	}
	if len(lines) <= 4 && len(b.page) < 1000 { // too few to show the column's width
		for _, l := range b.page {
			if math.Abs(l.box.left-column.left) < 0.5*l.font.size && math.Abs(l.font.size-lines[0].font.size) < 0.1*l.font.size {
				column = column.union(l.box)
			}
		}
	}
	return column, steps
}

// usualStep returns the distance of lines in a paragraph, given those of lines below each other: the middle one, or the least if
// most of the others have an empty line between them.
func usualStep(steps []float64, size float64) float64 {
	slices.Sort(steps)
	if len(steps) < 2 {
		return 1.5 * size
	}
	middle := steps[(len(steps)-1)/2]
	for _, s := range steps {
		if s > 0.95*size && s < middle/1.6 {
			return s
		}
	}
	return middle
}

// areEntries reports whether lines are no running text but entries, as those of an address or beside one: few and short, each
// begins as a sentence does and none ends as one, and in half of them are figures or labels.
func (b *blockBuilder) areEntries(lines []line) bool {
	if len(lines) < 2 || len(lines) > 6 || b.lines > 0 && b.full {
		return false
	}
	column, marked := lines[0].box, 0
	for _, l := range lines {
		column = column.union(l.box)
		if l.grid > 0 || l.hyphen || l.font.size > 1.15*b.body.size || textline.IsItem(l.text) || textline.BeginsLower(l.text) || strings.ContainsAny(l.text[len(l.text)-1:], ".,;-?!") || english.CountWords(l.text) > 7 {
			return false
		}
		if textline.IsLabel(l.text) || strings.ContainsAny(l.text, "0123456789") {
			marked++
		}
	}
	return column.width() < 0.45*b.wide && 2*marked >= len(lines)
}

// gapAbove reports whether a line stands apart from what was added before.
func (b *blockBuilder) gapAbove(l line) bool {
	up := b.seen.base - l.base
	return l.table != nil || b.seen.text == "" || up > 1.8*l.font.size || up < 0
}

// carries reports whether the current block continues with a line in another column or on another page.
func (b *blockBuilder) carries(l line) bool {
	return b.lines > 0 && b.full && math.Abs(b.font.size-l.font.size) < 0.1*l.font.size && b.font.bold == l.font.bold &&
		l.base > b.last.base && textline.BeginsLower(l.text) && (b.last.hyphen || !textline.EndsSentence(b.last.text))
}

// breaks reports whether a new block begins with a line close below the last.
func (b *blockBuilder) breaks(l line, column box) bool {
	last, size := b.last, l.font.size
	word, _, _ := strings.Cut(l.text, " ")
	wide := l.box.width() * float64(len(word)) / float64(len(l.text))
	early := last.box.right+wide < column.right-0.5*size // the word would have fitted into the last line
	indented := l.box.left > last.box.left+0.8*size && l.box.left > column.left+0.8*size
	lower := textline.BeginsLower(l.text)
	switch {
	case textline.Binds(last.text), !early && longNumber.MatchString(l.text) && !textline.EndsSentence(last.text): // no item "2023."
		return false
	case textline.IsItem(l.text), textline.IsStamped(l.text):
		return true
	case last.hyphen:
		return false
	case b.largeFont(): // a heading goes on
		return false
	case b.item && l.box.left > b.left+0.3*size && l.box.left >= last.box.left-0.3*size: // below the item's text
		return false
	case textline.IsLabel(l.text) && (early || textline.IsLabel(last.text)) && (early || !lower), b.lines == 1 && textline.IsLabel(last.text) && !lower:
		return true
	case b.font.bold && !l.font.bold && (early || b.lines < 3), l.font.bold && !b.font.bold && early:
		return true
	}
	return !lower && (early || indented && textline.EndsSentence(last.text))
}

// longNumber is a number that ends a sentence rather than begins an item.
var longNumber = regexp.MustCompile(`^\d{3,}[.)] `)

// append adds a line to the current block.
func (b *blockBuilder) append(l line) {
	if b.lines == 0 {
		b.font, b.left, b.item = l.font, l.box.left, textline.IsItem(l.text)
	} else {
		b.text = b.words.between(b.text, b.last.run, l.run)
	}
	b.text = append(b.text, l.text...)
	b.font.bold = b.font.bold && l.font.bold
	b.last, b.full, b.below = l, false, false
	b.lines++
}

// end ends the current block.
func (b *blockBuilder) end() {
	if b.lines == 0 {
		return
	}
	if b.last.hyphen {
		b.text = append(b.text, '-')
	}
	text := string(b.text)
	kind, plain := blocks.Paragraph, 0
	switch {
	case b.isTitle(text):
		b.doc.Title = text
		b.text, b.lines, b.full = b.text[:0], 0, false
		return
	case b.isHeading(text):
		kind = blocks.Heading
		if b.standsAlone(text) && !b.font.bold {
			plain = b.plain + 1
		}
		b.headings[len(b.doc.Blocks)] = b.font.size
		if b.doc.Title == "" && b.first && b.font.size >= b.largest-0.5 && b.largeFont() {
			b.doc.Title = text
		}
	case b.item, b.lines == 1 && textline.IsLabel(text):
		kind = blocks.Line
	}
	b.doc.Add(kind, text)
	b.text, b.lines, b.full, b.plain = b.text[:0], 0, false, plain
}

// rank gives headings their levels by size. Those in letters of the usual size have the lowest.
func (b *blockBuilder) rank() {
	var sizes []float64
	for _, size := range b.headings {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	sizes = slices.CompactFunc(sizes, func(a, b float64) bool { return math.Abs(a-b) < 0.5 })
	for i, size := range b.headings {
		level := sort.Search(len(sizes), func(n int) bool { return sizes[n] < size+0.5 }) + 1
		if size > 1.15*b.body.size && level < blocks.LowestLevel {
			b.doc.Blocks[i].Level = uint8(level)
		}
	}
}

// largeFont reports whether the current block is in larger letters than most of the text.
func (b *blockBuilder) largeFont() bool { return b.font.size > 1.15*b.body.size }

// isTitle reports whether the current block, the first, is the title of a document in letters of one size.
func (b *blockBuilder) isTitle(text string) bool {
	return b.doc.Title == "" && b.first && len(b.doc.Blocks) == 0 && b.standsAlone(text)
}

// standsAlone reports whether the current block reads like a title and is a line with gaps above and below, in a document in
// letters of one size, where nothing else tells titles from text.
func (b *blockBuilder) standsAlone(text string) bool {
	return b.lines == 1 && b.apart && b.below && b.largest < 1.15*b.body.size && textline.LooksLikeTitle(text) && !textline.IsLabel(text) && !b.item && strings.ContainsFunc(text, unicode.IsLetter)
}

// isHeading reports whether the current block is a heading: short, without the end of a sentence, and in larger or bolder
// letters than most of the text.
func (b *blockBuilder) isHeading(text string) bool {
	if b.lines > 3 || english.CountWords(text) > blocks.MaxHeading || strings.ContainsAny(text[len(text)-1:], ".,;:") || !strings.ContainsFunc(text, unicode.IsLetter) && english.CountWords(text) < 2 {
		return false
	}
	if b.lines == 1 && b.apart && textline.IsMarked(text) || b.standsAlone(text) {
		return true
	}
	bold := b.font.bold && !b.body.bold && b.lines < 3 && english.CountWords(text) <= blocks.MaxHeading/2 && !textline.IsLabel(text)
	return b.largeFont() || bold && b.font.size > 0.9*b.body.size
}
