// Package margins finds what the pages of a document repeat at their top and bottom: page numbers, headers and footers. It knows
// no file format.
package margins

import (
	"math"
	"regexp"
	"slices"
	"strconv"
)

// Piece is a line of a page, or a part of it.
type Piece struct {
	Y    float64 // the place of its line, counted in points from the top or from the bottom
	Text string
	Cell bool // it stands in a cell of a table: a number there is not the page's
}

// Repeated reports which pieces of each page are page numbers, or headers and footers that return on other pages, but for the
// first of each. Pages of fewer than five lines have none.
func Repeated(pages [][]Piece) [][]bool {
	on := map[margin]int{} // pages
	at := make([]map[int][]margin, len(pages))
	for p, pieces := range pages {
		at[p] = marginsOf(pieces, p)
		once := map[margin]bool{}
		for _, all := range at[p] {
			for _, m := range all {
				if !once[m] {
					once[m] = true
					on[m]++
				}
			}
		}
	}
	out := make([][]bool, len(pages))
	seen := map[margin]bool{}
	for p, pieces := range pages {
		out[p] = make([]bool, len(pieces))
		for i := range pieces {
			for _, m := range at[p][i] {
				out[p][i] = out[p][i] || m.number && on[m] > 1 || !m.number && on[m] > 2 && seen[m]
				seen[m] = true
			}
		}
	}
	return out
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

// marginsOf returns what stands in the upper two and lower two lines of page p, by the indices of the pieces: as it is, and without
// what may be the page's number.
func marginsOf(pieces []Piece, p int) map[int][]margin {
	var ys []float64
	for _, r := range pieces {
		ys = append(ys, r.Y)
	}
	slices.Sort(ys)
	ys = slices.CompactFunc(ys, func(a, b float64) bool { return math.Abs(a-b) < 2 })
	if len(ys) < 5 {
		return nil
	}
	out := map[int][]margin{}
	for i, r := range pieces {
		if r.Y > ys[1]+1 && r.Y < ys[len(ys)-2] {
			continue
		}
		y := math.Round(r.Y)
		if m := pageNumber.FindStringSubmatch(r.Text); m != nil && !r.Cell {
			n, _ := strconv.Atoi(m[1])
			out[i] = []margin{{y, strconv.Itoa(n - p), true}}
			continue
		}
		out[i] = []margin{{y, r.Text, false}}
		if m := numberedMargin.FindStringSubmatch(r.Text); m != nil && !r.Cell {
			n, _ := strconv.Atoi(m[1] + m[4])
			out[i] = append(out[i], margin{y, strconv.Itoa(n-p) + " " + m[2] + m[3], false})
		}
	}
	return out
}
