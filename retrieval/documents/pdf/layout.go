package pdf

import (
	"context"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// This file makes a document of lines: it finds where paragraphs begin and end, and what is a heading.

// layout returns the document: headings, paragraphs, items, and the rows of tables. It lays out no more pages once ctx has ended.
func (d *document) layout(ctx context.Context) blocks.Document {
	d.dropMargins()
	b := blockBuilder{doc: blocks.Document{Title: d.title}, words: d.compounds(), headings: map[int]float64{}}
	b.body, b.largest = d.fonts()
	for i, page := range d.pages {
		if ctx.Err() != nil {
			break
		}
		b.first = i == 0
		lines := page.lines(b.words)
		b.setPage(lines)
		for len(lines) > 0 {
			n := blockLength(lines)
			b.add(lines[:n])
			lines = lines[n:]
		}
	}
	b.below = true
	b.end()
	b.endTable()
	b.rank()
	for ; b.plain > 0; b.plain-- { // nothing is below them
		last := len(b.doc.Blocks) - b.plain
		b.doc.Blocks[last] = blocks.Block{Kind: blocks.Paragraph, Text: b.doc.Blocks[last].Text}
	}
	if len(b.doc.Blocks) == 0 && b.doc.Title != d.title { // the title is all the text
		b.doc.Add(blocks.Paragraph, b.doc.Title)
		b.doc.Title = d.title
	}
	b.doc.DemoteTitle(b.doc.Title != d.title)
	return b.doc
}

// fonts returns the most frequent font and the largest size.
func (d *document) fonts() (body font, largest float64) {
	letters := map[font]int{}
	for _, page := range d.pages {
		for _, r := range page.runs {
			f := font{math.Round(2*r.font.size) / 2, r.font.bold}
			largest = max(largest, r.font.size)
			if letters[f] += len(r.text); letters[f] > letters[body] {
				body = f
			}
		}
	}
	return body, largest
}

// blockLength returns the number of lines at the start of lines that stand below each other in one column and size.
func blockLength(lines []line) int {
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		dy := a.base - b.base
		if a.table != nil || b.table != nil || a.alone || b.alone || a.angle != b.angle || math.Abs(a.font.size-b.font.size) > 0.1*a.font.size ||
			dy < 0.3*a.font.size || dy > 2.5*a.font.size || min(a.box.right, b.box.right) < max(a.box.left, b.box.left) {
			return i
		}
	}
	return len(lines)
}

// blockBuilder makes blocks of lines.
type blockBuilder struct {
	doc     blocks.Document
	body    font    // of most of the text
	largest float64 // size of all fonts
	page    []line
	wide    float64 // how wide the text of the page is
	first   bool    // the page is the first

	words compounds
	table *table // the table at the end of what was added, which may go on on the next page

	headings map[int]float64 // sizes of headings by the index of their block
	plain    int             // the last blocks that only their place makes headings

	text  []byte  // of the current block
	lines int     // in text
	left  float64 // of the first of them
	item  bool    // the first of them begins an item
	font  font    // of the first of them; bold if all are
	last  line
	seen  line // the last of all that was added
	apart bool // there is a gap above the block
	below bool // there is a gap below last
	full  bool // last reaches the right edge of its column: the block may continue elsewhere
}

// setPage begins a page with the given lines.
func (b *blockBuilder) setPage(lines []line) {
	left, right := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		if l.table == nil {
			left, right = min(left, l.box.left), max(right, l.box.right)
		}
	}
	b.page, b.wide = lines, right-left
}

// add adds lines that stand below each other.
func (b *blockBuilder) add(lines []line) {
	gap := b.gapAbove(lines[0])
	b.below, b.seen = gap, lines[len(lines)-1]
	switch {
	case lines[0].table != nil:
		b.end()
		if b.table == nil || !b.table.goOn(lines[0].table) {
			b.endTable()
			b.table = lines[0].table
		}
		return
	case lines[0].alone:
		b.end()
		b.endTable()
		b.doc.Add(blocks.Line, lines[0].text)
		b.plain = 0
		return
	case b.areEntries(lines):
		b.end()
		b.endTable()
		for i, l := range lines {
			if i > 0 {
				gap = b.last.base-l.base > 1.8*l.font.size
				b.below = gap
				b.end()
			}
			b.apart = gap
			b.append(l)
		}
		return
	}
	b.endTable()
	column := lines[0].box
	var steps []float64
	for i, l := range lines {
		if column = column.union(l.box); i > 0 {
			steps = append(steps, lines[i-1].base-l.base)
		}
	}
	if len(lines) <= 4 && len(b.page) < 1000 { // too few to show the column's width
		for _, l := range b.page {
			if math.Abs(l.box.left-column.left) < 0.5*l.font.size && math.Abs(l.font.size-lines[0].font.size) < 0.1*l.font.size {
				column = column.union(l.box)
			}
		}
	}
	step := usualStep(steps, lines[0].font.size)
	for i, l := range lines {
		if i > 0 {
			gap = b.last.base-l.base > step+0.3*l.font.size
		}
		if i == 0 && !b.carries(l) || i > 0 && (gap || b.breaks(l, column)) {
			b.below = gap
			b.end()
			b.apart = gap
		}
		b.append(l)
	}
	b.full = len(lines) > 1 && b.last.box.right > column.right-0.1*(column.right-column.left)
}

// usualStep returns the distance of lines in a paragraph, given those of lines below each other: the middle one, or the least if
// most of the others have an empty line between them.
func usualStep(steps []float64, size float64) float64 {
	slices.Sort(steps)
	if len(steps) < 2 {
		return 1.5 * size
	}
	middle := steps[(len(steps)-1)/2]
	for _, s := range steps {
		if s > 0.95*size && s < middle/1.6 {
			return s
		}
	}
	return middle
}

// areEntries reports whether lines are no running text but entries, as those of an address or beside one: few and short, each
// begins as a sentence does and none ends as one, and in half of them are figures or labels.
func (b *blockBuilder) areEntries(lines []line) bool {
	if len(lines) < 2 || len(lines) > 6 || b.lines > 0 && b.full {
		return false
	}
	column, marked := lines[0].box, 0
	for _, l := range lines {
		column = column.union(l.box)
		if l.grid > 0 || l.hyphen || l.font.size > 1.15*b.body.size || textline.IsItem(l.text) || textline.BeginsLower(l.text) || strings.ContainsAny(l.text[len(l.text)-1:], ".,;-?!") || english.CountWords(l.text) > 7 {
			return false
		}
		if textline.IsLabel(l.text) || strings.ContainsAny(l.text, "0123456789") {
			marked++
		}
	}
	return column.right-column.left < 0.45*b.wide && 2*marked >= len(lines)
}

// gapAbove reports whether a line stands apart from what was added before.
func (b *blockBuilder) gapAbove(l line) bool {
	up := b.seen.base - l.base
	return l.table != nil || b.seen.text == "" || up > 1.8*l.font.size || up < 0
}

// carries reports whether the current block continues with a line in another column or on another page.
func (b *blockBuilder) carries(l line) bool {
	return b.lines > 0 && b.full && math.Abs(b.font.size-l.font.size) < 0.1*l.font.size && b.font.bold == l.font.bold &&
		l.base > b.last.base && textline.BeginsLower(l.text) && (b.last.hyphen || !textline.EndsSentence(b.last.text))
}

// breaks reports whether a new block begins with a line close below the last.
func (b *blockBuilder) breaks(l line, column box) bool {
	last, size := b.last, l.font.size
	word, _, _ := strings.Cut(l.text, " ")
	wide := (l.box.right - l.box.left) * float64(len(word)) / float64(len(l.text))
	early := last.box.right+wide < column.right-0.5*size // the word would have fitted into the last line
	indented := l.box.left > last.box.left+0.8*size && l.box.left > column.left+0.8*size
	lower := textline.BeginsLower(l.text)
	switch {
	case textline.Binds(last.text), !early && longNumber.MatchString(l.text) && !textline.EndsSentence(last.text): // no item "2023."
		return false
	case textline.IsItem(l.text), textline.IsStamped(l.text):
		return true
	case last.hyphen:
		return false
	case b.largeFont(): // a heading goes on
		return false
	case b.item && l.box.left > b.left+0.3*size && l.box.left >= last.box.left-0.3*size: // below the item's text
		return false
	case textline.IsLabel(l.text) && (early || textline.IsLabel(last.text)) && (early || !lower), b.lines == 1 && textline.IsLabel(last.text) && !lower:
		return true
	case b.font.bold && !l.font.bold && (early || b.lines < 3), l.font.bold && !b.font.bold && early:
		return true
	}
	return !lower && (early || indented && textline.EndsSentence(last.text))
}

// longNumber is a number that ends a sentence rather than begins an item.
var longNumber = regexp.MustCompile(`^\d{3,}[.)] `)

// append adds a line to the current block.
func (b *blockBuilder) append(l line) {
	if b.lines == 0 {
		b.font, b.left, b.item = l.font, l.box.left, textline.IsItem(l.text)
	} else {
		b.text = b.words.between(b.text, b.last.run, l.run)
	}
	b.text = append(b.text, l.text...)
	b.font.bold = b.font.bold && l.font.bold
	b.last, b.full, b.below = l, false, false
	b.lines++
}

// end ends the current block.
func (b *blockBuilder) end() {
	if b.lines == 0 {
		return
	}
	if b.last.hyphen {
		b.text = append(b.text, '-')
	}
	text := string(b.text)
	kind, plain := blocks.Paragraph, 0
	switch {
	case b.isTitle(text):
		b.doc.Title = text
		b.text, b.lines, b.full = b.text[:0], 0, false
		return
	case b.isHeading(text):
		kind = blocks.Heading
		if b.standsAlone(text) && !b.font.bold {
			plain = b.plain + 1
		}
		b.headings[len(b.doc.Blocks)] = b.font.size
		if b.doc.Title == "" && b.first && b.font.size >= b.largest-0.5 && b.largeFont() {
			b.doc.Title = text
		}
	case b.item, b.lines == 1 && textline.IsLabel(text):
		kind = blocks.Line
	}
	b.doc.Add(kind, text)
	b.text, b.lines, b.full, b.plain = b.text[:0], 0, false, plain
}

// rank gives headings their levels by size. Those in letters of the usual size have the lowest.
func (b *blockBuilder) rank() {
	var sizes []float64
	for _, size := range b.headings {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	sizes = slices.CompactFunc(sizes, func(a, b float64) bool { return math.Abs(a-b) < 0.5 })
	for i, size := range b.headings {
		level := sort.Search(len(sizes), func(n int) bool { return sizes[n] < size+0.5 }) + 1
		if size > 1.15*b.body.size && level < blocks.LowestLevel {
			b.doc.Blocks[i].Level = uint8(level)
		}
	}
}

// largeFont reports whether the current block is in larger letters than most of the text.
func (b *blockBuilder) largeFont() bool { return b.font.size > 1.15*b.body.size }

// isTitle reports whether the current block, the first, is the title of a document in letters of one size.
func (b *blockBuilder) isTitle(text string) bool {
	return b.doc.Title == "" && b.first && len(b.doc.Blocks) == 0 && b.standsAlone(text)
}

// standsAlone reports whether the current block reads like a title and is a line with gaps above and below, in a document in
// letters of one size, where nothing else tells titles from text.
func (b *blockBuilder) standsAlone(text string) bool {
	return b.lines == 1 && b.apart && b.below && b.largest < 1.15*b.body.size && textline.LooksLikeTitle(text) && !textline.IsLabel(text) && !b.item && strings.ContainsFunc(text, unicode.IsLetter)
}

// isHeading reports whether the current block is a heading: short, without the end of a sentence, and in larger or bolder
// letters than most of the text.
func (b *blockBuilder) isHeading(text string) bool {
	if b.lines > 3 || english.CountWords(text) > blocks.MaxHeading || strings.ContainsAny(text[len(text)-1:], ".,;:") || !strings.ContainsFunc(text, unicode.IsLetter) && english.CountWords(text) < 2 {
		return false
	}
	if b.lines == 1 && b.apart && textline.IsMarked(text) || b.standsAlone(text) {
		return true
	}
	bold := b.font.bold && !b.body.bold && b.lines < 3 && english.CountWords(text) <= blocks.MaxHeading/2 && !textline.IsLabel(text)
	return b.largeFont() || bold && b.font.size > 0.9*b.body.size
}

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

// This file makes lines of runs. It keeps the order in which the file draws them, which is nearly always the order in which
// they are read, and changes it only where lines run across columns.

// line is a line of a column, or a table.
type line struct {
	run
	alone bool   // it belongs to no paragraph
	table *table // nil for a line
}

// lines returns the lines and tables of a page, in the order in which the file draws them.
func (p page) lines(words compounds) (out []line) {
	cells := p.cellRuns()
	placed := make([]bool, len(p.grids)+1)
	var plain []run
	flush := func() {
		out = append(out, pairLabels(linesOf(rowsOf(plain)))...)
		plain = nil
	}
	for _, r := range p.runs {
		if r.grid == 0 {
			plain = append(plain, r)
		} else if !placed[r.grid] {
			flush()
			out = append(out, gridLines(p.grids[r.grid-1], cells[r.grid-1], words)...)
			placed[r.grid] = true
		}
	}
	flush()
	return out
}

// rowsOf groups runs that stand on one line.
func rowsOf(runs []run) (rows [][]run) {
	for i, r := range runs {
		if i == 0 || !r.joined {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], r)
	}
	return rows
}

// maxCells is the greatest number of runs in a row in which columns are looked for.
const maxCells = 16

// linesOf puts the lines of columns that stand side by side in order, column after column.
func linesOf(rows [][]run) (out []line) {
	rows = joinJustified(rows)
	for at := 0; at < len(rows); {
		n, left, right := divide(rows[at:])
		if n > 0 && isText(left) && isText(right) {
			out = append(append(out, linesOf(left)...), linesOf(right)...)
			at += n
			continue
		}
		for end := at + max(n, 1); at < end; at++ {
			l := joinRow(rows[at])
			if isPair(rows, at) {
				l.text, l.alone = blocks.JoinCells([]string{rows[at][0].text, rows[at][1].text}), true
			}
			out = append(out, l)
		}
	}
	return out
}

// divide finds the gap in the first row that most rows below it share. It returns the number of these rows, with the first,
// and what they have on both sides of the gap. The number is 0 if the first row has no gap.
func divide(rows [][]run) (n int, left, right [][]run) {
	first := rows[0]
	if len(first) > maxCells {
		return 0, nil, nil
	}
	var middle float64
	for i := 1; i < len(first); i++ {
		if m, at := sharedGap(rows, first[i-1].box.right, first[i].box.left); m > n {
			n, middle = m, at
		}
	}
	for _, row := range rows[:n] {
		var l, r []run
		for _, run := range row {
			if run.box.left+run.box.right < 2*middle {
				l = append(l, run)
			} else {
				r = append(r, run)
			}
		}
		if len(l) > 0 {
			left = append(left, l)
		}
		if len(r) > 0 {
			right = append(right, r)
		}
	}
	return n, left, right
}

// sharedGap returns the number of rows at the start of rows that leave the gap from lo to hi free, or enough of it, and the
// middle of what all leave free.
func sharedGap(rows [][]run, lo, hi float64) (n int, middle float64) {
	for i, row := range rows {
		size := row[0].font.size
		if i > 0 {
			if dy := rows[i-1][0].base - row[0].base; dy < -size || dy > 4*size || row[0].angle != rows[0][0].angle {
				break
			}
		}
		l, h, m := lo, hi, (lo+hi)/2
		for _, run := range row {
			if run.box.left+run.box.right < 2*m {
				l = max(l, run.box.right)
			} else {
				h = min(h, run.box.left)
			}
		}
		if h-l < 0.7*size {
			break
		}
		lo, hi, n = l, h, n+1
	}
	return n, (lo + hi) / 2
}

// isText reports whether rows are lines of running text rather than cells of a table: at least three, of several words, and
// most of them about as long as the longest.
func isText(rows [][]run) bool {
	words, widest, long := 0, 0.0, 0
	width := func(row []run) float64 { return row[len(row)-1].box.right - row[0].box.left }
	for _, row := range rows {
		widest = max(widest, width(row))
		for _, run := range row {
			words += english.CountWords(run.text)
		}
	}
	for _, row := range rows {
		if width(row) > 0.75*widest {
			long++
		}
	}
	return len(rows) >= 3 && words >= 4*len(rows) && 2*long > len(rows)
}

// joinJustified joins the runs of rows whose gaps are only wide spaces: they begin and end where a whole line near them does.
func joinJustified(rows [][]run) [][]run {
	alike := func(a, b []run, lines int) bool {
		size, last := a[0].font.size, len(a)-1
		for i := range last {
			if a[i].box.gap(a[i+1].box) > 1.5*cellGap*size {
				return false
			}
		}
		return math.Abs(a[0].box.left-b[0].box.left) < 0.2*size && math.Abs(a[last].box.right-b[0].box.right) < 0.2*size &&
			math.Abs(a[0].base-b[0].base) < 2*size*float64(lines)
	}
	out := slices.Clone(rows)
	for i, row := range rows {
		for j := max(0, i-3); len(row) > 1 && j < min(len(rows), i+4); j++ {
			if len(rows[j]) == 1 && alike(row, rows[j], max(i-j, j-i)) {
				out[i] = []run{joinRow(row).run}
				break
			}
		}
	}
	return out
}

// isPair reports whether row i is a name and its value: it has two runs, and so has the row above or below.
func isPair(rows [][]run, i int) bool {
	if len(rows[i]) != 2 || textline.ListMark.MatchString(rows[i][0].text) {
		return false
	}
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(rows) && len(rows[j]) == 2 && math.Abs(rows[i][0].base-rows[j][0].base) < rowDistance*rows[i][0].font.size {
			return true
		}
	}
	return false
}

// joinRow makes a line of the runs of a row. With a wide gap or a leader it belongs to no paragraph.
func joinRow(row []run) line {
	l := line{run: row[0], alone: strings.Contains(row[0].text, leader)}
	texts := []string{l.text}
	marked := textline.ListMark.MatchString(l.text)
	for i, run := range row[1:] {
		texts = append(texts, run.text)
		l.box = l.box.union(run.box)
		l.alone = l.alone || run.box.left-row[i].box.right > 2*cellGap*run.font.size && !(marked && i == 0)
		l.font.bold, l.hyphen = l.font.bold && run.font.bold, run.hyphen
	}
	l.text = strings.Join(texts, " ")
	return l
}
