package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// elements counts the elements of a picture by name. It fails if the picture is not well formed.
func elements(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	n := map[string]int{}
	in := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := in.Token()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			n[e.Name.Local]++
		}
	}
}

// A plot draws each line and each point once, with their names.
func TestPlot(t *testing.T) {
	p := Plot{
		Title: "a < b & \"c\"", X: "x", Y: "y",
		Lines: []Line{
			{Name: "one", Points: []Point{{X: 0, Y: 1}, {X: 1, Y: 2, Low: 1, High: 3}, {X: 2, Y: math.NaN()}, {X: 3, Y: 4}}},
			{Name: "two", Points: []Point{{X: 0, Y: 100}}, Dots: true, Color: 1},
		},
	}
	svg := p.SVG()
	n := elements(t, svg)
	if n["path"] != 1 || n["circle"] != 3+1+1 { // points, and the legend's mark of a line of dots
		t.Errorf("%v", n)
	}
	for _, want := range []string{"a &lt; b &amp; &#34;c&#34;", ">one<", ">two<", "prefers-color-scheme:dark", ">100<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
	if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), ">-0<") {
		t.Error("a value that is not a number is drawn")
	}
	if !bytes.Equal(svg, p.SVG()) {
		t.Error("the same plot gives two different pictures")
	}
	elements(t, Plot{}.SVG())
	elements(t, Plot{Log: true, Lines: []Line{{Points: []Point{{X: 1, Y: 0}, {X: 1, Y: 5}, {X: 2, Y: 500}}}}}.SVG())
}

// A name in capitals, which are wider, has more room in the legend, so that the next mark does not touch it.
func TestLegendHasRoomForCapitals(t *testing.T) {
	if small, large := legendWidth("drdg/tw"), legendWidth("DRDG/TW"); large-small < 12 {
		t.Errorf("%v for small letters, %v for capitals", small, large)
	}
}

// No two lines look alike, even where they have the same colour, and the legend shows each as it is drawn.
func TestLinesDiffer(t *testing.T) {
	p := Plot{}
	for i := range 17 {
		p.Lines = append(p.Lines, Line{Name: fmt.Sprint(i), Points: []Point{{X: 0, Y: 1}, {X: 1, Y: float64(i)}}, Color: i % 6, Dashed: i%4 == 3})
	}
	svg := string(p.SVG())
	drawn := regexp.MustCompile(`<path [^>]* fill="none" (stroke="[^"]*") stroke-width="2"([^/]*)/>`).FindAllStringSubmatch(svg, -1)
	shown := regexp.MustCompile(`(stroke="[^"]*") stroke-width="2.5"([^/]*)/>`).FindAllStringSubmatch(svg, -1)
	seen := map[string]bool{}
	for i, d := range drawn {
		seen[d[1]+d[2]] = true
		if d[1]+d[2] != shown[i][1]+shown[i][2] {
			t.Errorf("line %d is drawn as %s%s and shown as %s%s", i, d[1], d[2], shown[i][1], shown[i][2])
		}
	}
	if len(drawn) != 17 || len(shown) != 17 || len(seen) != 17 {
		t.Errorf("%d lines, %d in the legend, of %d styles", len(drawn), len(shown), len(seen))
	}
}

// Larger values are higher, and every value is within the frame.
func TestAxes(t *testing.T) {
	for _, span := range [][2]float64{{0, 1}, {0, 5.3}, {3, 7777}, {-4, 0.1}, {1e-6, 2e-6}} {
		p := Plot{Lines: []Line{{Points: []Point{{X: 0, Y: span[0]}, {X: 10, Y: span[1]}}}}}
		x, y := p.axes()
		if lo, hi := y.at(span[0]), y.at(span[1]); !(hi < lo && hi >= top && lo <= height-bottom) {
			t.Errorf("%v: from %v to %v", span, lo, hi)
		}
		if x.at(0) != left || x.at(10) != width-right {
			t.Errorf("x from %v to %v", x.at(0), x.at(10))
		}
		if n := len(y.ticks(6)); n < 3 || n > 14 {
			t.Errorf("%v: %d ticks", span, n)
		}
	}
}

// Bars are as long as their values. A timeline draws only spans within its time.
func TestBarsAndTimeline(t *testing.T) {
	n := elements(t, Bars{Title: "bars", Groups: []Group{{Name: "g", Bars: []Bar{{Name: "a", Value: 3}, {Name: "b"}}}}}.SVG())
	if n["rect"] != 1+2 {
		t.Errorf("%v", n)
	}
	elements(t, Bars{Log: true, Groups: []Group{{Bars: []Bar{{Value: 0.2}, {Value: 5000}}}}}.SVG())
	elements(t, Bars{}.SVG())
	n = elements(t, Timeline{
		Title: "t", From: 0, To: 10,
		Lanes:  []Lane{{Name: "l", Spans: []Span{{From: 1, To: 4, Title: "in"}, {From: 20, To: 30}, {From: 9, To: 12, Row: 2}}}},
		Panels: []Plot{{Y: "p", Lines: []Line{{Points: []Point{{X: 1, Y: -3}, {X: 2, Y: 4}}}}}},
	}.SVG())
	if n["rect"] != 1+2 || n["path"] != 1 {
		t.Errorf("%v", n)
	}
}
