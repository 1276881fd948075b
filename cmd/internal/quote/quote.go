// Package quote writes the sentences of documents that support a part of an answer, or that come close, as lines for a terminal.
// What a part is for, and what else is said of it, is for its callers.
package quote

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
)

// Place names a document and, unless there is only one, its side.
func Place(title, side string) string {
	switch {
	case title == "":
		return "the " + side
	case side == "":
		return title
	}
	return title + ", " + side
}

// Of returns the sentences that say a part of an answer, and the texts that come close, as lines. stress marks what answers. A
// sentence that is the answer itself is not repeated: only its place is given. Of a passage the likeliest sentence stands alone, and
// the text around it below, in a few lines of a terminal that is columns wide.
func Of(p api.Part, columns int, stress func(string) string) (say, near []string) {
	before := ""
	for _, c := range p.Citations {
		if c.Text == before || c.Weight < decoder.MinShare && alreadyShown(p, c.Text) {
			continue
		}
		before = c.Text
		if p.Unknown && c.To > c.From {
			c = completed(c)
		}
		switch sentence := OneLine(c.Text[c.From:c.To]); {
		case c.Weight >= decoder.MinShare && isAnswer(p, c):
			say = append(say, "– "+cli.Escape(Place(c.Title, c.Side)))
		case c.Weight >= decoder.MinShare:
			say = append(say, quoteOf(c, stress))
		case p.Unknown && sentence != "":
			sentence = api.Citation{Text: strings.TrimSpace(sentence)}.WithoutMark().Text
			label, heading := above(c)
			near = append(near, "  "+quoteWithPlace(label+stress(cutAfter(sentence, 2*mostAside)), below(c, heading)))
			if around := aroundOf(c, columns); around != "" {
				near = append(near, "    "+around)
			}
		default:
			near = append(near, "  "+quoteOf(c, stress))
		}
	}
	return say, near
}

// isAnswer reports whether a sentence is all that a part says.
func isAnswer(p api.Part, c api.Citation) bool {
	return OneLine(strings.TrimSpace(c.WithoutMark().Text)) == OneLine(strings.TrimSpace(p.Text))
}

// linesAround is how many lines of a terminal the text around a sentence may take.
const linesAround = 3

// aroundOf returns the text around a passage's likeliest sentence, without the marks of items, in a few lines of a terminal that is
// columns wide. The text behind the sentence has twice the room of the text before it, and each has what the other leaves.
func aroundOf(c api.Citation, columns int) string {
	before, after := strings.TrimSpace(OneLine(withoutMarks(c.Text[:c.From]))), strings.TrimSpace(OneLine(withoutMarksBelow(c.Text[c.To:])))
	room := linesAround * max(columns-10, 10) // lines are indented, and broken at spaces
	first, second := utf8.RuneCountInString(before), utf8.RuneCountInString(after)
	before, after = cutBefore(before, max(room/3, room-second)), cutAfter(after, max(room-room/3, room-first))
	if before == "" && after == "" {
		return ""
	}
	return strings.TrimSpace(before + " … " + after)
}

// withoutMarks removes the marks of items from the lines of a text.
func withoutMarks(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = api.Citation{Text: strings.TrimSpace(line)}.WithoutMark().Text
	}
	return strings.Join(lines, "\n")
}

// withoutMarksBelow is withoutMarks for a text that goes on with a line.
func withoutMarksBelow(text string) string {
	line, below, more := strings.Cut(text, "\n")
	if !more {
		return line
	}
	return line + "\n" + withoutMarks(below)
}

// alreadyShown reports whether a text is among what says a part, or what says something else, or is a part or a longer copy
// of it.
func alreadyShown(p api.Part, text string) bool {
	same := func(c api.Citation) bool {
		return c.Text != "" && (strings.Contains(c.Text, text) || strings.Contains(text, c.Text))
	}
	said := func(c api.Citation) bool { return c.Weight >= decoder.MinShare && same(c) }
	return slices.ContainsFunc(p.Citations, said) || slices.ContainsFunc(p.Otherwise, same)
}

// Otherwise says which document says something else than the answer, if one might as well be right.
func Otherwise(p api.Part, stress func(string) string) (lines []string) {
	for _, c := range p.Otherwise {
		if c.Text == "" {
			lines = append(lines, "says otherwise: a document of the "+c.Side)
		} else {
			lines = append(lines, "says otherwise: "+quoteOf(c, stress))
		}
	}
	return lines
}

// quoteOf returns a sentence and where it stands, on one line. stress marks what of it answers.
func quoteOf(c api.Citation, stress func(string) string) string {
	c = c.WithoutMark()
	return quoteWithPlace(cutBefore(OneLine(c.Text[:c.From]), mostAside)+stress(cutAfter(OneLine(c.Text[c.From:c.To]), 2*mostAside))+cutAfter(OneLine(c.Text[c.To:]), mostAside), c)
}

// mostAside is how many characters of a sentence are shown on each side of what answers: a line of a log may have megabytes.
const mostAside = 240

// cutBefore returns the last characters, at most most, of a text that is long, from the start of a word on.
func cutBefore(text string, most int) string {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	at := 0
	for range n - most {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	if space := strings.IndexByte(text[at:], ' '); space >= 0 {
		at += space
	}
	return "…" + text[at:]
}

// cutAfter returns the first characters, at most most, of a text that is long, up to the end of a word.
func cutAfter(text string, most int) string {
	at := 0
	for range most {
		if at == len(text) {
			return text
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	if at == len(text) {
		return text
	}
	if space := strings.LastIndexByte(text[:at+1], ' '); space >= 0 {
		at = space + 1
	}
	return text[:at] + "…"
}

// quoteWithPlace returns a text in quotation marks, the column of a table that answers, and where the text stands.
func quoteWithPlace(text string, c api.Citation) string {
	column := ""
	if c.Column != "" {
		column = " (column: " + Cut(c.Column) + ")"
	}
	return fmt.Sprintf("“%s”%s – %s", text, column, cli.Escape(Place(c.Title, c.Side)))
}

var (
	lineEnds = regexp.MustCompile(`\s*\n\s*`)
	spaces   = regexp.MustCompile(`\s+`)
)

// OneLine returns a document's text on one line. Slashes stand between its lines, as between those of a poem.
func OneLine(text string) string {
	return cli.Escape(spaces.ReplaceAllString(lineEnds.ReplaceAllString(text, " / "), " "))
}

// Cut returns the beginning of a text on one line, up to the end of a word.
func Cut(text string) string { return cutAfter(OneLine(text), mostAside) }
