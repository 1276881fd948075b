package pdf

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// compounds are the words with a hyphen that stand within lines of a document, in lower case. A hyphen at the end of a line
// may belong to such a word, or only divide one.
type compounds map[string]bool

// compounds returns those of a document.
func (d *document) compounds() compounds {
	out := compounds{}
	for _, page := range d.pages {
		for _, r := range page.runs {
			if !strings.Contains(r.text, "-") {
				continue
			}
			for word := range strings.FieldsSeq(r.text) {
				if word = english.TrimWord(strings.ToLower(word)); strings.Contains(strings.Trim(word, "-"), "-") {
					out[word] = true
				}
			}
		}
	}
	return out
}

// suspended are words after which the rest of a word with a hyphen comes: "lunch- and dinnertime".
var suspended = english.Set("and or to und oder bis bzw. sowie u. et ou y o e")

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
	whole := english.TrimWord(strings.ToLower(part + "-" + after))
	switch {
	case suspended[after]:
		return append(text, "- "...)
	case !textline.BeginsLower(after), utf8.RuneCountInString(english.TrimWord(part)) == 1, strings.ContainsAny(part+english.TrimWord(after), "@/:.0123456789"), strings.ContainsRune(part, '-'), c[whole]:
		return append(text, '-')
	}
	return text
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
