package documents

import "tandem/retrieval/internal/english"

// Longest titles and headings, in words.
const (
	MaxTitle   = 16
	MaxHeading = 24
)

// document is what a parser makes of a file: the common form of text, Markdown, HTML and PDF.
type Document struct {
	Title  string
	Blocks []Block
}

// block is a paragraph, a list line or a heading.
type Block struct {
	Kind Kind
	Text string // one line, white space collapsed, markup removed
}

type Kind uint8

const (
	Paragraph Kind = iota
	Line           // kept whole: a fact in a list must not lose its label
	Heading        // starts a section
)

func (d *Document) Add(kind Kind, text string) {
	if text = english.Collapse(text); text != "" {
		d.Blocks = append(d.Blocks, Block{kind, text})
	}
}
