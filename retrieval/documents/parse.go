package documents

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/retrieval/documents/office"
	"tandem/retrieval/documents/pdf"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// parser reads one kind of file.
type parser struct {
	extensions []string // in lower case, with the dot; or whole names of files
	limit      int64    // bytes
	parse      func(ctx context.Context, data []byte) (Document, error)
}

// Version counts the changes to what the parsers make of files, and to the terms that engines keep of that. An index reads again
// what another version parsed.
const Version = 24

const (
	textLimit = 8 << 20
	pdfLimit  = 32 << 20
)

// packed reads archives. They hold plain text and HTML.
var packed = office.Reader{
	Lines: func(ctx context.Context, lines []string) Document { return textDocument(ctx, lines, false) },
	Page:  parseHTML,
	Rows:  sheetDocument,
}

// parsers read all files, fileParsers those that a mail may have attached, apart from other mails.
var parsers, fileParsers []*parser

func init() { // since parsers of mail call these
	fileParsers = []*parser{
		{[]string{".txt", ".text", ".log", ""}, textLimit, parseText},
		{[]string{".md", ".markdown", ".mdown", ".mkd"}, textLimit, parseMarkdown},
		{[]string{".org"}, textLimit, parseOrg},
		{[]string{".rst", ".rest"}, textLimit, parseRST},
		{[]string{".adoc", ".asciidoc"}, textLimit, parseAsciiDoc},
		{[]string{".tex", ".ltx"}, textLimit, parseTeX},
		{[]string{".html", ".htm", ".xhtml"}, textLimit, parseHTML},
		{[]string{".csv", ".tsv", ".tab"}, textLimit, parseCSV},
		{[]string{".json", ".jsonl", ".ndjson", ".geojson"}, textLimit, parseJSON},
		{[]string{".yaml", ".yml"}, yamlLimit, parseYAML},
		{[]string{".toml"}, textLimit, parseTOML},
		{iniExtensions, textLimit, parseINI},
		{[]string{".xml"}, textLimit, parseXML},
		{codeExtensions, textLimit, parseCode},
		{[]string{".srt", ".vtt"}, textLimit, parseSubtitles},
		{[]string{".ics"}, textLimit, parseCalendar},
		{[]string{".vcf"}, textLimit, parseContacts},
		{[]string{".docx", ".docm", ".dotx"}, office.Limit, packed.DOCX},
		{[]string{".odt", ".ott"}, office.Limit, packed.ODT},
		{[]string{".xlsx", ".xlsm"}, office.Limit, packed.XLSX},
		{[]string{".ods", ".ots"}, office.Limit, packed.ODS},
		{[]string{".pptx", ".pptm", ".ppsx", ".potx"}, office.Limit, packed.PPTX},
		{[]string{".odp", ".otp"}, office.Limit, packed.ODP},
		{[]string{".rtf"}, office.Limit, parseRTF},
		{[]string{".epub"}, office.Limit, packed.EPUB},
		{[]string{".pdf"}, pdfLimit, pdf.Parse},
	}
	parsers = append(slices.Clip(fileParsers),
		&parser{[]string{".eml"}, mailLimit, parseMail},
		&parser{[]string{".mht", ".mhtml"}, mailLimit, parseWebArchive},
		&parser{[]string{".mbox"}, mailboxLimit, parseMailbox},
	)
}

// parserOf returns the parser of a file name.
func parserOf(name string) (*parser, error) {
	if p := parserFor(parsers, name); p != nil {
		return p, nil
	}
	ext := extension(name)
	if way := ways[ext]; way != "" {
		return nil, fmt.Errorf("unsupported type %s (%s)", ext, way)
	}
	return nil, fmt.Errorf("unsupported type %s (%s are read)", ext, formats)
}

// extension returns the extension of a file name in lower case, with the dot.
func extension(name string) string { return strings.ToLower(path.Ext(baseName(name))) }

// baseName returns a file name without its folders.
func baseName(name string) string { return path.Base(strings.ReplaceAll(name, "\\", "/")) }

// parserFor returns the one of some parsers that is for a file name, or nil: for the whole name, for its extension, or, if a kind of
// file has that name, for what stands before the extension, as in ".env.local".
func parserFor(list []*parser, name string) *parser {
	base := strings.ToLower(baseName(name))
	for _, kind := range []string{base, path.Ext(base), strings.TrimSuffix(base, path.Ext(base))} {
		i := slices.IndexFunc(list, func(p *parser) bool { return slices.Contains(p.extensions, kind) })
		if i >= 0 && (kind != "" || !strings.Contains(base, ".")) { // nothing stands before the extension of ".local"
			return list[i]
		}
	}
	return nil
}

// formats names the formats that are read, for people.
const formats = "text, Markdown, Org, RST, AsciiDoc, LaTeX, HTML (also .mhtml), PDF, DOCX, ODT, RTF, EPUB, XLSX, ODS, CSV, PPTX, ODP, JSON, YAML, TOML, INI, XML, source code, mail (.eml, .mbox), calendars (.ics), contacts (.vcf) and subtitles (.srt, .vtt)"

// ways says what to do with files of some types that are not read.
var ways = map[string]string{
	".doc": asDocument, ".dot": asDocument, ".pages": asDocument, ".wpd": asDocument, ".wps": asDocument,
	".xls": asTable, ".xlsb": asTable, ".numbers": asTable,
	".ppt": asSlides, ".pps": asSlides, ".key": asSlides, ".ps": asPDF, ".djvu": asPDF, ".xps": asPDF,
	".msg": asMail, ".pst": asMail, ".ost": asMail,
	".mobi": asBook, ".azw": asBook, ".azw3": asBook, ".fb2": asBook,
}

const (
	asDocument = "save it as .docx or PDF"
	asTable    = "save it as .xlsx, or as CSV, a file for each sheet"
	asSlides   = "save it as .pptx or PDF"
	asPDF      = "save it as PDF"
	asMail     = "save its messages as .eml"
	asBook     = "convert it to EPUB"
)

// Limit returns the size in bytes up to which a file of that name is read, or an error if its type is not supported.
func Limit(name string) (int64, error) {
	p, err := parserOf(name)
	if err != nil {
		return 0, err
	}
	return p.limit, nil
}

// Parse turns the contents of the file called name into a document with a title. Its errors are for the user to read.
// When ctx ends, Parse returns ctx's error at once. A parser that is still busy stops at the next block that it reads.
func Parse(ctx context.Context, name string, data []byte) (Document, error) {
	p, err := parserOf(name)
	if err != nil {
		return Document{}, err
	}
	var doc Document
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer contain(&err)
		doc, err = p.parse(ctx, data)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Document{}, ctx.Err()
	}
	if err != nil {
		return Document{}, err
	}
	if len(doc.Blocks) >= blocks.MaxBlocks {
		return Document{}, errManyBlocks
	}
	return finish(doc, name), nil
}

var errManyBlocks = fmt.Errorf("it has more than %d lines, list items, rows or paragraphs: divide it into several files", blocks.MaxBlocks-1)

// ErrPDFium is wrapped by the errors that are not the file's fault: reading it again may succeed.
var ErrPDFium = pdf.ErrStart

// SetPDFium says how Parse reads PDFs. The compiled code of PDFium is kept in the folder cache, which is created; with an
// empty name it is compiled once for each process. If preparing is not nil, it is called when the first PDF has to wait for
// that. Call SetPDFium before Parse.
func SetPDFium(cache string, preparing func()) { pdf.Configure(cache, preparing) }

// fault is a panic of a parser. It becomes an error for the file, so that no file can end the program.
type fault struct{ panicked any }

func (f *fault) Error() string {
	return fmt.Sprintf("the program made a mistake in reading it (%v); please report it with the file", f.panicked)
}

// contain, deferred, turns a panic into an error.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = &fault{p}
	}
}

// finish gives a document its title, turns headings that are too long into paragraphs, and writes a colon for dots before values.
func finish(doc Document, name string) Document {
	if doc.Title = english.Shorten(doc.Title, MaxTitle); doc.Title == "" {
		doc.Title = titleFrom(name)
	}
	if from := sender(doc); from != "" && !strings.Contains(strings.ToLower(doc.Title), strings.ToLower(from)) {
		doc.Title += ", from " + from // all passages carry it
	}
	if len(doc.Blocks) > 0 && doc.Blocks[0].Kind == Heading && strings.EqualFold(doc.Blocks[0].Text, doc.Title) {
		doc.Blocks = doc.Blocks[1:] // every passage carries the title anyway
	}
	for i, b := range doc.Blocks {
		if b.Kind == Heading && english.CountWords(b.Text) > MaxHeading {
			doc.Blocks[i] = Block{Kind: Paragraph, Apart: b.Apart, Text: b.Text}
		}
		if text, ok := labelled(b.Text); ok && (b.Kind == Paragraph || b.Kind == Line) {
			doc.Blocks[i].Kind, doc.Blocks[i].Text = Line, text
		}
	}
	return composed(doc)
}

func composed(doc Document) Document {
	doc.Title = words.Composed(doc.Title)
	for i := range doc.Blocks {
		doc.Blocks[i].Text = words.Composed(doc.Blocks[i].Text)
	}
	return doc
}

// titleFrom makes a title from a file name: "lake-cabin_2.md" becomes "Lake cabin 2". What is no extension of a kind of file, as in
// "Dockerfile.dev", tells files apart, and stays.
func titleFrom(name string) string {
	base := baseName(name)
	if ext := path.Ext(base); ext != base && parserFor(parsers, "a"+ext) != nil {
		base = strings.TrimSuffix(base, ext)
	}
	title := english.Collapse(strings.NewReplacer("-", " ", "_", " ", ".", " ").Replace(base))
	if title == "" {
		return strings.ToValidUTF8(base, "\ufffd")
	}
	return english.Capitalise(title)
}
