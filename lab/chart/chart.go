// Package chart draws line charts, bar charts and timelines as SVG. Its colours can be told apart on light and on dark
// backgrounds. A picture contains its styles and consists of text and shapes only, so that an HTML page can embed it.
package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Sizes of a picture, in SVG units.
const (
	width, height = 760, 420
	left, right   = 64, 16
	top           = 40
	bottom        = 52
	legendRow     = 18
)

// colors are those of Okabe and Ito, which the colour-blind can tell apart too. Their order makes neighbours differ much.
// Yellow is left out: it is too faint on white.
var colors = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c", "#7a5195"}

// Color returns the i-th colour.
func Color(i int) string { return colors[i%len(colors)] }

// dashes are the styles of lines: drawn through, dashed, dotted, and dashed with dots.
var dashes = [...]string{"", "6 4", "2 3", "9 3 2 3"}

// dashesOf returns the attribute of each line's style. A line that would look like one before it gets another style.
func dashesOf(lines []Line) []string {
	type look struct{ color, style int }
	used, out := map[look]bool{}, make([]string, len(lines))
	for i, l := range lines {
		if l.Dots {
			continue
		}
		order := [...]int{0, 2, 3}
		if l.Dashed {
			order = [...]int{1, 3, 2}
		}
		free := slices.IndexFunc(order[:], func(style int) bool { return !used[look{l.Color % len(colors), style}] })
		style := order[max(free, 0)]
		used[look{l.Color % len(colors), style}] = true
		if dashes[style] != "" {
			out[i] = fmt.Sprintf(` stroke-dasharray="%s"`, dashes[style])
		}
	}
	return out
}

// Point is a point of a Line. If Low and High differ, they are drawn as an error bar.
type Point struct{ X, Y, Low, High float64 }

// Line is a series of points.
type Line struct {
	Name   string
	Points []Point
	Dashed bool
	Dots   bool // draws points without a line between them
	Color  int  // index for the function Color; lines may share one
}

// Plot is a chart of lines over numbers.
type Plot struct {
	Title, X, Y string
	Lines       []Line
	Log         bool // the y axis is logarithmic
	Note        string
}

// canvas collects the parts of a picture.
type canvas struct{ strings.Builder }

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.Builder, format+"\n", args...) }

// text writes s at x, y; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, s string) {
	c.add(`<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`, num(x), num(y), anchor, class, html.EscapeString(s))
}

func num(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

// open begins a picture. Its colours follow the viewer's preference for light or dark.
func open(h float64, title string) *canvas {
	c := &canvas{}
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" role="img" aria-label="%s" font-family="system-ui, sans-serif">`, width, num(h), html.EscapeString(title))
	c.add(`<style>text{fill:#24292f;font-size:12px}.t{font-size:15px;font-weight:600}.s{font-size:11px;fill:#57606a}.g{stroke:#8c959f;stroke-opacity:.25}.a{stroke:#57606a}.bg{fill:#ffffff}` +
		`@media (prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9da7b3}.a{stroke:#9da7b3}.bg{fill:#0d1117}}</style>`)
	c.add(`<rect class="bg" width="%d" height="%s"/>`, width, num(h))
	c.text(left, 22, "start", "t", title)
	return c
}

func (c *canvas) close() []byte {
	c.add(`</svg>`)
	return []byte(c.String())
}

// axis maps a range of values to a range of the picture.
type axis struct {
	min, max float64
	from, to float64
	log      bool
}

func (a axis) at(v float64) float64 {
	lo, hi := a.min, a.max
	if a.log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// ticks returns about n round values in the range.
func (a axis) ticks(n int) (out []float64) {
	if a.log {
		for p := math.Floor(math.Log10(a.min)); p <= math.Ceil(math.Log10(a.max)); p++ {
			for _, m := range []float64{1, 2, 5} {
				if v := m * math.Pow(10, p); v >= a.min*0.999 && v <= a.max*1.001 {
					out = append(out, v)
				}
			}
		}
		return out
	}
	step := niceStep((a.max - a.min) / float64(n))
	for v := math.Ceil(a.min/step-1e-9) * step; v <= a.max+step*1e-9; v += step {
		out = append(out, math.Round(v/step)*step)
	}
	return out
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*p >= x*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// label returns a tick's text.
func label(v float64) string { return strconv.FormatFloat(v+0, 'g', 6, 64) } // +0: no -0

// SVG draws the plot.
func (p Plot) SVG() []byte {
	rows := legendRows(p.Lines)
	h := float64(height + rows*legendRow)
	if p.Note != "" {
		h += legendRow
	}
	c := open(h, p.Title)
	x, y := p.axes()
	c.frame(x, y, p.X, p.Y)
	dash := dashesOf(p.Lines)
	for i, l := range p.Lines {
		c.line(x, y, l, dash[i])
	}
	c.legend(p.Lines, height+6)
	if p.Note != "" {
		c.text(left, h-8, "start", "s", p.Note)
	}
	return c.close()
}

// axes returns axes that include all finite points.
func (p Plot) axes() (x, y axis) {
	x = axis{min: math.Inf(1), max: math.Inf(-1), from: left, to: width - right}
	y = axis{min: math.Inf(1), max: math.Inf(-1), from: height - bottom, to: top, log: p.Log}
	for _, l := range p.Lines {
		for _, q := range l.Points {
			if !finite(q.X) || !finite(q.Y) || p.Log && q.Y <= 0 {
				continue
			}
			x.min, x.max = min(x.min, q.X), max(x.max, q.X)
			y.min, y.max = min(y.min, q.Y), max(y.max, q.Y)
			if q.Low != q.High {
				y.max = max(y.max, q.High)
			}
		}
	}
	if x.min > x.max {
		x.min, x.max, y.min, y.max = 0, 1, 0, 1
	}
	if x.min == x.max {
		x.max++
	}
	if p.Log {
		y.min, y.max = y.min*0.8, y.max*1.25
		return x, y
	}
	y.min = min(y.min, 0)
	if y.max <= y.min {
		y.max = y.min + 1
	}
	step := niceStep((y.max - y.min) / 6)
	y.max = math.Ceil(y.max*1.02/step) * step
	return x, y
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// frame draws the axes with their grid and names.
func (c *canvas) frame(x, y axis, xName, yName string) {
	for _, v := range y.ticks(6) {
		c.add(`<line class="g" x1="%s" x2="%s" y1="%s" y2="%[3]s"/>`, num(x.from), num(x.to), num(y.at(v)))
		c.text(x.from-6, y.at(v)+4, "end", "", label(v))
	}
	for _, v := range x.ticks(8) {
		c.add(`<line class="a" x1="%s" x2="%[1]s" y1="%s" y2="%s"/>`, num(x.at(v)), num(y.from), num(y.from+4))
		c.text(x.at(v), y.from+18, "middle", "", label(v))
	}
	c.add(`<line class="a" x1="%s" x2="%s" y1="%s" y2="%[3]s"/>`, num(x.from), num(x.to), num(y.from))
	c.text((x.from+x.to)/2, y.from+36, "middle", "s", xName)
	c.add(`<text x="14" y="%s" text-anchor="middle" class="s" transform="rotate(-90 14 %[1]s)">%s</text>`, num((y.from+y.to)/2), html.EscapeString(yName))
}

// line draws a series with the attribute of its style. It breaks the line where points are missing.
func (c *canvas) line(x, y axis, l Line, dash string) {
	color := Color(l.Color)
	var path strings.Builder
	pen := "M"
	for _, p := range l.Points {
		if !finite(p.X) || !finite(p.Y) || y.log && p.Y <= 0 {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%s %s", pen, num(x.at(p.X)), num(y.at(p.Y)))
		pen = "L"
	}
	if !l.Dots && path.Len() > 0 {
		c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`, path.String(), color, dash)
	}
	if len(l.Points) > 60 && !l.Dots {
		return
	}
	for _, p := range l.Points {
		if !finite(p.X) || !finite(p.Y) || y.log && p.Y <= 0 {
			continue
		}
		if p.Low != p.High {
			c.add(`<line x1="%s" x2="%[1]s" y1="%s" y2="%s" stroke="%s" stroke-opacity=".55"/>`, num(x.at(p.X)), num(y.at(p.Low)), num(y.at(p.High)), color)
		}
		c.add(`<circle cx="%s" cy="%s" r="3.2" fill="%s"><title>%s: %s, %s</title></circle>`, num(x.at(p.X)), num(y.at(p.Y)), color, html.EscapeString(l.Name), label(p.X), label(p.Y))
	}
}

// legendWidth is about the width of an entry with its mark. Capitals are wider.
func legendWidth(name string) float64 {
	w := 38 + 6.9*float64(len([]rune(name)))
	for _, r := range name {
		if unicode.IsUpper(r) {
			w += 2.4
		}
	}
	return w
}

func legendRows(lines []Line) int {
	rows, at := 1, float64(left)
	for _, l := range lines {
		if w := legendWidth(l.Name); at+w > width-right && at > left {
			rows, at = rows+1, left
			at += w
		} else {
			at += w
		}
	}
	return rows
}

// legend draws the names of the lines from y downwards.
func (c *canvas) legend(lines []Line, y float64) {
	at, dash := float64(left), dashesOf(lines)
	for i, l := range lines {
		if l.Name == "" {
			continue
		}
		w := legendWidth(l.Name)
		if at+w > width-right && at > left {
			at, y = left, y+legendRow
		}
		switch color := Color(l.Color); {
		case l.Dots:
			c.add(`<circle cx="%s" cy="%s" r="3.6" fill="%s"/>`, num(at+9), num(y), color)
		default:
			c.add(`<line x1="%s" x2="%s" y1="%s" y2="%[3]s" stroke="%s" stroke-width="2.5"%s/>`, num(at), num(at+18), num(y), color, dash[i])
		}
		c.text(at+23, y+4, "start", "", l.Name)
		at += w
	}
}
