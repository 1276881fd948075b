package blocks

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
)

// The greatest lengths of titles and headings, in words.
const (
	MaxTitle   = 16
	MaxHeading = 24
)

// MaxText bounds the text of a document, in bytes. Parsers refuse files that have more, with ErrMuchText.
const MaxText = 16 << 20

// ErrMuchText says that a file has more than MaxText.
var ErrMuchText = fmt.Errorf("it has more than %d MB of text (split it into parts)", MaxText>>20)

// Document is the common form of all files.
type Document struct {
	Title  string
	Blocks []Block
}

// Block is a piece of a document. Its text is one line without markup; white space is collapsed except in code.
type Block struct {
	Kind  Kind
	Level uint8 // of a heading: 1 is the highest, LowestLevel the lowest; 0 for other blocks
	Apart bool  // it begins a text of its own, such as a message of a mailbox: no passage joins it to what is before
	Text  string

	Quoted uint8 // how often it is quoted: 1 for what repeats another mail, 2 for what that one quotes
}

// LowestLevel is the level of headings below all others. Headings have it, too, if their file does not rank them.
const LowestLevel = 6

// Kind is the type of a block.
type Kind uint8

// The kinds of blocks. A table is at most one TableHead and the TableRows that follow it directly. The text of both is the
// row's cells with " | " between them, and all of a table have the same number of them; an empty cell leaves two bars next
// to each other, or one at an end. A row says little without the TableHead above it.
const (
	Paragraph Kind = iota
	Line           // a list item or a label with its value; never divided at sentences
	Heading        // begins a section
	TableHead      // the names of a table's columns
	TableRow       // a row of a table; never divided at sentences
	Code           // a line of code, with its indentation
)

// Add appends a block, unless its text is empty. A heading gets the lowest level.
func (d *Document) Add(kind Kind, text string) {
	level := uint8(0)
	if kind == Heading {
		level = LowestLevel
	}
	d.AddBlock(Block{Kind: kind, Level: level, Text: text})
}

// AddHeading appends a heading of a level, unless its text is empty. It brings the level between 1 and LowestLevel.
func (d *Document) AddHeading(level int, text string) {
	d.AddBlock(Block{Kind: Heading, Level: uint8(max(1, min(level, LowestLevel))), Text: text})
}

// MaxBlocks bounds the blocks of a document, each of which costs a few hundred bytes until it is in a passage, however
// short it is. A file that makes as many is refused.
const MaxBlocks = 1 << 18

// AddBlock appends a block, unless its text is empty or there are MaxBlocks.
func (d *Document) AddBlock(b Block) {
	if len(d.Blocks) == MaxBlocks {
		return
	}
	if b.Kind == Code {
		b.Text = codeLine(b.Text)
	} else {
		b.Text = english.Collapse(b.Text)
	}
	if b.Text != "" {
		d.Blocks = append(d.Blocks, b)
	}
}

// codeLine returns a line of code without what does not print; it is empty if nothing is left. A tab is four blanks.
func codeLine(line string) string {
	line = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(line, "\t", "    "))
	return strings.TrimRightFunc(line, unicode.IsSpace)
}

// AddCode appends the lines of a block of code without the indentation that they have in common.
func (d *Document) AddCode(lines []string) {
	lines = slices.Clone(lines)
	common := -1
	for i, line := range lines {
		lines[i] = codeLine(line)
		if indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " ")); lines[i] != "" && (common < 0 || indent < common) {
			common = indent
		}
	}
	for _, line := range lines {
		if line != "" {
			d.Add(Code, line[common:])
		}
	}
}

// DemoteTitle makes the title a heading if it is only the first of several headings of its kind, such as the dates of a diary
// ("Monday 3 June", "Tuesday 4 June") or questions. taken reports whether the title was taken out of the text; if not, the
// first heading of its kind is the title itself.
func (d *Document) DemoteTitle(taken bool) {
	title := english.Collapse(d.Title)
	kind := shape(title)
	asks := strings.HasSuffix(title, "?")
	if !strings.Contains(kind, "0") && !asks {
		return
	}
	for _, b := range d.Blocks {
		if b.Kind == Heading && b.Text != title && (shape(b.Text) == kind || asks && strings.HasSuffix(b.Text, "?")) {
			if first := d.Blocks[0]; taken || first.Kind != Heading || first.Text != title {
				d.Blocks = slices.Insert(d.Blocks, 0, Block{Kind: Heading, Level: b.Level, Text: title})
			}
			d.Title = ""
			return
		}
	}
}

// shape returns a text with a 0 for each word with figures and an a for each other word.
func shape(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsAny(word, "0123456789") {
			b.WriteByte('0')
		} else {
			b.WriteByte('a')
		}
	}
	return b.String()
}
