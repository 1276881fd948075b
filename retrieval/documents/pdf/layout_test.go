package pdf

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"tandem/internal/cputime"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

func TestLayout(t *testing.T) {
	body := "72 %d 11 The harbour museum shows the boats of the lake, and how they were built and sailed."
	var columns []string
	for i := range 6 {
		columns = append(columns, fmt.Sprintf("72 %d 10 left line %d goes on in this column", 700-12*i, i), fmt.Sprintf("320 %d 10 right line %d goes on in that column", 700-12*i, i))
	}
	paged := func(n int) string {
		lines := []string{"72 760 9 Harbour museum, guide for visitors", fmt.Sprintf("300 40 9 Page %d of 3", n), fmt.Sprintf("72 54 9 Season 2024 - page %d of 3", n)}
		for i := range 4 {
			lines = append(lines, fmt.Sprintf("72 %d 11 Room %d%d shows one of the boats.", 700-40*i, n, i))
		}
		return drawPage(lines...)
	}
	for name, c := range map[string]struct {
		pages []string
		want  string
	}{
		"headings": {[]string{drawPage("72 720 24 Guide of the museum", fmt.Sprintf(body, 680), "72 666 11 It is open.", "72 630 16 Prices", fmt.Sprintf(body, 600), "72 570 11 **For children", fmt.Sprintf(body, 556))},
			"title Guide of the museum\n1 Guide of the museum\np " + body[9:] + " It is open.\n2 Prices\np " + body[9:] + "\n6 For children\np " + body[9:]},
		"columns": {[]string{drawPage(columns...)},
			"p left line 0 goes on in this column left line 1 goes on in this column left line 2 goes on in this column left line 3 goes on in this column left line 4 goes on in this column left line 5 goes on in this column " +
				"right line 0 goes on in that column right line 1 goes on in that column right line 2 goes on in that column right line 3 goes on in that column right line 4 goes on in that column right line 5 goes on in that column"},
		"table": {[]string{drawPage("72 700 11 Day", "200 700 11 Opens", "300 700 11 Closes", "72 686 11 Monday", "200 686 11 9:40", "300 686 11 17:20", "72 672 11 Tuesday and", "200 672 11 10:00", "300 672 11 18:00", "72 660 11 the day after", "72 600 11 Fee:", "200 600 11 8 euros")},
			"h Day | Opens | Closes\nr Monday | 9:40 | 17:20\nr Tuesday and the day after | 10:00 | 18:00\nl Fee: 8 euros"},
		"cell after cell": {[]string{drawPage("72 700 11 Small", "300 700 11 2.40", "400 700 11 24", "72 686 11 Van with a ramp", "72 673 11 for wheelchairs", "300 686 11 4.90", "400 686 11 49")},
			"r Small | 2.40 | 24\nr Van with a ramp for wheelchairs | 4.90 | 49"},
		"address": {[]string{drawPage("72 740 11 Ines Calder", "72 726 11 Uferweg 3", "72 712 11 88131 Lindau", fmt.Sprintf(body, 660), "72 646 11 It is open.", "72 600 11 1 Introduction . . . . . . . . 3", "72 586 11 2 Boats . . . . . . . . . . . . 17")},
			"p Ines Calder\np Uferweg 3\np 88131 Lindau\np " + body[9:] + " It is open.\nl 1 Introduction .... 3\nl 2 Boats .... 17"},
		"margins": {[]string{paged(1), paged(2), paged(3)},
			"title Harbour museum, guide for visitors\n6 Season 2024 - page 1 of 3\np Room 10 shows one of the boats.\np Room 11 shows one of the boats.\np Room 12 shows one of the boats.\np Room 13 shows one of the boats.\n" +
				"p Room 20 shows one of the boats.\np Room 21 shows one of the boats.\np Room 22 shows one of the boats.\np Room 23 shows one of the boats.\n" +
				"p Room 30 shows one of the boats.\np Room 31 shows one of the boats.\np Room 32 shows one of the boats.\np Room 33 shows one of the boats."},
		"paragraphs": {[]string{drawPage(fmt.Sprintf(body, 700), "72 686 11 The museum is open.", fmt.Sprintf(strings.Replace(body, "72", "84", 1), 672), "72 658 11 It closes late.", "72 644 11 \\225 one boat", "72 630 11 \\225 two boats")},
			"p " + body[9:] + " The museum is open.\np " + body[9:] + " It closes late.\nl • one boat\nl • two boats"},
		"over pages": {[]string{drawPage("72 700 11 The first line of text on this page is long,", "72 686 11 and so is the second which is not yet at its"), drawPage("72 700 11 end here.")},
			"p The first line of text on this page is long, and so is the second which is not yet at its end here."},
		"kerned": {[]string{"BT /F1 12 Tf 72 700 Td [(Tw ) 270 (o columns of inter-)] TJ 0 -14 Td (est to all Anglo-) Tj 0 -14 Td (Saxon readers) Tj ET"},
			"p Two columns of interest to all Anglo-Saxon readers"},
		"moved apart": {[]string{"BT /F1 12 Tf 72 700 Td [(the)-400(lake)-400(cabin)-400(is)-400(warm)] TJ ET"}, "p the lake cabin is warm"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.pages...))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// What belongs together in lines below each other, and what does not.
func TestLines(t *testing.T) {
	below := func(lines ...string) string { // lines of 11 points from the top of the page
		for i, l := range lines {
			lines[i] = fmt.Sprintf("72 %d 11 %s", 700-13*i, l)
		}
		return drawPage(lines...)
	}
	const full = "The harbour museum shows the boats of the lake, and how they were built, "
	for name, c := range map[string]struct{ page, want string }{
		"hyphens": {below(full+"in the G\\344rtner-", "stra\\337e and by e-", "mail to bib-", "west@lindau.example, on A-", "roads, in lunch-", "and dinnertime, with a well-known, well-", "known boat of 3-", "litre engines."),
			"p " + full + "in the Gärtnerstraße and by e-mail to bib-west@lindau.example, on A-roads, in lunch- and dinnertime, with a well-known, well-known boat of 3-litre engines."},
		"dashes": {below(full+"from 15:30\\226", "16:15, for all the visitors of the town, in winter until noon, and again in the whole of May/", "June, \\226", "if it rains \\226 later."), "p " + full + "from 15:30–16:15, for all the visitors of the town, in winter until noon, and again in the whole of May/June, – if it rains – later."},
		"figures": {below(full+"in length", "and for them paid 2.400,00 to one of the yards at the southern shore in the year", "2023. That was much. Four are of wood and older. The hotline for all is 0800 555", "7655. Call it."),
			"p " + full + "in length and for them paid 2.400,00 to one of the yards at the southern shore in the year 2023. That was much. Four are of wood and older. The hotline for all is 0800 555 7655. Call it."},
		"raised": {"BT /F1 11 Tf 72 700 Td (The cellar has 45 m) Tj /F1 6 Tf 4 Ts (2) Tj 0 Ts /F1 11 Tf ( and costs 298) Tj /F1 6 Tf 4 Ts (1) Tj 0 Ts /F1 11 Tf ( euros.) Tj ET", "p The cellar has 45 m² and costs 298¹ euros."},
		"items": {drawPage("72 700 11 \\225", "84 700 11 Changed: the file moved from one folder to", "84 687 11 Another folder, whose name is so long that this line is the widest of all the lines here.", "72 674 11 \\225", "84 674 11 Removed: it", "72 661 11 Text."),
			"l • Changed: the file moved from one folder to Another folder, whose name is so long that this line is the widest of all the lines here.\nl • Removed: it\np Text."},
		"chat": {below("[03.03.24, 18:02] Sven: the water comes back on 30 March, close the taps", "[03.03.24, 18:05] Ada: at last", "\\(1\\) Any person may become a member of the club, and many have done so.", "\\(2\\) Minors need a form."),
			"p [03.03.24, 18:02] Sven: the water comes back on 30 March, close the taps\np [03.03.24, 18:05] Ada: at last\np (1) Any person may become a member of the club, and many have done so.\np (2) Minors need a form."},
		"labels": {below("Discussed: Lutherkirche or Orangerie. The concert takes place in the", "Lutherkirche on 15 June at 18:00, and the emergency numbers are 110 for", "food: 95 euros.", "Policy number ........ 4711", "Name: Ada"),
			"p Discussed: Lutherkirche or Orangerie. The concert takes place in the Lutherkirche on 15 June at 18:00, and the emergency numbers are 110 for food: 95 euros.\nl Policy number .... 4711\nl Name: Ada"},
		"a short line that cannot end": {below("The garage in the yard of the mill is let from", "1 September 2023. "+full+"all by hand and in one year."), "p The garage in the yard of the mill is let from 1 September 2023. " + full + "all by hand and in one year."},
		"a label goes on":              {below("Numbers: fire 110, police 112, ambulance 113 in the whole country, plus", "food: 95 euros.", "Text."), "p Numbers: fire 110, police 112, ambulance 113 in the whole country, plus food: 95 euros.\np Text."},
		"plain headings": {drawPage("72 700 11 House rules", "72 670 11 \\247 3 Membership", "72 640 11 Any person may become a member.", "72 610 11 FEES", "72 597 11 The fee is 20 euros.", "72 567 11 Boats of the club", "72 537 11 There are four."),
			"title House rules\n6 § 3 Membership\np Any person may become a member.\n6 FEES\np The fee is 20 euros.\n6 Boats of the club\np There are four."},
		"days":                 {drawPage("72 700 11 Monday 3 June", "72 670 11 It rained.", "72 640 11 Tuesday 4 June", "72 610 11 It rained."), "6 Monday 3 June\np It rained.\n6 Tuesday 4 June\np It rained."},
		"a title with figures": {drawPage("72 740 18 Statement 3/2024", "72 700 11 "+full+"in one year."), "title Statement 3/2024\n1 Statement 3/2024\np " + full + "in one year."},
		"versions":             {drawPage("72 730 18 Changes", "72 700 16 1.4.2 \\(2024-03-18\\)", "72 670 11 Fixed: the chart.", "72 640 16 12", "72 610 11 "+full+"in all the years."), "title Changes\n1 Changes\n2 1.4.2 (2024-03-18)\nl Fixed: the chart.\np 12\np " + full + "in all the years."},
		"one line":             {below("Harbour museum"), "p Harbour museum"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.page))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
	for _, title := range []string{"letter.md.html", "Microsoft Word - x", "Budget 2024.xlsx"} {
		if doc, _ := Parse(t.Context(), makePDF("/Title ("+title+")", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")); doc.Title != "" {
			t.Errorf("%q is a title", title)
		}
	}
}

// Bullets may be drawn, and spaces of justified lines wide.
func TestDrawn(t *testing.T) {
	disc := func(x, y float64) string {
		return fmt.Sprintf("%g %g m %g %g %g %g %g %g c %g %g %g %g %g %g c f\n", x, y, x, y+2, x+4, y+2, x+4, y, x+4, y-2, x, y-2, x, y)
	}
	for name, c := range map[string]struct{ page, want string }{
		"bullets": {disc(72, 704) + disc(72, 678) + "80 661 4 4 re f " + drawPage("84 700 11 Juniors on Tuesday and Thursday with a coach of the club, all of them", "84 687 11 in boats", "84 674 11 Masters", "92 660 11 on Sunday"),
			"l • Juniors on Tuesday and Thursday with a coach of the club, all of them in boats\nl • Masters\nl • on Sunday"},
		"justified": {drawPage("72 700 11 and all of the lakes, as") + "BT /F1 11 Tf 20.2 Tw 72 687 Td (boats of many) Tj 0 -13 Td (boats of many) Tj 0 Tw 0 -13 Td (and all of the lakes, as) Tj ET",
			"p and all of the lakes, as boats of many boats of many and all of the lakes, as"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.page))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// The layout of a page with very many lines takes no more than its share of time and memory.
func TestLayoutIsBounded(t *testing.T) {
	n := 1 << 17
	if testing.Short() {
		n = 1 << 11
	}
	for name, place := range map[string]func(i int) (x, y float64, joined bool){
		"lines":                  func(i int) (float64, float64, bool) { return 0, float64(-12 * i), false },
		"one line":               func(i int) (float64, float64, bool) { return float64(20 * i), 0, i > 0 },
		"rows of moving columns": func(i int) (float64, float64, bool) { return float64(i%2*4*n + 3*i/2), float64(-i / 2), i%2 == 1 },
		"rows":                   func(i int) (float64, float64, bool) { return float64(i % 10 * 100), float64(-i / 10 * 12), i%10 > 0 },
		"lines up":               func(i int) (float64, float64, bool) { return float64(i % 3 * 100), float64(12 * i), false },
	} {
		var d document
		var runs []run
		for i := range n {
			x, y, joined := place(i)
			runs = append(runs, run{text: "ab", font: font{10, false}, base: y, joined: joined, box: box{x, y, x + 2, y + 8}})
		}
		start, _ := cputime.Spent()
		text := pageText{grids: unruledGrids(runs, 0)}
		for i, r := range runs {
			runs[i].grid, runs[i].cell = text.cellAt(r.box, 0)
		}
		d.pages = []page{{runs, text.grids}}
		if doc := d.layout(t.Context()); len(doc.Blocks) == 0 {
			t.Errorf("%s: nothing", name)
		}
		now, _ := cputime.Spent()
		if took := now - start; took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		} else {
			t.Log(name, took)
		}
	}
}

// No page is laid out once the context has ended.
func TestLayoutStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	pages := document{pages: []page{{runs: []run{{text: "One.", font: font{size: 10}}}}}}
	if doc := pages.layout(ctx); len(doc.Blocks) > 0 {
		t.Errorf("%d blocks", len(doc.Blocks))
	}
}

// FuzzLayout lays out pieces of text at any places, with lines between them.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("\x10\x80\x20\x0aone two three four five\n\x90\x80\x20\x0asix\n\x10\x70\x20\x0aseven-\n\x90\x70\x20\x1aEight: 9"))
	f.Add([]byte("\x10\x90\x40\x00\n\x10\x80\x40\x00\n\x10\x70\x40\x00\n\x10\x70\x00\x20\n\x30\x70\x00\x20\n\x50\x70\x00\x20\n\x12\x88\x20\x0aone two\n\x32\x88\x20\x0athree\n\x12\x78\x20\x0afour\n\x32\x78\x20\x0afive"))
	f.Add([]byte("\x10\x90\x40\x00\n\x10\x80\x40\x00\n\x10\x70\x40\x00\n\x12\x88\x20\x0aone two\n\x32\x88\x20\x0athree\n\x12\x78\x20\x0afour\n\x32\x78\x20\x0afive"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		var d document
		var runs []run
		var lines []box
		endPage := func() {
			var ink []box
			for _, r := range runs {
				ink = append(ink, r.box)
			}
			text := pageText{grids: gridsOf(lines, newInk(ink))}
			place := func() {
				for i, r := range runs {
					runs[i].grid, runs[i].cell = text.cellAt(r.box, 0)
				}
			}
			place()
			text.grids = append(text.grids, unruledGrids(runs, 0)...)
			place()
			d.pages, runs, lines = append(d.pages, page{runs, text.grids}), nil, nil
		}
		for piece := range bytes.SplitSeq(data, []byte("\n")) {
			if len(piece) == 4 {
				x, y := float64(piece[0])*3, float64(piece[1])*4
				lines = append(lines, box{x, y, x + 3*float64(piece[2]), y + 4*float64(piece[3])})
				continue
			}
			if len(piece) < 4 {
				endPage()
				continue
			}
			text := english.Collapse(string(piece[4:]))
			if text == "" {
				continue
			}
			x, y, wide, size := float64(piece[0])*3, float64(piece[1])*4, float64(piece[2]), float64(piece[3]&31)+1
			runs = append(runs, run{text: text, font: font{size, piece[3]&32 > 0}, base: y, joined: piece[3]&64 > 0, hyphen: piece[3]&128 > 0, box: box{x, y, x + wide, y + size}})
		}
		endPage()
		letters := func(s string) (n int) {
			for _, r := range s {
				if unicode.IsLetter(r) {
					n++
				}
			}
			return n
		}
		doc, want := d.layout(t.Context()), 0
		got := letters(doc.Title)
		for _, page := range d.pages { // without the margins
			for _, r := range page.runs {
				want += letters(r.text)
			}
		}
		want -= letters(repeatedHeads(d))
		for _, b := range doc.Blocks {
			if got += letters(b.Text); b.Text != english.Collapse(b.Text) || (b.Level > 0) != (b.Kind == blocks.Heading) {
				t.Fatalf("%+v", b)
			}
		}
		if got < want {
			t.Fatalf("%d of %d letters in %+v", got, want, doc.Blocks)
		}
	})
}

// repeatedHeads returns the names of columns that a table repeats where it goes on, which are read once.
func repeatedHeads(d document) (text string) {
	var t *table
	words := d.compounds()
	for _, page := range d.pages {
		for _, l := range page.lines(words) {
			if l.table == nil {
				t = nil
				continue
			}
			if t == nil {
				t = l.table
				continue
			}
			rows := len(t.Rows) + len(l.table.Rows)
			if !t.goOn(l.table) {
				t = l.table
			} else if len(t.Rows) < rows {
				text += strings.Join(l.table.Rows[0], " ")
			}
		}
	}
	return text
}
