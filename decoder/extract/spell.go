package extract

import (
	"slices"
	"sort"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/model/tokenizer"
)

// spelledText is a text that a context may answer.
type spelledText struct {
	text   string
	tokens []tandem.Token // of the text, with those that end the part
	p      float64
	quote  decoder.Quote // where the text stands, without Passage, Weight and Relevance
}

// spell turns texts that answer in a form into tokens. Where a sentence is too long for its part of the answer, the span stands for it. A
// span that is too long loses words at its end, and says so with an ellipsis. If not even its first word fits, all of it stands there,
// and the end of the answer cuts it.
func (d *Decoder) spell(form form, texts []answerText, ends []tandem.Token) []spelledText {
	room := max(1, d.cfg.MaxTokens/max(1, len(d.clauses))-len(ends))
	var out []spelledText
	for _, t := range texts {
		if slices.Equal(ends, d.newline) {
			t.text = flat(t.text)
		}
		tokens := d.cfg.Tokenizer.Encode(t.text, tokenizer.Options{})
		if alone := unmarked(t.quote.Text); len(tokens) > room && len(alone) < len(t.text) && strings.Contains(t.text, alone) { // without what stands around it
			t.text = alone
			tokens = d.cfg.Tokenizer.Encode(t.text, tokenizer.Options{})
		}
		if q := t.quote; len(tokens) > room && q.From < q.To {
			t.text = flat(q.Text[q.From:q.To]) // the value alone
			if form != value {
				t.text = d.withClauses(q, room)
			}
			tokens = d.cfg.Tokenizer.Encode(t.text, tokenizer.Options{})
		}
		if len(tokens) > room {
			if short := d.shortened(t.text, room); short != nil {
				tokens = short
			}
		}
		out = append(out, spelledText{t.text, slices.Concat(tokens, ends), t.p, t.quote})
	}
	return out
}

// withClauses returns a sentence without its first clauses, as few of them as must go for what the reader points at to fit.
func (d *Decoder) withClauses(q decoder.Quote, room int) string {
	from, mark := 0, ""
	for len(d.cfg.Tokenizer.Encode(mark+flat(q.Text[from:q.To])+" …", tokenizer.Options{})) > room {
		next := strings.IndexAny(q.Text[from:q.From], ",;")
		if next < 0 {
			break
		}
		from, mark = from+next+1, "… "
	}
	return mark + flat(q.Text[from:])
}

// shortened returns the tokens of the most first words of text that fit with an ellipsis, nil if none does.
func (d *Decoder) shortened(text string, room int) []tandem.Token {
	words := strings.Fields(text)
	var tokens []tandem.Token
	n := sort.Search(len(words), func(n int) bool {
		return len(d.cfg.Tokenizer.Encode(strings.Join(words[:n+1], " ")+" …", tokenizer.Options{})) > room
	})
	if n > 0 {
		tokens = d.cfg.Tokenizer.Encode(strings.Join(words[:n], " ")+" …", tokenizer.Options{})
	}
	return tokens
}
