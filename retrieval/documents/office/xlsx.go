package office

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
)

// Bounds of what sheets share.
const (
	maxStyles = 1 << 16 // of cells, which is more than Excel allows, and of the forms of numbers
	maxSheets = archiveEntries
)

var (
	errStyles = fmt.Errorf("damaged: it has more than %d styles", maxStyles)
	errSheets = fmt.Errorf("damaged: it has more than %d sheets", maxSheets)
)

// XLSX reads the sheets of an Excel workbook as tables, each below a heading if there are several. Cells have the values that
// were last computed; dates, times and shares are written as such, and amounts with their currency or unit. It leaves out hidden sheets, charts and comments.
func (r Reader) XLSX(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openArchive(ctx, data, "an .xlsx workbook")
	if err != nil {
		return blocks.Document{}, err
	}
	const main, dir = "xl/workbook.xml", "xl"
	if !a.has(main) {
		return blocks.Document{}, errors.New("not an .xlsx workbook, despite its name (it has no xl/workbook.xml)")
	}
	book, parts := &workbook{}, &relations{dir: dir, targets: map[string]string{}}
	styles, shared := &cellStyles{own: map[string]numberForm{}}, &sharedStrings{}
	for _, part := range []struct {
		name string
		h    xmlHandler
	}{{main, book}, {"xl/_rels/workbook.xml.rels", parts}, {"xl/styles.xml", styles}, {"xl/sharedStrings.xml", shared}} {
		if err := a.scanIfAny(part.name, part.h); err != nil {
			return blocks.Document{}, err
		}
	}
	switch {
	case len(book.sheets) > maxSheets:
		return blocks.Document{}, errSheets
	case len(styles.forms) > maxStyles, len(styles.own) > maxStyles:
		return blocks.Document{}, errStyles
	case len(shared.texts) > sheetCells:
		return blocks.Document{}, errCells
	}
	return r.sheets(a, book, parts, &sheet{styles: styles, shared: shared.texts, since1904: book.since1904})
}

// sheets returns the document in the sheets of a workbook.
func (r Reader) sheets(a *archive, book *workbook, parts *relations, sheets *sheet) (doc blocks.Document, err error) {
	for _, s := range book.sheets {
		name := parts.targets[s.id]
		if s.hidden || !a.has(name) {
			continue
		}
		sheets.rows = nil
		if err := a.scan(name, sheets); err != nil {
			return blocks.Document{}, err
		}
		if sheets.err != nil {
			return blocks.Document{}, sheets.err
		}
		if len(book.sheets) > 1 && len(sheets.rows) > 0 {
			doc.AddHeading(2, s.name)
		}
		if doc.Blocks = append(doc.Blocks, r.Rows(sheets.rows).Blocks...); len(doc.Blocks) > blocks.MaxBlocks {
			break // the caller refuses the file
		}
	}
	if len(doc.Blocks) == 0 {
		return blocks.Document{}, errors.New("no text in it (only empty sheets?)")
	}
	return doc, nil
}

// workbook reads the list of sheets.
type workbook struct {
	unhandled
	sheets []struct {
		name, id string
		hidden   bool
	}
	since1904 bool // days are counted from then
}

func (w *workbook) start(name string, attrs attributes) {
	switch name {
	case "sheet":
		if len(w.sheets) > maxSheets {
			return
		}
		w.sheets = append(w.sheets, struct {
			name, id string
			hidden   bool
		}{attrs.get("name"), attrs.get("id"), attrs.get("state") == "hidden" || attrs.get("state") == "veryHidden"})
	case "workbookPr":
		w.since1904 = attrs.isTrue("date1904")
	}
}

// sharedStrings reads the texts that cells share.
type sharedStrings struct {
	texts   []string
	current cellText
}

func (s *sharedStrings) start(name string, _ attributes) { s.current.start(name) }
func (s *sharedStrings) text(t string)                   { s.current.add(t) }

func (s *sharedStrings) end(name string) {
	s.current.end(name)
	if name == "si" && len(s.texts) <= sheetCells {
		s.texts = append(s.texts, s.current.take())
	}
}

// cellText collects the text of a cell: that of the elements t, but not how it is pronounced.
type cellText struct {
	b      strings.Builder
	inside bool
	spoken bool
}

func (c *cellText) start(name string) {
	c.spoken = c.spoken || name == "rPh"
	c.inside = (name == "t" || name == "v") && !c.spoken
}

func (c *cellText) add(text string) {
	if c.inside {
		c.b.WriteString(text)
	}
}

func (c *cellText) end(name string) {
	c.inside = false
	if name == "rPh" {
		c.spoken = false
	}
}

func (c *cellText) take() string {
	out := c.b.String()
	c.b.Reset()
	return out
}

// sheet reads the cells of a sheet.
type sheet struct {
	styles    *cellStyles
	shared    []string
	since1904 bool

	grid
	column      int
	kind, style string
	value       cellText
}

func (s *sheet) start(name string, attrs attributes) {
	switch name {
	case "row":
		s.addRow()
		s.column = -1
	case "c":
		s.kind, s.style = attrs.get("t"), attrs.get("s")
		if s.column++; attrs.get("r") != "" {
			s.column = columnOf(attrs.get("r"))
		}
		s.value.take()
	}
	s.value.start(name)
}

func (s *sheet) text(text string) { s.value.add(text) }

func (s *sheet) end(name string) {
	s.value.end(name)
	if name != "c" || len(s.rows) == 0 {
		return
	}
	if text := s.shown(s.value.take()); text != "" && s.column >= 0 {
		s.put(s.column, text)
	}
}

// columnOf returns the column of a cell's name, from 0: "C5" is in column 2. It returns sheetColumns for one beyond.
func columnOf(name string) int {
	n := 0
	for i := 0; i < len(name) && name[i] >= 'A' && name[i] <= 'Z'; i++ {
		if n = n*26 + int(name[i]-'A') + 1; n > sheetColumns {
			return sheetColumns
		}
	}
	return n - 1
}

// shown returns what the current cell shows.
func (s *sheet) shown(value string) string {
	switch s.kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(s.shared) {
			return s.shared[i]
		}
		return ""
	case "b":
		return map[string]string{"0": "no", "1": "yes"}[strings.TrimSpace(value)]
	case "e": // an error, such as #REF!
		return ""
	case "", "n":
		return s.styles.shown(strings.TrimSpace(value), s.style, s.since1904)
	}
	return value
}
