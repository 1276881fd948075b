// Package blocks has the common form of all files, a title and blocks of text, and what parsers of different formats do alike
// to make it: they add headings, code and tables. A parser gives the cells of a table; the package finds what names its
// columns, repeats merged cells, and writes rows, or lines if there are only names and values.
//
// It knows no file format. What it adds to a document is bounded: the number of blocks, and what short files could make long,
// such as merged cells.
package blocks
