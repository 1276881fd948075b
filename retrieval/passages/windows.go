package passages

import (
	"math"
	"slices"
	"strings"

	"tandem/internal/sentences"
	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

// piece is a part of a document that windows do not divide: a sentence, a line, a row of a table or a heading.
type piece struct {
	text    string
	gap     string // what stands between the piece before it in its block and this one: a blank, or nothing
	words   int
	kind    documents.Kind
	opens   bool     // it is the first of its block
	apart   bool     // it begins a text of its own
	strands bool     // it says little without what is below it
	path    []string // the headings above it, and itself if it is one
	lead    int      // the head of its table, or the line above its list; -1 if there is none
}

// Lengths in words, and relative to the target.
const (
	maxWindow      = 1.6 // of a window of several pieces
	longOf         = 3   // of a piece; longer sentences are divided,
	minLong        = 64  // but not below this length
	longestLead    = 32  // of a table's head or a list's first line that is repeated
	longestCaption = 8   // of a line that may be a heading that was not marked
)

// cutWindows divides a document into windows of about the given number of words, in order. Each begins where a section, a
// paragraph or at least a sentence begins. In a window that goes on with a table or a list, the table's head or the line
// above the list comes first.
func cutWindows(doc documents.Document, source string, words int) []Passage {
	ps := pieces(doc, max(words*longOf, minLong))
	var out []Passage
	from := 0
	for _, to := range divide(ps, words) {
		if p := window(doc.Title, source, ps, from, to); p.Text != "" {
			out = append(out, p)
		}
		from = to
	}
	return out
}

// pieces divides a document into pieces of at most the given number of words.
func pieces(doc documents.Document, maxWords int) []piece {
	var out []piece
	var above headings
	lead := -1
	for i, b := range doc.Blocks {
		if b.Kind == documents.Heading {
			above = above.with(b)
		}
		if !continues(doc.Blocks, i) {
			lead = -1
		}
		block := []string{b.Text}
		if b.Kind == documents.Paragraph {
			block = sentences.Split(b.Text)
		}
		introduces := i+1 < len(doc.Blocks) && continues(doc.Blocks, i+1) && b.Kind != documents.TableRow && b.Kind != documents.Line && b.Kind != documents.Code
		opens, gap, rest := true, "", b.Text
		for _, s := range block {
			for _, part := range english.SplitWords(s, maxWords) {
				gap, rest = english.Gap(rest, part)
				out = append(out, piece{text: part, gap: gap, words: english.CountWords(part), kind: b.Kind, opens: opens, apart: b.Apart && opens, path: above.texts, lead: lead})
				opens = false
			}
		}
		out[len(out)-1].strands = introduces || b.Kind == documents.Heading || isCaption(b) || isAnswered(doc.Blocks, i)
		if introduces {
			lead = len(out) - 1
		}
	}
	return out
}

// headings are the headings above a place, the highest first.
type headings struct {
	levels []uint8
	texts  []string
}

// with returns what is above the text below a heading. Headings of its level and of lower ones end.
func (h headings) with(b documents.Block) headings {
	n := 0
	for n < len(h.levels) && h.levels[n] < b.Level {
		n++
	}
	return headings{append(slices.Clone(h.levels[:n]), b.Level), append(slices.Clone(h.texts[:n]), b.Text)}
}

// continues reports whether block i is a row of a table that began before, or an item of a list that began before or that
// the block before it introduces.
func continues(blocks []documents.Block, i int) bool {
	if i == 0 {
		return false
	}
	before := blocks[i-1]
	switch blocks[i].Kind {
	case documents.TableRow:
		return before.Kind == documents.TableHead || before.Kind == documents.TableRow
	case documents.Line, documents.Code:
		return before.Kind == documents.Line || before.Kind == documents.Code || before.Kind == documents.Paragraph && strings.HasSuffix(before.Text, ":") || isCaption(before)
	}
	return false
}

// isCaption reports whether a block is a short line that does not end as a sentence does.
func isCaption(b documents.Block) bool {
	return b.Kind == documents.Paragraph && !strings.ContainsAny(b.Text[len(b.Text)-1:], ".!?;,") && english.CountWords(b.Text) <= longestCaption
}

// isAnswered reports whether block i is a paragraph or a line that ends with a question, and text that may answer it follows.
func isAnswered(blocks []documents.Block, i int) bool {
	b := blocks[i]
	asks := (b.Kind == documents.Paragraph || b.Kind == documents.Line) && (strings.HasSuffix(b.Text, "?") || strings.HasSuffix(b.Text, "？"))
	return asks && i+1 < len(blocks) && blocks[i+1].Kind != documents.Heading
}

// divide returns the ends of the windows whose costs have the smallest sum.
func divide(ps []piece, target int) (ends []int) {
	cost, from := make([]float64, len(ps)+1), make([]int, len(ps)+1)
	for end := 1; end <= len(ps); end++ {
		cost[end] = math.Inf(1)
		words, inner := 0, 0.0
		most := max(int(maxWindow*float64(target)), ps[end-1].words+documents.MaxHeading) // with the heading of a long piece
		for begin := end - 1; begin >= 0; begin-- {
			p := ps[begin]
			if words += p.words; words > most {
				break
			}
			if c := cost[begin] + breakCost(ps, begin) + lengthCost(words, target) + inner; c < cost[end] {
				cost[end], from[end] = c, begin
			}
			if p.apart {
				break
			}
			if p.kind == documents.Heading {
				inner += headingCost
			}
		}
	}
	for end := len(ps); end > 0; end = from[end] {
		ends = append(ends, end)
	}
	slices.Reverse(ends)
	return ends
}

// Costs of a division into windows, in arbitrary units: a window of half the target length costs 1/4.
const (
	overCost     = 3    // of words above the target, relative to words that are missing
	headingCost  = 0.12 // of a heading within a window
	blockCost    = 0.02 // of a window that begins with a paragraph
	lineCost     = 0.08 // of one that begins with a line or row
	sentenceCost = 0.15 // of one that begins within a paragraph
	strandCost   = 100  // of a heading, a question or the like without what comes after it
)

// lengthCost returns the cost of a window's length.
func lengthCost(words, target int) float64 {
	d := float64(words-target) / float64(target)
	if d > 0 {
		return overCost * d * d
	}
	return d * d
}

// breakCost returns the cost of beginning a window with piece i.
func breakCost(ps []piece, i int) (cost float64) {
	if i == 0 {
		return 0
	}
	if ps[i-1].strands {
		cost = strandCost
	}
	switch p := ps[i]; {
	case p.kind == documents.Heading:
		return cost
	case !p.opens:
		return cost + sentenceCost
	case p.kind == documents.Paragraph:
		return cost + blockCost
	}
	return cost + lineCost
}

// window makes a passage of the pieces from one index to another. The headings above all of them become part of the title;
// others are lines of the text, each below an empty one.
func window(title, source string, ps []piece, from, to int) Passage {
	first, path := ps[from], ps[from].path
	for _, p := range ps[from+1 : to] {
		path = common(path, p.path)
	}
	var b strings.Builder
	add := func(p piece, separator string) {
		if b.Len() > 0 {
			b.WriteString(separator)
		}
		if p.kind == documents.Code {
			b.WriteString(CodeMark)
		}
		b.WriteString(p.text)
	}
	for i, h := range first.path[min(len(path), len(first.path)):] { // the sections that go on
		if first.kind != documents.Heading || i < len(first.path)-len(path)-1 {
			add(piece{text: h, kind: documents.Heading}, "\n\n")
		}
	}
	if first.lead >= 0 && ps[first.lead].words <= longestLead {
		add(ps[first.lead], "\n")
	}
	for i, p := range ps[from:to] {
		switch {
		case p.kind == documents.Heading && len(p.path) <= len(path): // in the title
		case p.kind == documents.Heading:
			add(p, "\n\n")
		case p.opens || i == 0:
			add(p, "\n")
		default:
			add(p, p.gap)
		}
	}
	for _, h := range path {
		if h != title {
			title += ": " + h
		}
	}
	p := Passage{Source: source, Title: title, Text: b.String()}
	p.ID = passageID(p)
	return p
}

// common returns what two paths have in common from the start.
func common(a, b []string) []string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
