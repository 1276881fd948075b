package pdf

import (
	"bytes"
	"strings"

	"tandem/retrieval/internal/textline"
)

// compounds are the words with a hyphen that stand within lines of a document.
type compounds struct{ textline.Compounds }

// compounds returns those of a document.
func (d *document) compounds() compounds {
	out := compounds{textline.Compounds{}}
	for _, page := range d.pages {
		for _, r := range page.runs {
			out.Add(r.text)
		}
	}
	return out
}

// between appends to a text that ends with a run what stands before the run after it: a space, a hyphen, or nothing if a
// hyphen only divides a word between two lines.
func (c compounds) between(text []byte, last, next run) []byte {
	if next.joined {
		return append(text, ' ')
	}
	before := text[max(0, len(text)-maxDivided):]
	before = before[bytes.LastIndexByte(before, ' ')+1:]
	return c.betweenWords(text, string(before), last, next)
}

// maxDivided is the number of bytes at the end of a line that are looked at for a word that goes on in the next: dashes join the
// lines of a column, and each would be looked at again for each below it.
const maxDivided = 256

// betweenWords is between for a text that ends with the word before.
func (c compounds) betweenWords(text []byte, before string, last, next run) []byte {
	if last.hyphen {
		before += "-"
	}
	after, _, _ := strings.Cut(next.text, " ")
	part, divided := strings.CutSuffix(before, "-")
	dash := strings.HasSuffix(before, "–") && before != "–" || strings.HasSuffix(before, "/") && before != "/"
	switch {
	case divided && part != "":
	case dash:
		return text
	default:
		return append(text, ' ')
	}
	if !last.hyphen {
		text = text[:len(text)-1]
	}
	return append(text, c.Hyphen(part, after)...)
}

// cell returns the text of a cell, and whether all of it is bold.
func (c compounds) cell(runs []run) (text string, bold bool) {
	var out []byte
	bold = true
	for i, r := range runs {
		if i > 0 {
			out = c.between(out, runs[i-1], r)
		}
		out = append(out, r.text...)
		bold = bold && r.font.bold
	}
	if n := len(runs); n > 0 && runs[n-1].hyphen {
		out = append(out, '-')
	}
	return string(out), bold
}
