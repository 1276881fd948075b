package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// Bounds of reading one PDF.
const (
	maxMemory    = 256 << 20 // bytes that PDFium may use
	maxText      = blocks.MaxText
	maxPageChars = 1 << 19 // characters on a page
	maxPageTime  = 20 * time.Second
	maxStarts    = 4               // starts of PDFium for one file
	maxTime      = 5 * time.Minute // enough for some thousand pages; a single slow page is refused much earlier
)

// tooMuch is the error for a PDF that is sound but exceeds a bound.
type tooMuch string

func (t tooMuch) Error() string { return string(t) }

var (
	errTooLarge = tooMuch(fmt.Sprintf("reading it takes more than %d MB of memory (split it into parts)", maxMemory>>20))
	errTooLong  = tooMuch(fmt.Sprintf("more than %d MB of text (split it)", maxText>>20))
	errTooLate  = tooMuch(fmt.Sprintf("a page of it was not read within %v", maxPageTime))
	errTooMany  = tooMuch(fmt.Sprintf("not read within %v (split it)", maxTime))
)

// Parse returns the text of a PDF, with an empty title if it has none. Its errors are for the user to read. When ctx ends, Parse
// stops PDFium and lays out no further page.
func Parse(ctx context.Context, data []byte) (blocks.Document, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 1024)], "\x00\t\n\f\r "), []byte("%PDF-")) {
		return blocks.Document{}, errors.New("not a PDF, despite its name")
	}
	return shared.parse(ctx, data)
}

// parse reads the text of a PDF.
func (h *host) parse(ctx context.Context, data []byte) (blocks.Document, error) {
	var d document
	err := errCrashed
	for try := 0; try < maxStarts && err == errCrashed; try++ { // goes on after the page at which PDFium crashed
		err = h.use(ctx, func(lib pdfium.Pdfium, tick func()) error {
			before := d.objects
			err := d.read(lib, data, tick)
			h.running.objects += d.objects - before
			return err
		})
	}
	if err != nil {
		return blocks.Document{}, err
	}
	doc := d.layout(ctx)
	if len(doc.Blocks) == 0 {
		return blocks.Document{}, errors.New("no text in it (a scanned PDF?)")
	}
	return doc, nil
}

// document is what PDFium knows of a file.
type document struct {
	title   string
	pages   []page
	next    int   // the page to read next
	bytes   int   // of text
	objects int   // objects of pages and segments of paths that were looked at
	err     error // of the last page that could not be read
}

// page is the text of a page, and the cells in which some of it stands.
type page struct {
	runs  []run
	grids []grid
}

// read reads the title and the pages from d.next on. It calls tick before each page.
func (d *document) read(lib pdfium.Pdfium, data []byte, tick func()) error {
	opened, err := lib.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return openError(err)
	}
	defer lib.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: opened.Document})
	if meta, err := lib.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: opened.Document, Tag: "Title"}); err == nil {
		d.title = ownTitle(meta.Value)
	}
	count, err := lib.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil {
		return err
	}
	for d.next < count.PageCount {
		tick()
		d.next++
		page, err := d.readPage(lib, opened.Document, d.next-1)
		switch {
		case errors.As(err, new(tooMuch)), crashed(err):
			return err
		case err != nil: // the other pages may be sound
			d.err = err
			continue
		}
		for _, r := range page.runs {
			d.bytes += len(r.text)
		}
		if d.bytes > maxText {
			return errTooLong
		}
		d.pages = append(d.pages, page)
	}
	if d.bytes == 0 && d.err != nil {
		return damaged(d.err)
	}
	return nil
}

// openError says in plain words why PDFium did not open a file.
func openError(err error) error {
	switch {
	case errors.Is(err, pdferrors.ErrPassword):
		return errors.New("encrypted PDF (it needs a password)")
	case errors.Is(err, pdferrors.ErrSecurity):
		return errors.New("encrypted PDF (in a way that is not supported)")
	}
	if crashed(err) {
		return err
	}
	return damaged(err)
}

// damaged wraps an error of PDFium about the file.
func damaged(err error) error {
	_, reason, ok := strings.Cut(err.Error(), ": ") // after PDFium's number
	if !ok {
		reason = err.Error()
	}
	return fmt.Errorf("damaged PDF (%s)", english.Collapse(strings.ToValidUTF8(reason, "\ufffd")))
}

// ownTitle returns the title in the file's information, unless a program put it there for want of one.
func ownTitle(title string) string {
	title = english.Collapse(title)
	low := strings.ToLower(title)
	if strings.HasPrefix(low, "microsoft word") || strings.HasPrefix(low, "untitled") || low == "(anonymous)" || isFileName(low) {
		return ""
	}
	return title
}

// isFileName reports whether a title is a file name.
func isFileName(title string) bool {
	for _, ext := range []string{".doc", ".docx", ".odt", ".rtf", ".tex", ".dvi", ".pdf", ".indd", ".pages", ".xls", ".xlsx", ".ods", ".ppt", ".pptx", ".odp", ".html", ".htm", ".md", ".txt"} {
		if strings.HasSuffix(title, ext) {
			return true
		}
	}
	return false
}

// readPage returns the text of page i of a document.
func (d *document) readPage(lib pdfium.Pdfium, doc references.FPDF_DOCUMENT, i int) (out page, err error) {
	at := requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: i}}
	text, err := lib.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at})
	if err != nil {
		return out, err
	}
	defer lib.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	n, err := lib.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return out, err
	}
	if n.Count > maxPageChars {
		return out, tooMuch(fmt.Sprintf("more than %d characters on page %d", maxPageChars, i+1))
	}
	chars, err := lib.GetPageTextStructured(&requests.GetPageTextStructured{Page: at, Mode: requests.GetPageTextStructuredModeChars})
	if err != nil {
		return out, err
	}
	t := pageText{lib: lib, page: text.TextPage, chars: chars.Chars}
	drawn := d.drawing(lib, at)
	t.findGrids(drawn.rules)
	runs := t.runs()
	return page{t.bulleted(runs, drawn.dots), t.grids}, nil
}
