package pdf

import (
	"math"
	"regexp"
	"slices"
	"strconv"
)

// This file leaves out page numbers, headers and footers.

// dropMargins removes page numbers, and headers and footers that return on other pages, but for the first of each.
func (d *document) dropMargins() {
	pages := map[margin]int{}
	at := make([]map[int][]margin, len(d.pages))
	for p, page := range d.pages {
		at[p] = margins(page.runs, p)
		once := map[margin]bool{}
		for _, all := range at[p] {
			for _, m := range all {
				if !once[m] {
					once[m] = true
					pages[m]++
				}
			}
		}
	}
	seen := map[margin]bool{}
	for p, page := range d.pages {
		var kept []run
		for i, r := range page.runs {
			returns := false
			for _, m := range at[p][i] {
				returns = returns || m.number && pages[m] > 1 || !m.number && pages[m] > 2 && seen[m]
				seen[m] = true
			}
			if !returns {
				kept = append(kept, r)
			}
		}
		d.pages[p].runs = kept
	}
}

// margin is what headers or footers of several pages have in common.
type margin struct {
	y      float64
	text   string
	number bool // it is a page number: text is what it adds to the index of the page
}

var pageNumber = regexp.MustCompile(`(?i)^[^\pL\d]*(?:page|p\.|seite|página|pagina)?[^\pL\d]*(\d{1,5})[^\pL\d]*(?:(?:of|von|de|di|sur|van)?[^\pL\d]*\d+)?[^\pL\d]*$`)

// numberedMargin is a header or footer with the number of its page.
var numberedMargin = regexp.MustCompile(`^(\d{1,5})[^\pL\d]+(\pL.*)$|^(.*?\pL.*?)(\d{1,5})(?: ?(?:of|von|de|di|sur|van|/) ?\d+)?[^\pL\d]*$`)

// margins returns what stands in the upper two and lower two lines of page p, by the indices of the runs: as it is, and without
// what may be the page's number.
func margins(runs []run, p int) map[int][]margin {
	var ys []float64
	for _, r := range runs {
		ys = append(ys, r.base)
	}
	slices.Sort(ys)
	ys = slices.CompactFunc(ys, func(a, b float64) bool { return math.Abs(a-b) < 2 })
	if len(ys) < 5 {
		return nil
	}
	out := map[int][]margin{}
	for i, r := range runs {
		if r.base > ys[1]+1 && r.base < ys[len(ys)-2] {
			continue
		}
		y := math.Round(r.base)
		if m := pageNumber.FindStringSubmatch(r.text); m != nil && r.grid == 0 {
			n, _ := strconv.Atoi(m[1])
			out[i] = []margin{{y, strconv.Itoa(n - p), true}}
			continue
		}
		out[i] = []margin{{y, r.text, false}}
		if m := numberedMargin.FindStringSubmatch(r.text); m != nil && r.grid == 0 {
			n, _ := strconv.Atoi(m[1] + m[4])
			out[i] = append(out[i], margin{y, strconv.Itoa(n-p) + " " + m[2] + m[3], false})
		}
	}
	return out
}
