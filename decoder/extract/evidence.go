package extract

import (
	"context"
	"slices"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// Evidence is what speaks for a passage as the answer to one part of a question.
type Evidence struct {
	None         float64 // the reader's P(no answer)
	Lead         float64 // the odds of an answer against the best other passage of this side, in nats
	Lexical      float64 // the scorer's relevance of the passage
	Echo         float64 // and of the question itself
	Rank         int     // how many passages retrieval put before it
	Share        float64 // of the likeliest span in all spans
	Length       int     // of the sentence around that span, in bytes
	Whole        bool    // the question wants a sentence or a list in any case
	Named        bool    // the question names where to look: the value found there answers
	Line         bool    // the question names the line in which the reader points at something
	Slips        int     // words of the question that are read in another spelling
	Later        bool    // the sentence says of another value that this one took its place
	Foreign      bool    // the question or the passage is not in English
	Elsewhere    bool    // the question names another document
	OfLastSource bool    // the last answer of the conversation came from the passage's document
}

// readings returns what the reader knows of passages.
func readings(known []passage) (out []*span.Passage) {
	for _, p := range known {
		out = append(out, p.read)
	}
	return out
}

// evidence asks one part of the question of each passage. It returns what speaks for each, and the likeliest spans that
// may answer. ctx stops it between passages.
func (c Config) evidence(ctx context.Context, q query, ps []passages.Passage, known []passage) ([]Evidence, [][]span.Span, error) {
	found, err := c.Reader.ReadIn(ctx, q.language, q.question, readings(known))
	if err != nil {
		return nil, nil, err
	}
	lexical, echo := c.lexical(q.language, q.question, ps, known)
	out, spans := make([]Evidence, len(found)), make([][]span.Span, len(found))
	seen := patternCache{}
	for i, f := range found {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		out[i], spans[i] = known[i].evidence(q, f, seen)
		out[i].Lexical, out[i].Echo, out[i].Rank = lexical[i], echo[i], i
		if out[i].Named && known[i].isPartialList(q, known) {
			out[i].Named, out[i].None = false, leftOpen
		}
	}
	for i, other := range elsewhere(q.question, known) {
		out[i].Elsewhere = other
	}
	setLeads(out)
	return out, spans, nil
}

// evidence returns what speaks for the passage by itself, and its likeliest spans that may answer. seen remembers what
// patterns match.
func (p passage) evidence(q query, f *span.Posterior, seen patternCache) (Evidence, []span.Span) {
	e := Evidence{None: f.None, Whole: q.form != formValue, Slips: q.slips, Foreign: q.language != span.English || p.read.Language() != span.English}
	spans := p.likeliestAnswers(f, q.form, maxTexts)
	if q.timeRange {
		p.widenToTimeRanges(spans)
	}
	p.widenQuantities(q.wants, spans)
	if p.reweigh(q.wants, spans, seen) {
		e.None = max(f.None, otherKind)
	}
	spans = p.spansFor(q, f.None, &e, spans)
	if len(spans) > 0 {
		e.Share = shareOf(spans[0].P, f.None)
		around := p.quote(p.widen(spans[0].Begin, spans[0].End))
		e.Length = len(around.Text)
		e.Later = q.form == formValue && !q.past && (supersedes(around, q.text) || p.announcesAbout(q.wants, around))
	}
	return e, spans
}

// lexical returns the scorer's relevance of each passage, and what it would be if the passage said all of the question.
// Where one of them is in another language than the other, both are compared in English.
func (c Config) lexical(language span.Language, clause string, ps []passages.Passage, known []passage) (relevance, echo []float64) {
	score := func(clause string, ps []passages.Passage) (of []float64, own float64) {
		all := c.Scorer.Prepare(slices.Concat(ps, []passages.Passage{{Text: clause}}))(nil, clause)
		return all[:len(ps)], all[len(ps)]
	}
	relevance, own := score(clause, ps)
	echo = slices.Repeat([]float64{own}, len(ps))
	differs := func(p passage) bool { return p.read.Language() != language }
	if !slices.ContainsFunc(known, differs) {
		return relevance, echo
	}
	english := slices.Clone(ps)
	for i, p := range known {
		if p.read.Language() != span.English {
			english[i].Text = p.read.English()
		}
	}
	translated, own := score(c.Reader.English(clause, language), english)
	for i, p := range known {
		if differs(p) && translated[i]*echo[i] > relevance[i]*own {
			relevance[i], echo[i] = translated[i], own
		}
	}
	return relevance, echo
}

// setLeads fills in how far each passage is ahead of the best other one.
func setLeads(all []Evidence) {
	for i := range all {
		other := -float64(maxLogOdds)
		for j := range all {
			if j != i {
				other = max(other, logOdds(1-all[j].None))
			}
		}
		all[i].Lead = logOdds(1-all[i].None) - other
	}
}

// Choice is what a passage would answer to a question of one part, and what speaks for it.
type Choice struct {
	Evidence
	Value, Sentence string // the likeliest span, as the question's form wants it, and the sentence around it
}

// Choices returns what each passage would answer to a question, to fit Constants to. ctx stops it between passages.
func (c Config) Choices(ctx context.Context, question string, ps []passages.Passage) ([]Choice, error) {
	known := make([]passage, len(ps))
	for i, p := range ps {
		known[i] = c.passage(p)
	}
	clause, language, _ := inEnglish(question)
	q := c.query(clause, language, known)
	evidence, spans, err := c.evidence(ctx, q, ps, known)
	if err != nil {
		return nil, err
	}
	out := make([]Choice, len(ps))
	for i, best := range spans {
		out[i].Evidence = evidence[i]
		if len(best) > 0 {
			out[i].Value, _ = known[i].say(best[0], q.form)
			out[i].Sentence, _ = known[i].say(best[0], formSentence)
		}
	}
	return out, nil
}

// otherKind is the least P(no answer) of a passage that has nothing of the kind that the question wants.
const otherKind = 0.97

// shareOf returns a span's share of all spans. Where they are next to nothing, 1 − none rounds to 0.
func shareOf(p, none float64) float64 { return p / max(p, 1-none) }
