package office

import (
	"context"
	"encoding/xml"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/retrieval/internal/blocks"
)

// ODS reads the sheets of an OpenDocument spreadsheet as XLSX does those of a workbook. Amounts of money are written as the sheet
// shows them.
func (r Reader) ODS(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openODF(ctx, data, "an .ods spreadsheet")
	if err != nil {
		return blocks.Document{}, err
	}
	o := &ods{hides: map[string]bool{}}
	if err := a.scan("content.xml", o); err != nil {
		return blocks.Document{}, err
	}
	if o.grid.err != nil {
		return blocks.Document{}, o.grid.err
	}
	doc := blocks.Document{}
	for _, s := range o.sheets {
		if o.count > 1 && len(s.rows) > 0 {
			doc.AddHeading(2, s.name)
		}
		doc.Blocks = append(doc.Blocks, r.Rows(s.rows).Blocks...)
	}
	if len(doc.Blocks) == 0 {
		return blocks.Document{}, errors.New("no text in it (only empty sheets?)")
	}
	return doc, nil
}

// ods reads content.xml of a spreadsheet.
type ods struct {
	sheets []odsSheet
	count  int             // of the sheets, with the hidden ones
	hides  map[string]bool // the styles of sheets that are not shown
	style  string          // the style being read
	grid   grid

	tables int // that have not ended: a cell may hold another
	skip   int // depth below an element that is left out

	rows, columns int  // how often the current row and the current cell stand there
	column        int  // the current one
	inCell        bool // one that no other covers
	attrs         attributes
	shown         strings.Builder
	inText        int // depth of paragraphs
}

type odsSheet struct {
	name string
	rows [][]string
}

// odsLeftOut are elements whose text is no cell's.
var odsLeftOut = []string{"annotation", "shapes", "frame", "custom-shape", "tracked-changes", "content-validations", "forms", "scripts"}

func (o *ods) start(name string, attrs attributes) {
	if o.skip > 0 || slices.Contains(odsLeftOut, name) || name == "table" && o.tables == 0 && o.hides[attrs.get("style-name")] {
		if o.skip == 0 && name == "table" {
			o.count++
		}
		o.skip++
		return
	}
	switch name {
	case "style":
		o.style = attrs.get("name")
	case "table-properties":
		if attrs.get("display") == "false" {
			o.hides[o.style] = true
		}
	case "table":
		if o.tables++; o.tables == 1 {
			o.count++
			o.grid.rows = nil
			o.sheets = append(o.sheets, odsSheet{name: attrs.get("name")})
		}
	case "table-row":
		if o.tables == 1 {
			o.grid.addRow()
			o.rows, o.column = repetitions(attrs.get("number-rows-repeated")), 0
		}
	case "table-cell", "covered-table-cell":
		if o.tables == 1 && len(o.grid.rows) > 0 {
			o.columns, o.inCell, o.attrs = repetitions(attrs.get("number-columns-repeated")), name == "table-cell", attrs
			o.shown.Reset()
		}
	default:
		o.startText(name, attrs)
	}
}

// repetitions returns how often a row or a cell stands there, at least once.
func repetitions(count string) int {
	n, _ := strconv.Atoi(count)
	return max(1, min(n, sheetCells))
}

// startText handles the elements of a cell's text.
func (o *ods) startText(name string, attrs attributes) {
	switch {
	case !o.inCell:
	case name == "p":
		if o.inText++; o.shown.Len() > 0 {
			o.shown.WriteByte(' ')
		}
	case name == "s", name == "tab", name == "line-break":
		o.shown.WriteByte(' ')
	}
}

func (o *ods) text(s string) {
	if o.inText > 0 && o.skip == 0 {
		o.shown.WriteString(s)
	}
}

func (o *ods) end(name string) {
	if o.skip > 0 {
		o.skip--
		return
	}
	switch name {
	case "style":
		o.style = ""
	case "table":
		if o.tables--; o.tables == 0 {
			o.sheets[len(o.sheets)-1].rows, o.grid.rows = o.grid.rows, nil
		}
	case "table-row":
		if o.tables == 1 && len(o.grid.rows) > 0 {
			o.grid.repeatRow(o.rows - 1)
		}
	case "table-cell", "covered-table-cell":
		if o.tables == 1 && len(o.grid.rows) > 0 {
			o.cell()
			o.inCell, o.inText = false, 0
		}
	case "p":
		o.inText = max(0, o.inText-1)
	}
}

// cell takes a cell that has ended. The empty ones at a row's end stand for the rest of the sheet's columns.
func (o *ods) cell() {
	text := ""
	if o.inCell {
		text = o.value()
	}
	for i := 0; i < o.columns && text != ""; i++ {
		if i > 0 && !o.grid.again(len(text)+barSize) {
			break
		}
		o.grid.put(o.column+i, text)
	}
	o.column = min(o.column+o.columns, sheetColumns)
}

// value returns what the current cell shows.
func (o *ods) value() string {
	shown := strings.TrimSpace(o.shown.String())
	switch value := o.attrs.get("value"); o.attrs.get("value-type") {
	case "float", "percentage":
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
			return shown
		case o.attrs.get("value-type") == "percentage":
			return plainNumber(n*100) + " %"
		}
		number := plainNumber(n)
		if figures := notFigures.ReplaceAllString(shown, ""); len(figures) > len(number) && strings.TrimLeft(figures, "0") == number {
			return shown // a code with leading zeros
		}
		return number
	case "date":
		if day, clock, timed := strings.Cut(o.attrs.get("date-value"), "T"); day != "" && len(day) < 16 {
			if timed && len(clock) >= 5 && clock[:5] != "00:00" {
				return day + " " + clock[:5]
			}
			return day
		}
	case "time":
		if clock := odsTime.FindStringSubmatch(o.attrs.get("time-value")); clock != nil {
			return clock[1] + ":" + clock[2]
		}
	case "boolean":
		return map[string]string{"false": "no", "true": "yes"}[o.attrs.get("boolean-value")]
	}
	if slices.ContainsFunc(o.attrs, func(a xml.Attr) bool { return a.Name.Local == "value-type" && a.Value == "error" }) {
		return "" // such as #REF!
	}
	return shown
}

// notFigures matches what stands between the figures of a number.
var notFigures = regexp.MustCompile(`[^0-9]+`)

// odsTime matches a time of a day, or how long something takes.
var odsTime = regexp.MustCompile(`^PT(\d{1,4})H(\d{1,2})M`)
