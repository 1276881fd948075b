package documents

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
)

// Bounds of reading a table of values.
const (
	csvSample = 50       // records by which the separator is found
	csvFields = 1 << 10  // fields of a record
	csvField  = 16 << 10 // bytes of a field; more is taken for a quotation mark that nothing closes
)

// parseCSV reads comma-separated values, or those with another separator: semicolon, tab or bar. The first row names the
// columns unless it has figures itself.
func parseCSV(ctx context.Context, data []byte) (Document, error) {
	text, err := readText(data)
	if err != nil {
		return Document{}, err
	}
	var separator rune
	if m := namedSeparator.FindStringSubmatch(text); m != nil {
		separator, _ = utf8.DecodeRuneInString(m[1])
		text = text[len(m[0]):]
	} else {
		separator = findSeparator(text)
	}
	rows, err := records(ctx, text, separator, -1)
	if err != nil {
		return Document{}, err
	}
	return sheetDocument(rows), nil
}

// namedSeparator matches a first line that names the separator, as Excel reads it. Some programs put it in quotation marks.
var namedSeparator = lazyregexp.New(`^(?i:"?sep=([^\pL\pN\s"\x{FFFD}]|[\t ])"?)[ ,;]*\r?(?:\n|$)`)

// sheetDocument returns the document in the rows of a sheet, which may hold several tables and lines around them.
func sheetDocument(rows [][]string) (doc Document) {
	width := mostFrequentWidth(rows)
	for len(rows) > 0 && width > 1 && 2*len(rows[0]) <= width { // lines above the table
		doc.Add(Line, strings.Join(rows[0], " "))
		rows = rows[1:]
	}
	tables := tablesOf(rows)
	for _, t := range tables {
		if len(tables) == 1 || widest(t) > 2 {
			doc.AddTable(t, blocks.AssumeHead)
			continue
		}
		for _, row := range t { // what a spreadsheet has above and below its table: names with their values
			doc.Add(Line, blocks.JoinCells(filledCells(row)))
		}
	}
	return doc
}

// tablesOf divides the rows of a spreadsheet into tables, at empty rows below which the number of cells changes.
func tablesOf(rows [][]string) (out [][][]string) {
	from, before := 0, 0 // where the part begins, and the width of the last table
	for i, row := range rows {
		if len(filledCells(row)) > 0 && i+1 < len(rows) {
			continue
		}
		part, last := rows[from:i+1], len(out)-1
		from = i + 1
		switch width := widest(part); width {
		case 0:
		case before:
			out[last] = append(out[last], part...)
		default:
			out, before = append(out, slices.Clone(part)), width
		}
	}
	return out
}

// widest returns the greatest number of filled cells of a row.
func widest(rows [][]string) (most int) {
	for _, row := range rows {
		most = max(most, len(filledCells(row)))
	}
	return most
}

// filledCells returns the cells of a row that have text.
func filledCells(row []string) []string {
	return slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return strings.TrimSpace(cell) == "" })
}

// findSeparator returns the separator by which most of the first records have the same number of fields, more than one.
func findSeparator(text string) rune {
	best, most := ',', 0
	for _, separator := range ",;\t|" {
		rows, _ := records(context.Background(), text, separator, csvSample)
		width, same := mostFrequentWidth(rows), 0
		for _, row := range rows {
			if len(row) == width {
				same++
			}
		}
		if width > 1 && same*64+min(width, 63) > most {
			best, most = separator, same*64+min(width, 63)
		}
	}
	return best
}

// mostFrequentWidth returns the most frequent number of fields of a row; if several are equally frequent, the largest.
func mostFrequentWidth(rows [][]string) (width int) {
	count := map[int]int{}
	for _, row := range rows {
		count[len(row)]++
	}
	for w, n := range count {
		if n > count[width] || n == count[width] && w > width {
			width = w
		}
	}
	return width
}

var errManyFields = errors.New("not a table of values: a line has more than 1024 of them")

// records returns the first n records, or all if n is negative. Text that is broken as CSV is divided at each separator.
func records(ctx context.Context, text string, separator rune, n int) (rows [][]string, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = separator, -1, true, separator != '\t'
	for len(rows) != n {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return rows, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && len(row) > csvFields:
			return rows, errManyFields
		case err != nil, slices.ContainsFunc(row, func(field string) bool { return len(field) > csvField }):
			return plainRecords(text, separator, n)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// plainRecords divides lines at each separator.
func plainRecords(text string, separator rune, n int) (rows [][]string, err error) {
	for line := range strings.SplitSeq(text, "\n") {
		if len(rows) == n {
			break
		}
		row := strings.SplitN(line, string(separator), csvFields+2)
		if len(row) > csvFields {
			return rows, errManyFields
		}
		rows = append(rows, row)
	}
	return rows, nil
}
