package extract

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem"
	"tandem/decoder"
	"tandem/model/tokenizer"
)

// spelledText is a text that a context may answer.
type spelledText struct {
	answerText
	tokens []tandem.Token // of the text, with those that end the part
}

// encode returns the tokens of a text.
func (c Config) encode(text string) []tandem.Token {
	return c.Tokenizer.Encode(text, tokenizer.Options{})
}

// spell turns texts that answer in a form into tokens. Where a sentence is too long for its part of the answer, the
// span stands for it. A span that is too long loses words at its end, and says so with an ellipsis. If not even its
// first word fits, the ellipsis stands alone: a part of a word or of a number could be taken for an answer.
func (d *Decoder) spell(form form, texts []answerText, ends []tandem.Token) []spelledText {
	room := max(1, d.cfg.MaxTokens/max(1, len(d.clauses))-len(ends))
	var out []spelledText
	for _, t := range texts {
		if slices.Equal(ends, d.newline) {
			t.text = flat(t.text)
		}
		tokens := d.cfg.encode(t.text)
		if alone := unmarked(t.quote.Text); len(tokens) > room && alone != "" && len(alone) < len(t.text) && strings.Contains(t.text, alone) { // without what stands around it
			t.text = alone
			tokens = d.cfg.encode(t.text)
		}
		if q := t.quote; len(tokens) > room && q.From < q.To {
			t.text = flat(q.Text[q.From:q.To]) // the value alone
			if form != formValue {
				t.text = d.withClauses(q, room)
			}
			tokens = d.cfg.encode(t.text)
		}
		if len(tokens) > room {
			if tokens = d.shortened(t.text, room); len(tokens) > d.cfg.MaxTokens {
				tokens = nil // not even an ellipsis fits
			}
		}
		out = append(out, spelledText{t, slices.Concat(tokens, ends)})
	}
	return out
}

// withClauses returns a sentence without its first clauses, as few of them as must go for what the reader points at to fit.
func (d *Decoder) withClauses(q decoder.Quote, room int) string {
	from, mark := 0, ""
	for len(d.cfg.encode(mark+flat(q.Text[from:q.To])+" …")) > room {
		next := strings.IndexAny(q.Text[from:q.From], ",;")
		if next < 0 {
			break
		}
		from, mark = from+next+1, "… "
	}
	return mark + flat(q.Text[from:])
}

// shortened returns the tokens of as much of the beginning of text as fits with an ellipsis, or those of the ellipsis.
func (d *Decoder) shortened(text string, room int) []tandem.Token {
	text = strings.Join(strings.Fields(text), " ")
	cuts := wholeUntil(text)
	cut := func(n int) []tandem.Token {
		return d.cfg.encode(strings.TrimPrefix(text[:cuts[n]]+" …", " "))
	}
	return cut(sort.Search(len(cuts)-1, func(n int) bool { return len(cut(n+1)) > room }))
}

// wholeUntil returns where a text may be cut: at its beginning, and at spaces, except those within a number such as 12 000. Where a
// script has no spaces, each of its characters may be the last.
func wholeUntil(text string) []int {
	cuts := []int{0}
	before := ' '
	for at, r := range text {
		next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(text[at:], " "))
		switch {
		case r == ' ' && unicode.IsDigit(before) && unicode.IsDigit(next):
		case r == ' ', unspaced(before) && !unicode.IsMark(r):
			cuts = append(cuts, at)
		}
		before = r
	}
	return cuts
}

// unspaced reports whether a character is of a script that has no spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
