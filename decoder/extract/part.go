package extract

import (
	"context"
	"math"
	"slices"

	"tandem"
	"tandem/decoder"
	"tandem/model/span"
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
	texts        []spelledText // the likeliest first; their probabilities sum to 1
	near         []quotable    // the sentences that hold the likeliest spans, the likeliest first
	whole        decoder.Quote // the likeliest of them within the text around it, for an answer that nobody knows
	apart        bool          // the passage has nothing to do with the question
}

// Limits of a context's texts. A text whose probability is less than leastLikely of the likeliest one's is left out.
const (
	maxTexts    = 128
	leastLikely = 1e-4
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
// temperature T the shares are softmax(R_t / T), where the prefix counts in R_t with T times its log-likelihood, and the weight
// is logsumexp(R_t / T). So both sides draw together as one would that has all passages, and the lower the temperature, the
// more often the likelier side is followed. At 0 the most relevant context that can go on has all.
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
	return shares, h
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
	evidence, spans, err := d.cfg.evidence(ctx, q, d.passages, known)
	if err != nil {
		return part{}, err
	}
	s := part{clause: q.text, form: q.form, known: known, temperature: d.cfg.Temperature, asked: d.asked}
	for i, p := range known {
		evidence[i].OfLastSource = d.lastSource != "" && p.source == d.lastSource
		s.contexts = append(s.contexts, d.docContext(q, p, evidence[i], spans[i], ends))
		d.words += p.read.Len()
	}
	nothing := docContext{r: d.cfg.Constants.Nothing, texts: d.spell(q.form, []answerText{{text: d.refusal, p: 1}}, ends)}
	s.contexts = append(s.contexts, nothing)
	d.replace(&s, ends)
	return s, nil
}

// docContext returns what the context of a passage makes of a part of the question, given the evidence for the passage
// and its likeliest spans. ends are the tokens after the part.
func (d *Decoder) docContext(q query, p passage, e Evidence, likeliest []span.Span, ends []tandem.Token) docContext {
	whole, r := d.cfg.Constants.Judge(e)
	texts := d.cfg.answerTexts(p, likeliest, q.form)
	if whole {
		if sentences := d.cfg.answerTexts(p, likeliest, formSentence); !d.alreadySaid(sentences) {
			texts = sentences
		}
	}
	if q.form == formValue {
		texts = p.rewritten(q.wants, texts)
	}
	if e.Named {
		texts = p.withCells(q, texts)
	}
	texts = p.withCell(q, texts)
	c := docContext{r: r, answers: 1 - e.None, ofLastSource: e.OfLastSource, texts: d.spell(q.form, texts, ends)}
	c.apart = d.cfg.isApart(q, p)
	if c.near = p.nearestSentences(likeliest, asksMailHead.MatchString(q.text)); len(c.near) > 0 {
		c.whole = p.quoteAround(c.near[0].at, c.near[0].at+len(c.near[0].quote.Text))
	}
	return c
}

// alreadySaid reports whether this side answers an earlier part of the question with the sentence of the likeliest of these
// texts. If one sentence answers two parts, the second is answered by the value only.
func (d *Decoder) alreadySaid(texts []answerText) bool {
	return len(texts) > 0 && slices.ContainsFunc(d.parts, func(s part) bool {
		said := s.contexts[s.best()].texts
		return len(said) > 0 && said[0].quote.Text == texts[0].quote.Text
	})
}

// best returns the index of the most relevant context before the first token, the first of equals.
func (s *part) best() int {
	best := 0
	for i, c := range s.contexts {
		if c.r > s.contexts[best].r {
			best = i
		}
	}
	return best
}
