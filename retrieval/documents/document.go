package documents

import "tandem/retrieval/internal/blocks"

// What files become. It is declared in package blocks so that package pdf can make it, too.
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

// The greatest lengths of titles and headings, in words.
const (
	MaxTitle   = blocks.MaxTitle
	MaxHeading = blocks.MaxHeading
)

// LowestLevel is the level of headings below all others. Headings have it, too, if their file does not rank them.
const LowestLevel = blocks.LowestLevel
