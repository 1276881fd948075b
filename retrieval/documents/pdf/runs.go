package pdf

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// This file makes runs of PDFium's characters. PDFium puts them in order, adds spaces and line ends, and knows where each
// stands on the page.

// run is a piece of a line: the whole line, or a cell of a table, or the part of the line that is in one column.
type run struct {
	text   string
	font   font
	box    box
	base   float64 // the y on which its letters stand
	angle  float64 // counter-clockwise, in radians
	grid   int     // the grid of the page in which it stands, counted from 1; 0 for none
	cell   int     // the cell of that grid
	joined bool    // it stands on the line of the run before it,
	apart  bool    // without a space in the file between them, though the file has others
	hyphen bool    // its last word continues on the next line; the hyphen is not part of text
}

// font is the font of a character.
type font struct {
	size float64 // in points
	bold bool
}

// pageText is the text of a page.
type pageText struct {
	lib   pdfium.Pdfium
	page  references.FPDF_TEXTPAGE
	chars []*responses.GetPageTextStructuredChar
	angle float64 // in which most of the text runs
	grids []grid
}

// findGrids finds the grids that lines on the page make.
func (t *pageText) findGrids(lines []box) {
	angles := map[float64]int{} // in degrees
	most := 0.0
	for i := range t.chars {
		a := math.Round(t.angleOf(i) * 180 / math.Pi)
		if angles[a]++; angles[a] > angles[most] {
			most = a
		}
	}
	t.angle = most * math.Pi / 180
	if len(lines) < 3 {
		return
	}
	var ink []box
	for i, c := range t.chars {
		if strings.TrimSpace(c.Text) != "" && !turned(t.angleOf(i), t.angle) {
			ink = append(ink, t.box(i))
		}
	}
	for i, l := range lines {
		lines[i] = l.turn(t.angle)
	}
	t.grids = gridsOf(lines, newInk(ink))
}

// bulleted returns the runs with the bullets that the page has as drawings.
func (t *pageText) bulleted(runs []run, dots []box) []run {
	for _, d := range dots {
		d = d.turn(t.angle)
		for i := range runs {
			r := &runs[i]
			gap, middle := r.box.left-d.right, (d.top+d.bottom)/2
			if !r.joined && gap > -1 && gap < 2*r.font.size && middle > r.base-0.1*r.font.size && middle < r.base+0.8*r.font.size && !turned(r.angle, t.angle) && !textline.IsItem(r.text) {
				r.text, r.box.left = "• "+r.text, d.left
				break
			}
		}
	}
	return runs
}

// cellAt returns the grid, counted from 1, and the cell in which a character of an angle stands; 0 for no grid.
func (t *pageText) cellAt(b box, angle float64) (grid, cell int) {
	if turned(angle, t.angle) {
		return 0, 0
	}
	for i := range t.grids {
		if c := t.grids[i].cellAt(b.center()); c >= 0 {
			return i + 1, c
		}
	}
	return 0, 0
}

// font returns the font of character i.
func (t *pageText) font(i int) font {
	f := font{size: 1}
	if size, err := t.lib.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: t.page, Index: i}); err == nil {
		f.size = size.FontSize
	}
	if m, err := t.lib.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: t.page, Index: i}); err == nil {
		f.size *= math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D))
	}
	if info, err := t.lib.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: t.page, Index: i}); err == nil {
		const forceBold = 1 << 18 // ISO 32000-1, table 123
		name := strings.ToLower(info.FontName)
		f.bold = strings.Contains(name, "bold") || strings.Contains(name, "black") || info.Flags&forceBold != 0
	}
	if f.size = math.Abs(f.size); !(f.size > 0.5 && f.size < 1000) {
		f.size = 1
	}
	return f
}

// angleOf returns the direction in which text with character i runs, counter-clockwise from the x axis. PDFium counts clockwise.
func (t *pageText) angleOf(i int) float64 { return -t.chars[i].Angle }

// box returns the box of the ink of character i.
func (t *pageText) box(i int) box {
	p := t.chars[i].PointPosition
	return box{p.Left, p.Bottom, p.Right, p.Top}.turn(t.angleOf(i))
}

// space returns the space that the file leaves between two characters, whatever the ink of their letters.
func (t *pageText) space(i, j int) float64 {
	var boxes [2]box
	for n, at := range []int{i, j} {
		loose, err := t.lib.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: t.page, Index: at})
		if err != nil {
			return 0
		}
		r := loose.Rect
		boxes[n] = box{float64(r.Left), float64(r.Bottom), float64(r.Right), float64(r.Top)}.turn(t.angleOf(i))
	}
	return boxes[0].gap(boxes[1])
}

// text returns character i. It is empty for the second half of a character that UTF-16 writes in two.
func (t *pageText) text(i int) string {
	half := func(i int) rune {
		if i < 0 || i >= len(t.chars) || t.chars[i].Text != string(utf8.RuneError) {
			return 0
		}
		u, err := t.lib.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: t.page, Index: i})
		if err != nil {
			return 0
		}
		return rune(uint16(u.Unicode))
	}
	if this := half(i); this != 0 {
		if r := utf16.DecodeRune(this, half(i+1)); r != utf8.RuneError {
			return string(r)
		}
		return ""
	}
	return t.chars[i].Text
}

// Gaps between characters, in units of the font's size.
const (
	noGap   = 0.1 // below it a space is none: some programs move letters together with spaces
	wordGap = 0.2 // by that much wider than others between letters: a space, even if PDFium sees none
	cellGap = 1.5 // above it begins another cell or column
	lineGap = 0.5 // above it, vertically, begins another line
)

// runBuilder makes runs of characters.
type runBuilder struct {
	pageText
	done  []run
	run   run
	out   strings.Builder // the text of run; empty if no run has begun
	bases []float64       // the lower edges of its letters
	gaps  []letterGap     // where a space may be missing
	from  int             // the index of its first letter
	at    int             // the index of its last letter
	wide  float64         // a wider gap ends the run, in units of the font's size,
	made  float64         // and so does one wider than this with a space that PDFium made
	last  box             // the box of that letter
	space bool            // a space follows
	ended bool            // PDFium ended the line
	dash  bool            // a hyphen follows
}

// letterGap is the gap before the letter at an offset of the text.
type letterGap struct {
	at            int
	wide          float64
	before, after int // the indices of the letters
}

// runs joins the characters of a page to runs, and finds the grids that they make without lines.
func (t *pageText) runs() []run {
	made := math.Inf(1)
	if t.drawsSpaces() {
		made = madeGap
	}
	pieces := t.pieces(max(pieceGap, t.usualSpace()+spaceGap), made)
	grids := unruledGrids(pieces, t.angle)
	if len(grids) == 0 && !slices.ContainsFunc(pieces, func(p run) bool { return p.joined }) {
		return pieces
	}
	t.grids = append(t.grids, grids...)
	return t.pieces(cellGap, math.Inf(1))
}

// usualSpace returns the middle one of some of the spaces between words, in units of the font's size; 0 if there are few.
func (t *pageText) usualSpace() float64 {
	var at []int
	for i := 1; i+1 < len(t.chars); i++ {
		if t.chars[i].Text == " " && strings.TrimSpace(t.chars[i-1].Text) != "" && strings.TrimSpace(t.chars[i+1].Text) != "" {
			at = append(at, i)
		}
	}
	var gaps []float64
	for n := range min(len(at), maxSpaces) {
		i := at[n*len(at)/min(len(at), maxSpaces)]
		if gap := t.box(i-1).gap(t.box(i+1)) / t.font(i-1).size; gap < cellGap { // else between cells
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) < maxSpaces/4 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// maxSpaces is the greatest number of spaces of a page that are measured.
const maxSpaces = 32

// drawsSpaces reports whether most spaces of the page are in the file, rather than made by PDFium where it found gaps.
func (t *pageText) drawsSpaces() bool {
	drawn, made := 0, 0
	for i, c := range t.chars {
		switch {
		case c.Text != " ":
		case t.isMade(i):
			made++
		default:
			drawn++
		}
	}
	return drawn > made
}

// isMade reports whether PDFium made a space: such a one has no width.
func (t *pageText) isMade(i int) bool {
	p := t.chars[i].PointPosition
	return p.Right-p.Left < 1e-3 && p.Top-p.Bottom < 1e-3
}

// pieces joins the characters of a page to runs that wider gaps end, in units of the font's size, and so do gaps with a space
// that PDFium made.
func (t *pageText) pieces(wide, made float64) []run {
	b := runBuilder{pageText: *t, wide: wide, made: made}
	for i := range t.chars {
		switch text := t.text(i); text {
		case "":
		case "\r", "\n":
			b.ended = true
		case " ", "\u00a0", "\t":
			b.space = true
		case "\x02", "\u00ad": // PDFium's mark for a hyphen that ends a line; a soft hyphen
			b.dash = b.out.Len() > 0
		default:
			b.add(i, text)
		}
	}
	b.end()
	return b.done
}

// add appends a letter.
func (b *runBuilder) add(i int, text string) {
	box, angle := b.box(i), b.angleOf(i)
	grid, cell := b.cellAt(box, angle)
	if box.width() > 1e5 || box.height() > 1e5 || math.IsNaN(box.left+box.right+box.top+box.bottom) {
		return // nowhere near a page
	}
	if b.out.Len() > 0 && (grid != b.run.grid || grid > 0 && cell != b.run.cell) {
		b.end()
	} else if b.out.Len() > 0 {
		b.separate(i, box)
	}
	if b.out.Len() == 0 {
		b.run.font, b.run.box, b.run.angle, b.from = b.font(i), box, angle, i
		b.run.grid, b.run.cell = grid, cell
	}
	b.space, b.ended = false, false
	if size := b.run.font.size; text >= "0" && text <= "9" && len(b.bases) > 0 && box.bottom > b.bases[0]+0.2*size && box.height() < 0.63*size {
		text = textline.Raised(text)
	} else {
		b.bases = append(b.bases, box.bottom)
	}
	b.out.WriteString(ligatures.Replace(text))
	b.run.box = b.run.box.union(box)
	b.last, b.at = box, i
}

// ligatures are written as letters, so that words are found.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// bullets begin items; CutMarker knows the first. Programs take the others from fonts of signs.
var bullets = strings.NewReplacer("\uf0b7", "•", "\uf0a7", "•", "▪", "•", "◦", "•", "○", "•", "●", "•", "■", "•", "□", "•", "‣", "•", "⁃", "•", "➢", "•", "➔", "•", "✓", "•")

// plainBullet returns a line with a bullet at its start that CutMarker knows.
func plainBullet(line string) string {
	r, n := utf8.DecodeRuneInString(line)
	if r == utf8.RuneError || unicode.IsLetter(r) || unicode.IsDigit(r) || !strings.HasPrefix(line[n:], " ") {
		return line
	}
	return bullets.Replace(line[:n]) + line[n:]
}

// leader stands for a row of dots between a name and its value, as in a table of contents.
const leader = " .... "

var leaders = regexp.MustCompile(`(?:\s*[.…·_]){4,}\s*`)

// separate writes what stands between the last letter and letter i, which is at box: nothing, a hyphen, a space, or the
// end of the run.
func (b *runBuilder) separate(i int, next box) {
	size := b.run.font.size
	gap := b.last.gap(next)
	turned := turned(b.angleOf(i), b.run.angle)
	below := max(next.bottom-b.run.box.top, b.run.box.bottom-next.top) > lineGap*size
	aside := !turned && min(next.top, b.run.box.top)-max(next.bottom, b.run.box.bottom) > 0.5*min(next.height(), b.run.box.height())
	switch {
	case turned, below, (b.ended || b.dash) && !(aside && gap > -lineGap*size):
		b.end()
	case gap > b.wide*size && (b.space || b.ended), gap > b.made*size && b.space && b.isMade(i-1):
		b.end()
		b.run.joined, b.run.apart = true, b.made < math.Inf(1) && b.space && b.isMade(i-1)
	default:
		if b.dash {
			b.out.WriteByte('-')
		}
		if b.space && gap > noGap*size {
			b.out.WriteByte(' ')
		} else if isWordEnd(b.chars[b.at].Text, b.chars[i].Text) {
			b.gaps = append(b.gaps, letterGap{b.out.Len(), gap, b.at, i})
		}
	}
	b.dash = false
}

// isWordEnd reports whether a word may end between two letters without a space. Around points and dashes there are gaps in
// words, too: "3 . 5".
func isWordEnd(before, after string) bool {
	a, _ := utf8.DecodeRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return word(b) && word(a) || unicode.IsLetter(b) && (a == ',' || a == ';') || unicode.IsUpper(b) && a == '.'
}

// end ends the run.
func (b *runBuilder) end() {
	if b.out.Len() == 0 {
		return
	}
	b.run.text, b.run.hyphen = plainBullet(english.Collapse(leaders.ReplaceAllString(b.spaced(), leader))), b.dash
	letter := (b.from + b.at) / 2 // the first may be a bullet, or larger
	for letter < b.at && strings.TrimSpace(b.chars[letter].Text) == "" {
		letter++ // PDFium's own spaces have no font
	}
	first, middle := b.run.font, b.font(letter)
	b.run.font = font{middle.size, first.bold && middle.bold && b.font(b.at).bold}
	slices.Sort(b.bases)
	b.run.base = b.bases[len(b.bases)/2] // there is one: a run does not begin with a raised figure
	if b.run.text != "" {
		b.done = append(b.done, b.run)
	}
	b.run, b.bases, b.gaps, b.dash = run{}, b.bases[:0], b.gaps[:0], false
	b.out.Reset()
}

// spaced returns the text of the run, with spaces where PDFium missed them.
func (b *runBuilder) spaced() string {
	text := b.out.String()
	if len(b.gaps) == 0 {
		return text
	}
	wide := make([]float64, len(b.gaps))
	for i, g := range b.gaps {
		wide[i] = g.wide
	}
	slices.Sort(wide)
	usual := max(wide[len(wide)/2], 0)
	var out strings.Builder
	from := 0
	for _, g := range b.gaps {
		if size := b.run.font.size; g.wide > usual+wordGap*size && b.pageText.space(g.before, g.after) > noGap*size {
			out.WriteString(text[from:g.at] + " ")
			from = g.at
		}
	}
	return out.String() + text[from:]
}
