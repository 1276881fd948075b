// Package pdf reads the text of PDFs, with its headings, paragraphs, items of lists and tables.
//
// A PDF has none of these, only letters and lines at positions. PDFium says where they stand. The package finds tables by
// lines and shading or, without these, by columns of space that all rows leave free and by the order in which the file draws
// the text; paragraphs by where lines begin and end; headings by size, weight and space.
//
// A file passes these stages:
//
//	read      parse.go, pdfium.go    PDFium gives the characters of each page
//	draw      drawing.go             and the lines and dots that are drawn on it
//	cells     grids.go, columns.go   lines that cross make cells, lines between rows make rows
//	runs      runs.go                characters become runs: pieces of a line, each in at most one cell
//	unruled   unruled.go             runs that stand in columns make cells without lines
//	margins   layout.go              headers, footers and page numbers are left out
//	lines     lines.go               runs outside cells become lines, column after column
//	tables    tables.go, forms.go    cells become tables, or lines where each holds a name and its value
//	layout    layout.go, hyphen.go   lines become headings, paragraphs and items
//
// The stages up to unruled work on one page, while PDFium has it open. The others need all pages and no PDFium.
//
// A small file may ask for any amount of memory and time. PDFium runs as WebAssembly: its memory is bounded, it is stopped
// when a page or the file takes too long, and it sees no file, no network and no clock. The bounds are in parse.go and
// pdfium.go. The other stages look at each letter and each run a bounded number of times; where a drawing has too many lines
// or a row too many pieces, they look for no cells in it. Once the context has ended they stop at the next page. PDFium reads
// one file at a time.
package pdf
