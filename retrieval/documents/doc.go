// Package documents turns files into documents: a title and blocks of text. It reads plain text, Markdown, HTML, PDF, Word,
// OpenDocument and Rich Text, EPUB, Excel's workbooks, comma-separated values, mail, calendars and address books.
//
// Parsing knows nothing of passages, indexes or models. Package office reads DOCX, ODT, XLSX and EPUB. Package pdf reads PDFs;
// programs say with SetPDFium where it keeps compiled code. The parsers bound what they unpack, how deep it nests and how much
// text they make.
package documents
