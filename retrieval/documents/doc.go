// Package documents turns files into documents: a title and blocks of text. It reads plain text, Markdown, HTML, PDF, Word
// and OpenDocument text, EPUB, comma-separated values and mail.
//
// The lines on a PDF's page make the cells of tables: where there are lines, they say what belongs together, and where there
// are none, only gaps do.
//
// Parsing knows nothing of passages, indexes or models. PDFs are read by PDFium, which runs as WebAssembly with bounds on
// memory and time; programs say with SetPDFium where its compiled code is kept. The other parsers bound what they unpack,
// how deep it nests and how much text they make.
package documents
