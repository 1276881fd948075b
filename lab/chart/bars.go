package chart

import (
	"html"
	"math"
)

// Bars is a chart of horizontal bars in groups.
type Bars struct {
	Title, X string
	Groups   []Group
	Log      bool // the axis is logarithmic
	Note     string
}

// Group is some bars under a name.
type Group struct {
	Name string
	Bars []Bar
}

// Bar is a bar of a Group.
type Bar struct {
	Name  string
	Value float64
	Color int
	Text  string // next to the bar; if empty, the value
}

const (
	barHeight = 16
	barGap    = 5
	barLabel  = 190 // room for names
)

// SVG draws the bars.
func (b Bars) SVG() []byte {
	n, most, least := 0, 0.0, math.Inf(1)
	for _, g := range b.Groups {
		n += len(g.Bars)
		for _, bar := range g.Bars {
			most = max(most, bar.Value)
			if bar.Value > 0 {
				least = min(least, bar.Value)
			}
		}
	}
	if most <= 0 {
		most, least = 1, 1
	}
	x := axis{min: 0, max: most * 1.02, from: barLabel, to: width - 90, log: b.Log}
	if b.Log {
		x.min = math.Pow(10, math.Floor(math.Log10(least*0.999)))
	}
	end := float64(top + n*(barHeight+barGap) + len(b.Groups)*24)
	h := end + bottom
	c := open(h, b.Title)
	c.below(x, 6, end, b.X)
	y := float64(top)
	for _, g := range b.Groups {
		y += 20
		c.text(8, y-4, "start", "s", g.Name)
		for _, bar := range g.Bars {
			w := 0.0
			if bar.Value > 0 {
				w = max(x.at(max(bar.Value, x.min))-x.from, 1)
			}
			c.text(x.from-6, y+barHeight-4, "end", "", bar.Name)
			c.add(`<rect x="%s" y="%s" width="%s" height="%d" rx="2" fill="%s"/>`, num(x.from), num(y), num(w), barHeight, Color(bar.Color))
			text := bar.Text
			if text == "" {
				text = label(math.Round(bar.Value*10) / 10)
			}
			c.text(x.from+w+5, y+barHeight-4, "start", "", text)
			y += barHeight + barGap
		}
		y += 4
	}
	if b.Note != "" {
		c.text(8, h-6, "start", "s", b.Note)
	}
	return c.close()
}

// below draws the grid of an axis down to end, with its numbers and its title below.
func (c *canvas) below(x axis, ticks int, end float64, title string) {
	for _, v := range x.ticks(ticks) {
		c.add(`<line class="g" x1="%s" x2="%[1]s" y1="%d" y2="%s"/>`, num(x.at(v)), top, num(end))
		c.text(x.at(v), end+16, "middle", "", label(v))
	}
	c.text((x.from+x.to)/2, end+32, "middle", "s", title)
}

// Timeline is a chart of lanes with spans, above panels of lines over the same time.
type Timeline struct {
	Title, X string
	From, To float64
	Lanes    []Lane
	Panels   []Plot // with X ignored
	Legend   []Line
	Note     string
}

// Lane is a row of spans.
type Lane struct {
	Name  string
	Spans []Span
	Slim  bool // thin spans, for spans that overlap
}

// Span is a bar of a lane. A span without length is a mark.
type Span struct {
	From, To float64
	Row      int // within the lane
	Text     string
	Title    string
	Color    int
	Faint    bool
}

const (
	laneRow   = 18
	slimRow   = 7
	panelRoom = 110
)

func (l Lane) rows() int {
	n := 1
	for _, s := range l.Spans {
		n = max(n, s.Row+1)
	}
	return n
}

func (l Lane) row() float64 {
	if l.Slim {
		return slimRow
	}
	return laneRow
}

// SVG draws the timeline.
func (t Timeline) SVG() []byte {
	lanes := float64(top)
	for _, l := range t.Lanes {
		lanes += float64(l.rows())*l.row() + 10
	}
	end := lanes + float64(len(t.Panels))*panelRoom
	h := end + bottom + float64(legendRows(t.Legend))*legendRow
	c := open(h, t.Title)
	x := axis{min: t.From, max: t.To, from: 110, to: width - right}
	c.below(x, 8, end, t.X)
	y := float64(top)
	for _, l := range t.Lanes {
		c.lane(x, y, l)
		y += float64(l.rows())*l.row() + 10
	}
	for _, p := range t.Panels {
		c.panel(x, y, p)
		y += panelRoom
	}
	c.legend(t.Legend, end+46)
	if t.Note != "" {
		c.text(8, h-6, "start", "s", t.Note)
	}
	return c.close()
}

func (c *canvas) lane(x axis, y float64, l Lane) {
	c.text(x.from-8, y+float64(l.rows())*l.row()/2+4, "end", "", l.Name)
	for _, s := range l.Spans {
		if s.To < x.min || s.From > x.max {
			continue
		}
		from, to := x.at(max(s.From, x.min)), x.at(min(s.To, x.max))
		opacity := "1"
		if s.Faint {
			opacity = ".35"
		}
		at := y + float64(s.Row)*l.row()
		c.add(`<rect x="%s" y="%s" width="%s" height="%s" rx="1.5" fill="%s" fill-opacity="%s"><title>%s</title></rect>`,
			num(from), num(at), num(max(to-from, 1.5)), num(l.row()-2), Color(s.Color), opacity, html.EscapeString(s.Title))
		if s.Text != "" && to-from > 2+6*float64(len([]rune(s.Text))) {
			c.add(`<text x="%s" y="%s" text-anchor="middle" style="fill:#fff;font-size:11px">%s</text>`, num((from+to)/2), num(at+l.row()-6), html.EscapeString(s.Text))
		}
	}
}

// panel draws small lines below the lanes, over the same time.
func (c *canvas) panel(x axis, y float64, p Plot) {
	_, span := p.axes()
	span.from, span.to = y+panelRoom-14, y+8
	lo := math.Inf(1)
	for _, l := range p.Lines {
		for _, q := range l.Points {
			lo = min(lo, q.Y)
		}
	}
	if lo < 0 {
		span.min = lo * 1.1
	}
	for _, v := range span.ticks(3) {
		c.add(`<line class="g" x1="%s" x2="%s" y1="%s" y2="%[3]s"/>`, num(x.from), num(x.to), num(span.at(v)))
		c.text(x.from-6, span.at(v)+4, "end", "s", label(v))
	}
	c.add(`<text x="14" y="%s" text-anchor="middle" class="s" transform="rotate(-90 14 %[1]s)">%s</text>`, num((span.from+span.to)/2), html.EscapeString(p.Y))
	dash := dashesOf(p.Lines)
	for i, l := range p.Lines {
		var in []Point
		for _, q := range l.Points {
			if q.X >= x.min && q.X <= x.max {
				in = append(in, q)
			}
		}
		l.Points = in
		c.line(x, span, l, dash[i])
	}
}
