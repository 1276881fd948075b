package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// Lines on the page make cells, however programs draw them.
func TestRuledTables(t *testing.T) {
	var (
		xs      = []float64{70, 150, 230}
		ys      = []float64{712, 696, 668, 652}
		trainer = drawPage("72 700 11 Trainer", "152 700 11 Since", "72 686 11 Gudrun", "152 686 11 3 May", "72 673 11 Pietsch", "72 656 11 Ayse Korkmaz", "152 656 11 1 June")
		bold    = strings.NewReplacer("/F1 11 Tf 72 700", "/F2 11 Tf 72 700", "/F1 11 Tf 152 700", "/F2 11 Tf 152 700").Replace(trainer)
		table   = "h Trainer | Since\nr Gudrun Pietsch | 3 May\nr Ayse Korkmaz | 1 June"
		boxes   strings.Builder
		thin    strings.Builder
	)
	for r := range 3 {
		for c := range 2 {
			x, y := xs[c]+1, ys[r+1]+1
			fmt.Fprintf(&boxes, "%g %g %g %g re S\n", x, y, xs[c+1]-x-1, ys[r]-y-1)
			for _, e := range [][4]float64{{x, y, xs[c+1] - x, 1}, {x, y, 1, ys[r] - y}, {xs[c+1] - 1, y, 1, ys[r] - y}, {x, ys[r] - 1, xs[c+1] - x, 1}} {
				fmt.Fprintf(&thin, "%g %g %g %g re f\n", e[0], e[1], e[2], e[3])
			}
		}
	}
	for name, c := range map[string]struct {
		pages []string
		want  string
	}{
		"lines":              {[]string{drawGrid(xs, ys) + bold}, table},
		"no head":            {[]string{drawGrid(xs, ys) + trainer}, "l Trainer: Since\nl Gudrun Pietsch: 3 May\nl Ayse Korkmaz: 1 June"},
		"boxes":              {[]string{boxes.String() + bold}, table},
		"thin rectangles":    {[]string{thin.String() + bold}, table},
		"open sides":         {[]string{drawLines("70 712 230 712", "70 696 230 696", "70 668 230 668", "70 652 230 652", "150 712 150 652") + bold}, table},
		"moved and enlarged": {[]string{"q 2 0 0 2 10 20 cm 30 346 m 110 346 l 30 338 m 110 338 l 30 324 m 110 324 l 30 316 m 110 316 l 30 346 m 30 316 l 70 346 m 70 316 l 110 346 m 110 316 l S Q " + bold}, table},
		"lines across only":  {[]string{drawLines("70 712 260 712", "70 696 260 696", "70 668 260 668", "70 652 260 652") + bold}, table},
		"head above the lines": {[]string{drawLines("70 696 260 696", "70 668 260 668", "70 640 260 640") + drawPage("72 716 11 **Trainer of", "72 703 11 **all", "152 709 11 **Since", "72 686 11 Gudrun", "152 686 11 3 May", "72 673 11 Pietsch", "72 656 11 Ayse", "152 656 11 1 June", "72 626 11 Bo", "152 626 11 9 June", "72 580 11 Those are the trainers.")},
			"h Trainer of all | Since\nr Gudrun Pietsch | 3 May\nr Ayse | 1 June\nr Bo | 9 June\np Those are the trainers."},
		"shaded rows":       {[]string{"70 696 190 16 re f 70 652 190 16 re f " + bold}, table},
		"a frame and lines": {[]string{drawLines("70 696 260 696", "70 668 260 668") + "70 652 190 60 re S\n" + bold}, table},
		"merged": {[]string{drawLines("70 720 310 720", "70 640 310 640", "70 720 70 640", "310 720 310 640", "150 720 150 640", "230 700 230 640", "150 700 310 700", "70 680 310 680", "150 660 310 660") +
			drawPage("72 696 11 **Line", "152 706 11 **Monday to Friday", "152 686 11 **First", "232 686 11 **Last", "72 656 11 27", "152 666 11 5:48", "232 666 11 22:40", "152 646 11 6:18", "232 646 11 23:10")},
			"h Line | Monday to Friday First | Monday to Friday Last\nr 27 | 5:48 | 22:40\nr 27 | 6:18 | 23:10"},
		"two tables": {[]string{drawGrid([]float64{70, 200, 300}, []float64{720, 700, 680}) + drawGrid([]float64{70, 120, 250, 300}, []float64{680, 660, 640}) +
			drawPage("72 706 11 Small", "202 706 11 2.40", "72 686 11 Large", "202 686 11 4.80", "72 666 11 Day", "122 666 11 Opens", "252 666 11 Closes", "72 646 11 Monday", "122 646 11 9:40", "252 646 11 17:20")},
			"l Small: 2.40\nl Large: 4.80\nh Day | Opens | Closes\nr Monday | 9:40 | 17:20"},
		"over pages": {[]string{drawPage("72 740 11 Below are the trainers.") + drawGrid(xs, ys) + bold,
			drawGrid(xs, ys) + bold + drawPage("72 600 11 That is all."),
			drawGrid(xs, ys[:3]) + drawPage("72 700 11 Jo", "152 700 11 1 July", "72 676 11 Bo", "152 676 11 1 May")},
			"p Below are the trainers.\nh Trainer | Since\nr Gudrun Pietsch | 3 May\nr Ayse Korkmaz | 1 June\nr Gudrun Pietsch | 3 May\nr Ayse Korkmaz | 1 June\np That is all.\nl Jo: 1 July\nl Bo: 1 May"},
		"paragraphs in cells": {[]string{drawGrid([]float64{70, 300, 560}, []float64{720, 500, 480}) + drawPage("72 486 9 left.", "302 486 9 right.") + drawPage(wordy(72, 706, 14)...) + drawPage(wordy(302, 706, 3)...)},
			"p " + strings.TrimSpace(strings.Repeat("The harbour museum shows the boats of the lake ", 14)) + "\np " + strings.TrimSpace(strings.Repeat("The harbour museum shows the boats of the lake ", 3)) + "\np left.\np right."},
		"a frame around the page": {[]string{"20 20 570 750 re S " + drawPage("72 700 11 The museum is open.", "72 600 11 It closes late.")}, "p The museum is open.\np It closes late."},
		"boxes around paragraphs": {[]string{"70 680 300 40 re S 70 590 300 40 re S " + drawPage("72 700 11 The museum is open.", "72 600 11 It closes late.")}, "p The museum is open.\np It closes late."},
		"underlined": {[]string{drawLines("72 698 200 698", "72 684 170 684", "72 670 180 670") + drawPage("72 700 11 The museum is open and", "72 686 11 the tower is not, as", "72 672 11 the stairs are old.")},
			"p The museum is open and the tower is not, as the stairs are old."},
		"rules between sections": {[]string{drawLines("70 712 500 712", "70 650 500 650", "70 600 500 600") + drawPage("72 700 11 The museum is open all day long in", "72 686 11 summer, and in winter until noon.", "72 630 11 The tower is not, as its stairs are old.")},
			"p The museum is open all day long in summer, and in winter until noon.\np The tower is not, as its stairs are old."},
		"a chart": {[]string{drawGrid([]float64{100, 150, 200, 250}, []float64{700, 650, 600}) + "110 600 20 80 re f 160 600 20 40 re f " + drawPage("80 698 11 20", "80 648 11 10", "80 598 11 0", "105 580 11 May", "160 580 11 June")},
			"p 20\np 10\np 0\nl May June"},
		"rows between lines": {[]string{drawLines("70 712 260 712", "70 696 260 696", "70 640 260 640") + drawPage("72 700 11 **Day", "152 700 11 **Opens", "72 682 11 Monday", "152 682 11 9:40", "72 666 11 Tuesday", "152 666 11 10:00", "72 650 11 Friday", "152 650 11 8:15")},
			"h Day | Opens\nr Monday | 9:40\nr Tuesday | 10:00\nr Friday | 8:15"},
		"boxes side by side":      {[]string{"70 670 105 50 re S 175 670 100 50 re S " + drawPage("72 700 11 Ines Calder", "177 700 11 Date", "72 686 11 Uferweg 3", "177 686 11 3 May")}, "p Ines Calder Uferweg 3\np Date 3 May"},
		"a drawing within a cell": {[]string{drawGrid(xs, ys) + drawGrid([]float64{205, 213, 220}, []float64{663, 660, 657}) + bold}, table},
		"a chart with words":      {[]string{drawGrid([]float64{70, 90, 110, 130, 150, 170, 190, 210}, []float64{720, 690, 660}) + drawPage("75 700 11 scaled for visualization", "75 670 11 users and target")}, "title scaled for visualization\np users and target"},
		"bars":                    {[]string{"70 690 150 20 re f 70 670 90 20 re f " + drawPage("72 695 11 May", "150 695 11 12", "72 675 11 June", "150 675 11 8")}, "l May: 12\nl June: 8"},
		"only drawn":              {[]string{strings.Repeat("10 10 m 100 10 l S\n", maxPageObjects) + drawGrid(xs, ys) + trainer}, "l Trainer: Since\nl Gudrun: 3 May\np Pietsch\np Ayse Korkmaz 1 June"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.pages...))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// wordy returns n full lines of text.
func wordy(x, y float64, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%g %g 9 The harbour museum shows the boats of the lake", x, y-11*float64(i)))
	}
	return lines
}

// Lines may be drawn in a form.
func TestRuledForm(t *testing.T) {
	stream := func(dict, s string) string {
		return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(s), dict, s)
	}
	form := drawGrid([]float64{70, 150, 230}, []float64{756, 728, 712})
	doc, err := Parse(t.Context(), writePDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> /XObject << /X1 6 0 R >> >> /Contents 7 0 R >>", "<< >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>", stream("/Subtype /Form /BBox [0 0 612 792]", form),
		stream("", "q 1 0 0 1 0 -60 cm /X1 Do Q "+drawPage("72 686 11 Gudrun", "152 686 11 3 May", "72 673 11 Pietsch", "72 656 11 Ayse", "152 656 11 1 June"))))
	if got, want := show(doc), "l Gudrun Pietsch: 3 May\nl Ayse: 1 June"; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// Each grid of a page looks only at the letters near it, and letters in many grids are looked at a bounded number of times.
func TestGridsAreLinear(t *testing.T) {
	frame := func(x, y, wide, high float64) []box {
		return []box{{x, y, x + wide, y}, {x, y + high, x + wide, y + high}, {x, y, x, y + high}, {x + wide, y, x + wide, y + high}, {x + wide/2, y, x + wide/2, y + high}}
	}
	for name, c := range map[string]struct {
		place func(i int) []box
		found bool
	}{
		"below each other": {func(i int) []box { return frame(0, float64(40*i), 100, 20) }, true},
		"in each other":    {func(i int) []box { return frame(-10*float64(i), -10*float64(i), 100+20*float64(i), 20+20*float64(i)) }, false},
	} {
		const grids, letters = 500, 1 << 17
		var lines, boxes []box
		for i := range grids {
			lines = append(lines, c.place(i)...)
		}
		for i := range letters {
			x, y := float64(i%2*50+10), float64(i/2%grids*40+5)
			if !c.found {
				y = 5
			}
			boxes = append(boxes, box{x, y, x + 4, y + 10})
		}
		ink := newInk(boxes)
		if found := gridsOf(lines, ink); len(found) > 0 != c.found {
			t.Errorf("%s: %d grids", name, len(found))
		}
		if looked := maxLooks - ink.left; c.found && looked > 8*letters || looked > maxLooks+letters {
			t.Errorf("%s: looked at %d letters of %d", name, looked, letters)
		}
	}
}
