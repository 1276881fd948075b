// Package documents turns files into documents: a title and blocks of text. It reads plain text, Markdown, Org,
// reStructuredText, AsciiDoc, LaTeX, HTML, web archives, PDF, Rich Text, the texts, spreadsheets and presentations of Microsoft's
// programs and of OpenDocument, EPUB, comma-separated values, JSON, YAML, TOML, INI, XML, source code, mail, calendars, address books
// and subtitles.
//
// Parsing knows nothing of passages, indexes or models. Package office reads office programs' files and EPUB. Package pdf reads PDFs;
// programs say with SetPDFium where it keeps compiled code. The parsers bound what they unpack, how deep it nests and how much
// text they make.
package documents
