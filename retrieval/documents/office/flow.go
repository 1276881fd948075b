package office

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// flow builds the document of a word processor's file from its paragraphs and tables, in the order of the file.
type flow struct {
	ctx    context.Context
	lines  func(context.Context, []string) blocks.Document // see Reader
	doc    blocks.Document
	front  []blocks.Block // page headers and footers, which stand before the text
	styled string         // the text in the style of a title
	named  string         // the title that the file's properties name
	tabbed [][]string     // the last paragraphs, if tabs divide them into columns
	tables []*flowTable
	size   int // bytes of text
	places int // rows and cells of tables
}

// maxPlaces bounds the rows and cells of all tables: each takes dozens of bytes, also an empty one, and a few packed kilobytes may
// hold millions.
const maxPlaces = 1 << 19

var errPlaces = fmt.Errorf("its tables have more than %d rows and cells: divide it into several files", maxPlaces)

// takePlace counts a row or a cell, and reports whether there may be one more.
func (f *flow) takePlace() bool {
	f.places++
	return f.places <= maxPlaces
}

// paragraph is a paragraph of a word processor's file. Its text may hold tabs and line breaks.
type paragraph struct {
	text  string
	level int    // of a heading; 0 for others
	mark  string // the number or bullet of a list item, with a space
	title bool   // it has the style of a title
}

// flowTable is a table that has not ended yet.
type flowTable struct {
	blocks.Table
	cells   [][]flowCell
	heads   int  // rows at the top that are marked as heads
	marking bool // rows are marked as heads
	headed  bool // the first row looks different
}

// flowCell is a cell of a table.
type flowCell struct {
	paragraphs []paragraph
	columns    int
	continues  bool // it belongs to the cell above
}

// add appends a paragraph to the document or to the current cell.
func (f *flow) add(p paragraph) {
	if strings.TrimSpace(p.text) == "" {
		return
	}
	f.size += len(p.text)
	if len(f.tables) > 0 {
		rows := f.tables[0].cells
		if r := len(rows) - 1; r >= 0 && len(rows[r]) > 0 {
			cell := &rows[r][len(rows[r])-1]
			cell.paragraphs = append(cell.paragraphs, p)
			return
		}
	}
	f.place(p)
}

// addTitle appends a paragraph to the title of a slide. It is one of the text where the title is long.
func (f *flow) addTitle(p paragraph) {
	if f.styled == "" || len(f.styled)+len(p.text) > maxExcerpt {
		p.title = f.styled == ""
		f.add(p)
		return
	}
	f.size += len(p.text)
	f.styled += " " + english.Collapse(p.text)
}

// place appends a paragraph to the document.
func (f *flow) place(p paragraph) {
	text := strings.Trim(p.text, " \t\n")
	cells := tabs.Split(text, blocks.MaxColumns)
	switch {
	case p.title && f.styled == "":
		f.styled = english.Collapse(text)
	case p.level > 0:
		f.flush()
		f.doc.AddHeading(p.level, p.mark+text)
	case p.mark != "" || len(cells) > 1 && textline.ListMark.MatchString(cells[0]):
		f.flush()
		f.doc.Add(blocks.Line, p.mark+text)
	case strings.Contains(text, "\n"):
		f.flush()
		doc := f.lines(f.ctx, strings.Split(text, "\n"))
		for _, b := range doc.Blocks {
			if b.Kind == blocks.Heading {
				b = blocks.Block{Kind: blocks.Line, Text: b.Text}
			}
			f.doc.AddBlock(b)
		}
	case len(cells) > 1:
		if len(f.tabbed) > 0 && len(f.tabbed[0]) != len(cells) {
			f.flush()
		}
		f.tabbed = append(f.tabbed, cells)
	case textline.IsItem(text), textline.IsLabel(text):
		f.flush()
		f.doc.Add(blocks.Line, text)
	default:
		f.flush()
		f.doc.Add(blocks.Paragraph, text)
	}
}

var tabs = regexp.MustCompile(` *\t[ \t]*`)

// flush appends the paragraphs in columns. A single one is a line.
func (f *flow) flush() {
	if rows := f.tabbed; len(rows) > 1 {
		f.doc.AddTable(rows, blocks.GuessHead)
	} else if len(rows) == 1 {
		f.doc.Add(blocks.Line, strings.Join(rows[0], " "))
	}
	f.tabbed = nil
}

// beginTable, beginRow and beginCell start a table, a row and a cell. Those of a table within a cell have no effect: its
// paragraphs belong to the cell.
func (f *flow) beginTable() { f.tables = append(f.tables, &flowTable{}) }

func (f *flow) beginRow() {
	if t := f.table(); t != nil && f.takePlace() {
		t.cells = append(t.cells, nil)
	}
}

func (f *flow) beginCell(columns int, continues bool) {
	if row := f.row(); row != nil && f.takePlace() {
		*row = append(*row, flowCell{nil, columns, continues})
	}
}

// table returns the open table, nil outside and in a table within a cell.
func (f *flow) table() *flowTable {
	if len(f.tables) != 1 {
		return nil
	}
	return f.tables[0]
}

// row returns the current row of the open table, nil if there is none.
func (f *flow) row() *[]flowCell {
	t := f.table()
	if t == nil || len(t.cells) == 0 {
		return nil
	}
	return &t.cells[len(t.cells)-1]
}

// cell returns the current cell of the open table, nil if there is none.
func (f *flow) cell() *flowCell {
	row := f.row()
	if row == nil || len(*row) == 0 {
		return nil
	}
	return &(*row)[len(*row)-1]
}

// headRow says that the current row names columns.
func (f *flow) headRow() {
	if t := f.table(); t != nil && len(t.cells) == t.heads+1 {
		t.heads++
	}
}

// endTable appends the table that ends.
func (f *flow) endTable() {
	n := len(f.tables) - 1
	if n < 0 {
		return
	}
	t := f.tables[n]
	f.tables = f.tables[:n]
	if n > 0 {
		return
	}
	f.flush()
	if t.isLayout() {
		for _, row := range t.cells {
			for _, cell := range row {
				for _, p := range cell.paragraphs {
					f.place(p)
				}
			}
		}
		f.flush()
		return
	}
	t.texts()
	if t.heads == 0 {
		t.heads = t.GuessHeads()
	}
	rows, head := t.JoinHeads(t.heads)
	switch {
	case t.heads == 0 && t.headed:
		head = blocks.AssumeHead
	case t.heads == 0:
		head = blocks.GuessHead
	}
	f.doc.AddTable(rows, head)
}

// isLayout reports whether a table only places text on the page: it has one column, a heading or a long cell.
func (t *flowTable) isLayout() bool {
	width := 0
	for _, row := range t.cells {
		width = max(width, len(row))
		for _, cell := range row {
			words := 0
			for _, p := range cell.paragraphs {
				words += english.CountWords(p.text)
				if p.level > 0 || words > blocks.LayoutWords {
					return true
				}
			}
		}
	}
	return width < 2
}

// texts makes the rows of the cells' texts. A cell that belongs to the one above has its text, too.
func (t *flowTable) texts() {
	for _, row := range t.cells {
		t.BeginRow()
		above := []string(nil)
		if n := len(t.Rows); n > 1 {
			above = t.Rows[n-2]
		}
		for _, cell := range row {
			var parts []string
			for _, p := range cell.paragraphs {
				parts = append(parts, english.Collapse(p.mark+p.text))
			}
			text := strings.Join(parts, " ")
			if at := len(t.Rows[len(t.Rows)-1]); cell.continues && at < len(above) {
				text = t.Repeat(above[at])
			}
			t.AddCell(text, cell.columns, 1)
		}
	}
}

// document returns the document at the end of the file. Its title is the paragraph with the style of one, or the heading at
// the start if it has no equal, or the title among the file's properties unless a program made it up.
func (f *flow) document() (blocks.Document, error) {
	if f.places > maxPlaces {
		return blocks.Document{}, errPlaces
	}
	f.flush()
	doc := f.doc
	peers := 0 // headings of the level of the first block or above
	for _, b := range doc.Blocks {
		if b.Kind == blocks.Heading && b.Level <= doc.Blocks[0].Level {
			peers++
		}
	}
	switch {
	case f.styled != "":
		doc.Title = f.styled
	case len(doc.Blocks) > 0 && doc.Blocks[0].Kind == blocks.Heading && peers == 1:
		doc.Title, doc.Blocks = doc.Blocks[0].Text, doc.Blocks[1:]
	case path.Ext(f.named) == "" && !strings.HasPrefix(f.named, "Microsoft Word"):
		doc.Title = english.Collapse(f.named)
	}
	doc.Blocks = append(f.front, doc.Blocks...)
	if len(doc.Blocks) == 0 && doc.Title == "" {
		return blocks.Document{}, errors.New("no text in it (only pictures?)")
	}
	return doc, nil
}

// furniture appends the lines of a page header or footer that are not there yet.
func (f *flow) furniture(lines blocks.Document) {
	for _, b := range lines.Blocks {
		known := slices.ContainsFunc(f.front, func(before blocks.Block) bool { return before.Text == b.Text })
		if !known && len(f.front) < maxFurniture {
			f.front = append(f.front, blocks.Block{Kind: blocks.Line, Text: b.Text})
		}
	}
}

// maxFurniture is the number of lines that are kept of page headers and footers.
const maxFurniture = 40
