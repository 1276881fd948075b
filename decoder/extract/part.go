package extract

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/internal/sentences"
	"tandem/model/span"
	"tandem/model/tokenizer"
)

// part is one part of the question with what each context would answer to it.
type part struct {
	clause      string
	form        form
	known       []passage
	contexts    []docContext // one for each passage, then the one without
	temperature float64      // of the posterior over contexts; 0 keeps the likeliest
	asked       []string     // the content words of the question of the conversation that was answered last
}

// docContext is what one context makes of one part of the question.
type docContext struct {
	r            float64       // R_0, in nats
	answers      float64       // the reader's probability that the passage answers
	ofLastSource bool          // the last answer of the conversation came from its document
	texts        []candidate   // the likeliest first; their probabilities sum to 1
	near         []near        // the sentences that hold the likeliest spans, the likeliest first
	whole        decoder.Quote // the likeliest of them within the text around it, for an answer that nobody knows
}

// near is a sentence that may answer.
type near struct {
	quote decoder.Quote // without Passage, Weight and Relevance
	at    int           // where the sentence begins in the passage's text
	odds  float64       // against the passage's likeliest sentence, in nats
}

// candidate is a text that a context may answer.
type candidate struct {
	text   string
	tokens []tandem.Token // of the text, with those that end the part
	p      float64
	quote  decoder.Quote // where the text stands, without Passage, Weight and Relevance
}

// Limits of a context's texts. What the reader finds less likely than least of the likeliest is left out.
const (
	maxTexts = 128
	least    = 1e-4
)

// next adds to p the distribution of the token after prefix, and returns the side's aggregation weight h there.
func (s *part) next(p []float64, prefix []tandem.Token) (h float64) {
	shares, h := s.shares(prefix)
	for i, c := range s.contexts {
		share := shares[i]
		if share == 0 {
			continue
		}
		mass := c.mass(prefix)
		for _, t := range c.texts {
			if goesOn(t.tokens, prefix) {
				p[t.tokens[len(prefix)]] += share * t.p / mass
			}
		}
	}
	return h
}

// shares returns each context's share of the side's distribution after prefix, and the side's aggregation weight. With the
// temperature T the shares are softmax(R_t / T), where the prefix counts in R_t with T times its log-likelihood. The weight is
// T · logsumexp(R_0 / T) before the first token, and after a prefix it has grown by the side's log-likelihood of it: what both
// sides can begin with must not change which of them goes on. At 0 the most relevant context that can go on has all.
func (s *part) shares(prefix []tandem.Token) (shares []float64, h float64) {
	shares = make([]float64, len(s.contexts))
	if s.temperature == 0 {
		weights := s.weights(prefix, 0)
		best := slices.Index(weights, slices.Max(weights))
		if h = weights[best]; !math.IsInf(h, -1) {
			shares[best] = 1
		}
		return shares, h
	}
	weights := s.weights(prefix, s.temperature)
	for i := range weights {
		weights[i] /= s.temperature
	}
	h = decoder.LogSumExp(weights)
	if math.IsInf(h, -1) {
		return shares, h
	}
	for i, w := range weights {
		shares[i] = math.Exp(w - h)
	}
	begun := make([]float64, len(s.contexts))
	for i, c := range s.contexts {
		begun[i] = c.r / s.temperature
	}
	all := decoder.LogSumExp(begun)
	return shares, s.temperature*all + h - all
}

// weights returns each context's relevance R_t after prefix, whose log-likelihood counts scale times; a context that
// cannot go on has -Inf.
func (s *part) weights(prefix []tandem.Token, scale float64) []float64 {
	out := make([]float64, len(s.contexts))
	for i, c := range s.contexts {
		if mass := c.mass(prefix); mass > 0 {
			out[i] = c.r + scale*math.Log(mass)
		} else {
			out[i] = math.Inf(-1)
		}
	}
	return out
}

// mass returns the probability that the context's text begins with prefix and does not end there.
func (c *docContext) mass(prefix []tandem.Token) (sum float64) {
	for _, t := range c.texts {
		if goesOn(t.tokens, prefix) {
			sum += t.p
		}
	}
	return sum
}

// goesOn reports whether tokens begin with prefix and are longer.
func goesOn(tokens, prefix []tandem.Token) bool {
	return len(tokens) > len(prefix) && slices.Equal(tokens[:len(prefix)], prefix)
}

// readPart asks the nth part of the question of each passage. Misspelt words are read as this side's passages spell them,
// so a passage's relevance depends on its neighbours here.
func (d *Decoder) readPart(ctx context.Context, n int) (part, error) {
	if err := ctx.Err(); err != nil {
		return part{}, err
	}
	known, ends := d.known, d.ends(n)
	q := d.cfg.query(d.clauses[n], d.languages[n], known)
	evidence, spans, err := d.cfg.evidence(q, d.passages, known)
	if err != nil {
		return part{}, err
	}
	form := q.form
	s := part{clause: q.text, form: form, known: known, temperature: d.cfg.Temperature, asked: d.asked}
	for i, best := range spans {
		evidence[i].OfLastSource = d.lastSource != "" && d.passages[i].Source == d.lastSource
		whole, r := d.cfg.Constants.Judge(evidence[i])
		c := docContext{r: r, answers: 1 - evidence[i].None, ofLastSource: evidence[i].OfLastSource}
		texts := d.cfg.candidates(known[i], best, form)
		if whole {
			if sentences := d.cfg.candidates(known[i], best, sentence); !d.said(sentences) {
				texts = sentences
			}
		}
		if form == value {
			texts = known[i].rewritten(q.wants, texts)
		}
		c.texts = d.spell(form, texts, ends)
		if c.near = known[i].nearest(best, asksMailHead.MatchString(q.text)); len(c.near) > 0 {
			c.whole = known[i].around(c.near[0].at, c.near[0].at+len(c.near[0].quote.Text))
		}
		d.words += known[i].read.Len()
		s.contexts = append(s.contexts, c)
	}
	nothing := docContext{r: d.cfg.Constants.Nothing, texts: d.spell(form, []weighed{{text: d.refusal, p: 1}}, ends)}
	s.contexts = append(s.contexts, nothing)
	d.replace(&s, ends)
	return s, nil
}

// said reports whether this side answers an earlier part of the question from the sentence of the likeliest of these texts. Of a
// sentence that answers two parts, the second is told the value only.
func (d *Decoder) said(texts []weighed) bool {
	return slices.ContainsFunc(d.parts, func(s part) bool {
		best := slices.MaxFunc(s.contexts, func(a, b docContext) int { return cmp.Compare(a.r, b.r) })
		return len(texts) > 0 && len(best.texts) > 0 && best.texts[0].quote.Text == texts[0].quote.Text
	})
}

// weighed is a text with its probability and its place.
type weighed struct {
	text  string
	p     float64
	quote decoder.Quote
	at    int // where the quote begins in the passage's text
}

// candidates turns the likeliest spans into texts: the likeliest first, their probabilities summing to 1.
func (c Config) candidates(p passage, best []span.Span, form form) []weighed {
	var all []weighed
	at := map[string]int{}
	for _, s := range best {
		if s.P < least*best[0].P {
			break
		}
		w := weighed{p: s.P}
		w.text, w.quote = p.say(s, form)
		from, _ := p.widen(s.Begin, s.End)
		w.at = from - w.quote.From
		if w.text == "" {
			continue
		}
		if i, ok := at[w.text]; ok {
			all[i].p += s.P
			continue
		}
		at[w.text] = len(all)
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(x, y weighed) int { return cmp.Compare(y.p, x.p) })
	return c.temper(all)
}

// maxNear is how many sentences of a passage are worth quoting.
const maxNear = 3

// nearest returns the sentences around spans, the likeliest first. Unless they are asked for, the lines above a mail come last, and no
// likelier than what the mail says: every question when finds its date.
func (p passage) nearest(spans []span.Span, asksHead bool) []near {
	var all []near
	var sums []float64
	at := map[string]int{}
	for _, s := range spans {
		from, to := p.widen(s.Begin, s.End)
		q := p.quote(from, to)
		i, ok := at[q.Text]
		if !ok {
			i = len(all)
			at[q.Text], all, sums = i, append(all, near{quote: q, at: from - q.From}), append(sums, 0)
		}
		sums[i] += s.P
	}
	for i := range all {
		all[i].odds = math.Log(sums[i] / slices.Max(sums))
	}
	slices.SortStableFunc(all, func(x, y near) int { return cmp.Compare(y.odds, x.odds) })
	if asksHead {
		return all[:min(maxNear, len(all))]
	}
	said := slices.DeleteFunc(slices.Clone(all), func(n near) bool { return p.inMailHead(n.at) })
	for _, n := range all {
		if p.inMailHead(n.at) {
			if len(said) > 0 {
				n.odds = min(n.odds, said[len(said)-1].odds)
			}
			said = append(said, n)
		}
	}
	return said[:min(maxNear, len(said))]
}

// around returns the text of a passage without its title, or as many of its sentences around one as fit.
func (p passage) around(from, to int) decoder.Quote {
	begin, end := p.widen(p.read.Around(from, to, p.body, decoder.MaxQuoteBytes))
	if b, e := p.sentence(begin, end); e-b <= decoder.MaxQuoteBytes {
		begin, end = b, e
	}
	return decoder.Quote{Text: p.text[begin:end], From: from - begin, To: to - begin}
}

// quote returns the sentence around a range.
func (p passage) quote(from, to int) decoder.Quote {
	begin, end := p.sentence(from, to)
	return decoder.Quote{Text: p.text[begin:end], From: from - begin, To: to - begin}
}

// say returns what a passage answers with a span, and the sentence around the span.
func (p passage) say(s span.Span, form form) (string, decoder.Quote) {
	from, to := p.widen(s.Begin, s.End)
	quote := p.quote(from, to)
	switch {
	case p.isBlock(from, to):
		return dedented(p.text[from:to]), quote
	case form == list && p.listed(from, to), form == steps && itemMark.MatchString(p.text[p.lineStart(from):]):
		from, to = p.widen(p.read.Items(from, to))
	case form != value, sentences.BreaksOff(p.text, to), len(decoder.ContentWords(p.text[from:to])) == 0: // not "they"
		begin := from - quote.From
		end := begin + len(quote.Text)
		return p.told(begin, end) + p.introduced(end, form) + p.excepted(end), quote
	}
	return p.cells(from, to), quote
}

// listed reports whether a range stands in a list.
func (p passage) listed(from, to int) bool {
	begin, end := p.read.Items(from, to)
	a, b := p.read.Sentence(from, to)
	return begin != a || end != b
}

// temper applies the temperature to probabilities in descending order, and makes them sum to 1.
func (c Config) temper(all []weighed) []weighed {
	if len(all) == 0 {
		return nil
	}
	if c.Temperature == 0 {
		all[0].p = 1
		return all[:1]
	}
	top, sum := all[0].p, 0.0
	for i := range all {
		all[i].p = math.Pow(all[i].p/top, 1/c.Temperature)
		sum += all[i].p
	}
	for i := range all {
		all[i].p /= sum
	}
	return all
}

// spell turns texts that answer in a form into candidates. Where a sentence is too long for its part of the answer, the span stands for it. A
// span that is too long loses words at its end, and says so with an ellipsis. If not even its first word fits, all of it stands there,
// and the end of the answer cuts it.
func (d *Decoder) spell(form form, texts []weighed, ends []tandem.Token) []candidate {
	room := max(1, d.cfg.MaxTokens/max(1, len(d.clauses))-len(ends))
	var out []candidate
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
		out = append(out, candidate{t.text, slices.Concat(tokens, ends), t.p, t.quote})
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
