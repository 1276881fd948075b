package office

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// cellStyles reads how a workbook shows numbers: as they are, as dates and times, or as shares.
type cellStyles struct {
	own    map[string]string // the workbook's own forms, by number, as formShown returns them
	forms  []string          // by style
	inside bool              // the styles of cells
}

func (c *cellStyles) start(name string, attrs attributes) {
	switch name {
	case "numFmt":
		if form := attrs.get("formatCode"); form != "" && len(c.own) <= maxStyles {
			c.own[attrs.get("numFmtId")] = formShown(form)
		}
	case "cellXfs":
		c.inside = true
	case "xf":
		if c.inside && len(c.forms) <= maxStyles {
			c.forms = append(c.forms, c.form(attrs.get("numFmtId")))
		}
	}
}

func (c *cellStyles) text(string) {}

func (c *cellStyles) end(name string) {
	if name == "cellXfs" {
		c.inside = false
	}
}

// form returns the form of a number. The workbook does not spell out the first 50.
func (c *cellStyles) form(id string) string {
	if own, ok := c.own[id]; ok {
		return own
	}
	switch n, _ := strconv.Atoi(id); {
	case n == 9 || n == 10:
		return "0%"
	case n >= 14 && n <= 17:
		return "yyyy-mm-dd"
	case n >= 18 && n <= 21, n >= 45 && n <= 47:
		return "hh:mm"
	case n == 22:
		return "yyyy-mm-dd hh:mm"
	}
	return ""
}

// literal matches what a form shows as it is, and colours and conditions.
var literal = regexp.MustCompile(`"[^"]*"|\\.|_.|\*.|\[[^\]]*\]`)

// formShown returns what of a form says how numbers are shown, in lower case. Cells share a form, which may be long: so this is done
// once for each.
func formShown(form string) string {
	form, _, _ = strings.Cut(strings.ToLower(literal.ReplaceAllString(form, "")), ";")
	if strings.Contains(form, "general") {
		return ""
	}
	var b strings.Builder
	for _, sign := range "%ydhs" {
		if strings.ContainsRune(form, sign) {
			b.WriteRune(sign)
		}
	}
	return b.String()
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
	form := ""
	if i >= 0 {
		form = c.forms[i]
	}
	day, clock := strings.ContainsAny(form, "yd"), strings.ContainsAny(form, "hs")
	switch {
	case strings.Contains(form, "%"):
		return plainNumber(n*100) + " %"
	case (day || clock) && n >= 0 && n < maxDay:
		return dayShown(n, day, clock, since1904)
	}
	return plainNumber(n)
}

// maxDay is the number of the first day after the year 9999, the last that a workbook may have.
const maxDay = 2958466

// dayShown returns the day, the time or both of a number of days since the end of 1899, or since 1904.
func dayShown(n float64, day, clock, since1904 bool) string {
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if since1904 {
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	whole := math.Floor(n)
	t := first.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round((n-whole)*24*60*60)) * time.Second)
	switch {
	case day && clock:
		return t.Format("2006-01-02 15:04")
	case day:
		return t.Format("2006-01-02")
	}
	return t.Format("15:04")
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
