// Package documents turns files into documents: a title and blocks of text. It reads plain text, Markdown, HTML, PDF, Word
// and OpenDocument text, EPUB, comma-separated values and mail.
//
// Parsing knows nothing of passages, indexes or models. A file of a few hundred bytes can make a PDF library use any
// amount of memory or time, so programs call SandboxPDFs to have PDFs read by a child process with limits on both. The
// other parsers bound what they unpack, how deep it nests and how much text they make.
package documents
