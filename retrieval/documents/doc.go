// Package documents turns files into documents: a title and blocks of text. It reads plain text, Markdown, HTML, PDF, Word
// and OpenDocument text, EPUB, comma-separated values and mail.
//
// A PDF has no paragraphs, lists or tables, only letters and lines at positions. Tables are found by lines and shading;
// without these, by columns of space that all rows leave free, and by the order in which the file draws the text. Paragraphs
// are found by where lines begin and end, headings by size, weight and space.
//
// Parsing knows nothing of passages, indexes or models. PDFs are read by PDFium, which runs as WebAssembly with bounds on
// memory and time; programs say with SetPDFium where its compiled code is kept. The other parsers bound what they unpack,
// how deep it nests and how much text they make.
package documents
