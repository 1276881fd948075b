package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tandem"
	"tandem/decoder"
)

// Parts returns the parts of the answer so far, with the passages that say them and the quotes nearest to the question.
func (d *Decoder) Parts() []decoder.Part {
	var out []decoder.Part
	from := 0
	for n := range d.parts {
		to := d.partEnd(n, from)
		if from >= len(d.answer) {
			break
		}
		text := d.trim(d.answer[from:to])
		lost := len(text) > len(d.lost) && slices.Equal(text[len(text)-len(d.lost):], d.lost)
		p := d.parts[n].cite(text, lost)
		if said := d.cfg.Tokenizer.Decode(text); !lost && said != d.refusal {
			p.Otherwise = d.parts[n].otherwise(said, p.Quotes, d.cfg.Constants.Nothing)
		}
		p.Quotes = p.Quotes[:min(decoder.MaxQuotes, len(p.Quotes))]
		d.parts[n].addLabels(p.Quotes)
		p.From, p.To = from, to
		out = append(out, p)
		from = to
	}
	return out
}

// partEnd returns where the part that begins at token from ends in the answer.
func (d *Decoder) partEnd(n, from int) int {
	if i := slices.IndexFunc(d.answer[from:], func(t tandem.Token) bool { return d.endsPart(n, t) }); i >= 0 {
		return from + i + 1
	}
	return len(d.answer)
}

// trim drops the tokens that end a part.
func (d *Decoder) trim(tokens []tandem.Token) []tandem.Token {
	if n := len(tokens) - len(d.newline); n >= 0 && slices.Equal(tokens[n:], d.newline) {
		return tokens[:n]
	}
	return tokens
}

// cite weighs the contexts by what they think of a part's text, and quotes all of them. A passage without that text has
// no share. A text that no context has is the other side's; if it is lost, the rest of it is not known.
func (s *part) cite(text []tandem.Token, lost bool) decoder.Part {
	weights := s.weights(text, 1)
	last := len(weights) - 1
	p := decoder.Part{H: decoder.LogSumExp(weights), Weights: make([]float64, last)}
	if math.IsInf(p.H, -1) {
		if p.H = decoder.Mute; lost {
			p.Nothing = 1
		}
	} else {
		for i := range p.Weights {
			p.Weights[i] = math.Exp(weights[i] - p.H)
		}
		p.Nothing = math.Exp(weights[last] - p.H)
	}
	_, refused := s.contexts[last].quoteFor(text)
	refused = refused || p.Nothing == 1
	for i, c := range s.contexts[:last] {
		said, ok := c.quoteFor(text)
		if refused && !ok && len(c.near) > 0 { // a reader of this answer looks for herself, and needs what stands around it
			c.whole.Passage, c.whole.Relevance = i, c.r
			if !c.apart {
				p.Quotes = append(p.Quotes, c.whole)
			}
			continue
		}
		if ok {
			said.Passage, said.Weight, said.Relevance = i, p.Weights[i], c.r
			p.Quotes = append(p.Quotes, said)
		}
		for _, n := range c.near {
			if !ok || n.quote.Text != said.Text {
				n.quote.Passage, n.quote.Relevance = i, c.r+n.odds
				p.Quotes = append(p.Quotes, n.quote)
			}
		}
	}
	slices.SortStableFunc(p.Quotes, func(x, y decoder.Quote) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(y.Relevance, x.Relevance))
	})
	return p
}

// addLabels puts before each quote what the line says before it, where that is needed, unless another quote says it.
func (s *part) addLabels(quotes []decoder.Quote) {
	for i, q := range quotes {
		labelled := s.withLabel(q)
		said := slices.ContainsFunc(quotes, func(o decoder.Quote) bool {
			return o.Passage == q.Passage && o.Text != q.Text && strings.Contains(labelled.Text, o.Text)
		})
		if !said {
			quotes[i] = labelled
		}
	}
}

// withLabel returns a quote with what the line says before it, if that is needed to tell what it is about.
func (s *part) withLabel(q decoder.Quote) decoder.Quote {
	c := s.contexts[q.Passage]
	for _, t := range c.texts {
		if t.quote.Text == q.Text {
			return s.known[q.Passage].withLabel(q, t.at)
		}
	}
	for _, n := range c.near {
		if n.quote.Text == q.Text {
			return s.known[q.Passage].withLabel(q, n.at)
		}
	}
	return q
}

// quoteFor returns the context's likeliest quote for a text.
func (c *docContext) quoteFor(text []tandem.Token) (decoder.Quote, bool) {
	for _, t := range c.texts {
		if goesOn(t.tokens, text) {
			return t.quote, true
		}
	}
	return decoder.Quote{}, false
}

// MeanWeights returns each passage's share of the answer, the mean over its parts.
func (d *Decoder) MeanWeights() []float64 {
	mean := make([]float64, len(d.parts[0].contexts)-1)
	parts := d.Parts()
	for _, p := range parts {
		for i, w := range p.Weights {
			mean[i] += w / float64(len(parts))
		}
	}
	return mean
}
