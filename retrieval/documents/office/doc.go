// Package office reads the files of office programs and electronic books, which are zip archives of XML: Word (DOCX), Excel (XLSX),
// PowerPoint (PPTX), OpenDocument texts, spreadsheets and presentations (ODT, ODS, ODP), and EPUB.
//
// An archive unpacks its entries within bounds and hands the elements of an XML file to a handler. The handlers for texts and
// presentations send their paragraphs and tables to a flow, which makes a document of them; so the formats differ only in
// how they say the same. A deck has a flow for each slide. A workbook is rows of cells, and a book is a list of pages in HTML.
//
// The package knows neither HTML nor plain text: its caller passes functions that read them. It opens no file, and it knows no
// name of one, so a document whose file names no title has none. A few kilobytes may unpack to gigabytes; archive.go has the
// bounds. Once the context has ended, reading stops at the next piece.
package office

import (
	"context"

	"tandem/retrieval/internal/blocks"
)

// Limit is the size in bytes of the largest file that should be read.
const Limit = 64 << 20

// Reader reads files. Its functions read what these hold of other formats; those with a context stop when it ends.
type Reader struct {
	Lines func(ctx context.Context, lines []string) blocks.Document       // a paragraph with line breaks
	Page  func(ctx context.Context, html []byte) (blocks.Document, error) // a chapter of a book
	Rows  func(rows [][]string) blocks.Document                           // a sheet of a workbook
}

// maxMark bounds the number or bullet, in bytes, that is written before an item of a list.
const maxMark = 64
