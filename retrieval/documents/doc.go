// Package documents turns files into documents: a title and blocks of text. It reads plain text, Markdown, HTML, PDF, Word
// and OpenDocument text, EPUB, comma-separated values and mail.
//
// Parsing knows nothing of passages, indexes or models. Package office reads DOCX, ODT and EPUB. Package pdf reads PDFs;
// programs say with SetPDFium where it keeps compiled code. The parsers bound what they unpack, how deep it nests and how much
// text they make.
package documents
