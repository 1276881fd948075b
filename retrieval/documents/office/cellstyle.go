package office

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cellStyles reads how a workbook shows numbers: as they are, with a currency or a unit, as dates and times, or as shares.
type cellStyles struct {
	unhandled
	own    map[string]numberForm // the workbook's own forms, by number
	forms  []numberForm          // by style
	inside bool                  // the styles of cells
}

// numberForm says how a number is shown.
type numberForm struct {
	signs          string // those of "%ydhs" that the form has, "H" for hours that are counted beyond a day, and up to four "m" for months without hours
	before, behind string // text around the number, such as a currency or a unit
	decimals       int    // shown, if the form has text or leading zeros
	zeros          int    // least number of figures before the decimals, as of a post code
	within         []withinNumber
}

// withinNumber is text between figures, as in 000-00-0000.
type withinNumber struct {
	text   string
	behind int // figures before the decimals that stand behind it
}

// plain reports whether a form shows a number as it is.
func (f numberForm) plain() bool {
	return f.before == "" && f.behind == "" && f.zeros < 2 && f.within == nil
}

func (c *cellStyles) start(name string, attrs attributes) {
	switch name {
	case "numFmt":
		if form := attrs.get("formatCode"); form != "" && len(c.own) <= maxStyles {
			c.own[attrs.get("numFmtId")] = formOf(form)
		}
	case "cellXfs":
		c.inside = true
	case "xf":
		if c.inside && len(c.forms) <= maxStyles {
			c.forms = append(c.forms, c.form(attrs.get("numFmtId")))
		}
	}
}

func (c *cellStyles) end(name string) {
	if name == "cellXfs" {
		c.inside = false
	}
}

// form returns the form of a number. The workbook does not spell out the first 50.
func (c *cellStyles) form(id string) numberForm {
	if own, ok := c.own[id]; ok {
		return own
	}
	switch n, _ := strconv.Atoi(id); {
	case n == 9 || n == 10:
		return numberForm{signs: "%"}
	case n >= 14 && n <= 16:
		return numberForm{signs: "yd"}
	case n == 17:
		return numberForm{signs: "mmmy"}
	case n == 46:
		return numberForm{signs: "H"}
	case n >= 18 && n <= 21, n == 45, n == 47:
		return numberForm{signs: "hs"}
	case n == 22:
		return numberForm{signs: "ydhs"}
	}
	return numberForm{}
}

// formPart matches a part of a form: text in quotation marks, what stands in brackets, a sign after a mark that makes it text (\),
// leaves its width free (_) or fills the cell with it (*), "General", or a single sign.
var formPart = regexp.MustCompile(`(?is)"[^"]*"|\[[^\]]*\]|[\\_*].|general|.`)

// Bounds of a form.
const (
	maxAround  = 24 // bytes of the text before and behind a number; a longer one is no unit
	maxFigures = 24 // figures that are always shown
	maxWithin  = 8  // texts between figures
)

// formOf reads a form up to its first semicolon, behind which stand the forms of negative and other numbers. Cells share a form, which
// may be long: so this is done once for each.
func formOf(code string) (f numberForm) {
	around := &f.before
	figures, point, comma, partly := false, false, false, false // what was read so far
	months := ""                                                // or minutes
	for _, part := range formPart.FindAllString(code, -1) {
		if part == ";" {
			break
		}
		sign := strings.ToLower(part)
		switch {
		case strings.HasPrefix(sign, "[h"):
			f.signs += "H"
		case part[0] == '[' && strings.ContainsAny(part, "<>="):
			partly = true // only some numbers are shown like this
		case strings.Contains("%ydhs", sign):
			f.signs += sign
		case sign == "m":
			months += sign
		case strings.Contains("0#?", part), sign == "general":
			if figures, comma, around = true, false, &f.behind; point {
				f.decimals++
			} else {
				f.figure(part == "0")
			}
		case part == ".":
			point = true
		case part == ",":
			comma = figures
		default:
			*around += textOf(part)
		}
	}
	if !figures && !strings.ContainsAny(f.signs, "hsH") {
		f.signs += months[:min(len(months), 4)]
	}
	f.before, f.behind = strings.TrimLeft(f.before, " "), strings.TrimRight(f.behind, " ")
	fraction := slices.ContainsFunc(f.within, func(w withinNumber) bool { return strings.Contains(w.text, "/") })
	// A comma at the end divides the number by 1000, so that the text behind it may be "million".
	if !figures || comma || partly || fraction || len(f.before) > maxAround || len(f.behind) > maxAround || f.signs != "" {
		f.before, f.behind, f.zeros, f.within = "", "", 0, nil
	}
	return f
}

// figure takes a figure before the decimals, which may be a zero that is always shown. What stood behind the figures before it stands
// within the number.
func (f *numberForm) figure(zero bool) {
	for i := range f.within {
		f.within[i].behind++
	}
	if f.behind != "" && len(f.within) < maxWithin {
		f.within = append(f.within, withinNumber{f.behind, 1})
	}
	f.behind = ""
	if zero || f.zeros > 0 {
		f.zeros = min(f.zeros+1, maxFigures)
	}
}

// textOf returns the text that a part of a form shows.
func textOf(part string) string {
	switch {
	case strings.HasPrefix(part, "[$"): // a currency with a language: [$€-407]
		name, _, _ := strings.Cut(strings.Trim(part, "[$]"), "-")
		return name
	case part[0] == '"':
		return strings.ReplaceAll(strings.Trim(part, `"`), "\u00a0", " ")
	case part[0] == '\\':
		return strings.ReplaceAll(part[1:], "\u00a0", " ")
	case strings.TrimSpace(part) == "":
		return " "
	case strings.Contains("$€£¥₹₺₽₩-/()", part):
		return part
	}
	return ""
}

// shown returns a number in the form of a cell's style.
func (c *cellStyles) shown(value, style string, since1904 bool) string {
	i, err := strconv.Atoi(style)
	if err != nil || i < 0 || i >= len(c.forms) {
		i = -1
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return value
	}
	form := numberForm{}
	if i >= 0 {
		form = c.forms[i]
	}
	layout := form.layout()
	switch {
	case strings.Contains(form.signs, "%"):
		return plainNumber(n*100) + " %"
	case strings.Contains(form.signs, "H") && math.Abs(n) < maxDay:
		minutes := int64(math.Round(math.Abs(n) * 24 * 60))
		return fmt.Sprintf("%s%d:%02d", minus(n), minutes/60, minutes%60)
	case layout != "" && n >= 0 && n < maxDay:
		return dayShown(n, layout, since1904)
	case !form.plain():
		return minus(n) + form.before + form.number(math.Abs(n)) + form.behind
	}
	return plainNumber(n)
}

// number writes a number with its leading zeros and the text between its figures. Without decimals in the form it keeps its own.
func (f numberForm) number(n float64) string {
	text := plainNumber(n)
	if n >= 1e15 {
		return text
	}
	if f.decimals > 0 {
		text = strconv.FormatFloat(n, 'f', min(f.decimals, 6), 64)
	}
	whole, rest, ok := strings.Cut(text, ".")
	if ok {
		rest = "." + rest
	}
	whole = strings.Repeat("0", max(0, f.zeros-len(whole))) + whole
	end := len(whole)
	for _, w := range slices.Backward(f.within) {
		if at := len(whole) - w.behind; at > 0 {
			rest, end = w.text+whole[at:end]+rest, at
		}
	}
	return whole[:end] + rest
}

// minus returns the sign before a number.
func minus(n float64) string {
	if n < 0 {
		return "-"
	}
	return ""
}

// maxDay is the number of the first day after the year 9999, the last that a workbook may have.
const maxDay = 2958466

// dayShown returns a number of days since the end of 1899, or since 1904, in a layout of package time.
func dayShown(n float64, layout string, since1904 bool) string {
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case since1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 60: // which Excel took for 29 February 1900
		first = first.AddDate(0, 0, 1)
	}
	whole := math.Floor(n)
	t := first.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round((n-whole)*24*60*60)) * time.Second)
	return t.Format(layout)
}

// layout returns how package time writes the day, the month or the time that the form shows, "" if it shows none.
func (f numberForm) layout() string {
	year, day, clock := strings.Contains(f.signs, "y"), strings.Contains(f.signs, "d"), strings.ContainsAny(f.signs, "hs")
	month := "January"
	switch strings.Count(f.signs, "m") {
	case 0:
		month = ""
	case 3:
		month = "Jan"
	}
	switch {
	case month != "" && !day && year:
		return month + " 2006"
	case month != "" && !day:
		return month
	case (day || year) && clock:
		return "2006-01-02 15:04"
	case day || year:
		return "2006-01-02"
	case clock:
		return "15:04"
	}
	return ""
}

// plainNumber writes a number as people do. Workbooks keep up to 17 figures, of which the last are noise: 0.30000000000000004.
func plainNumber(n float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil {
		rounded = n
	}
	if math.Abs(rounded) >= 1e15 {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
