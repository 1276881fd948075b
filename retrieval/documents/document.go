package documents

import "tandem/retrieval/internal/english"

// The greatest lengths of titles and headings, in words.
const (
	MaxTitle   = 16
	MaxHeading = 24
)

// Document is the common form of text, Markdown, HTML and PDF files.
type Document struct {
	Title  string
	Blocks []Block
}

// Block is a paragraph, a line or a heading.
type Block struct {
	Kind Kind
	Text string // on one line, with white space collapsed and markup removed
}

// Kind is the type of a block.
type Kind uint8

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Line           // a list item, a label with its value, a line of code or of a table; never divided at sentences
	Heading        // begins a section
)

// Add appends a block, unless its text is empty.
func (d *Document) Add(kind Kind, text string) {
	if text = english.Collapse(text); text != "" {
		d.Blocks = append(d.Blocks, Block{kind, text})
	}
}
