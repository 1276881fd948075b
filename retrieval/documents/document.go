package documents

import "tandem/retrieval/internal/blocks"

// What all files become. The parsers share it with those in packages below this one.
type (
	// Document is the common form of all files: a title and blocks of text.
	Document = blocks.Document
	// Block is a piece of a document: one line of text without markup.
	Block = blocks.Block
	// Kind is the type of a block.
	Kind = blocks.Kind
)

// The kinds of blocks.
const (
	Paragraph = blocks.Paragraph
	Line      = blocks.Line      // a list item or a label with its value; never divided at sentences
	Heading   = blocks.Heading   // begins a section
	TableHead = blocks.TableHead // the names of a table's columns
	TableRow  = blocks.TableRow  // a row of a table; never divided at sentences
	Code      = blocks.Code      // a line of code, with its indentation
)

// Bounds of documents: the greatest lengths of titles and headings, in words, and the level of headings below all others.
const (
	MaxTitle    = blocks.MaxTitle
	MaxHeading  = blocks.MaxHeading
	LowestLevel = blocks.LowestLevel
)
