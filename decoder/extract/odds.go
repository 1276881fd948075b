package extract

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"tandem/decoder/question"
	"tandem/internal/refusal"
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

// Curve is a logistic curve: the probability that a text is right, by the evidence for it. With each odds within maxLogOdds,
//
//	logit P = Bias + Reader · logit(1 − None) + Lead · Lead + Coverage · (Lexical / Echo − 1) + Rank · ln(1 + Rank)
//	          + Share · logit(Share) + Length · ln(Length) + Whole · [Whole] − slipCost · Slips
type Curve struct {
	Bias     float64 `json:"bias"`
	Reader   float64 `json:"reader"`
	Lead     float64 `json:"lead"`
	Coverage float64 `json:"coverage"`
	Rank     float64 `json:"rank"`
	Share    float64 `json:"share"`
	Length   float64 `json:"length"`
	Whole    float64 `json:"whole"`
}

// Constants say what evidence is worth. A passage answers with the likeliest span or with the sentence around it, and its
// relevance R_0 is the log-odds that this text is right. It is the span unless the sentence is surer by more than Bare, a
// probability. The context without a passage has the relevance Nothing.
//
// The same odds mean the same on both sides, so the sides' relevances can be compared.
type Constants struct {
	Value    Curve   `json:"value"`
	Sentence Curve   `json:"sentence"`
	Nothing  float64 `json:"nothing"`
	Bare     float64 `json:"bare"`
}

// Rules names what two sides must have in common besides a reader to answer together: how they divide a question, and what
// evidence is worth.
func (k Constants) Rules() string {
	return fmt.Sprintf("rules-%d-%08x", question.Division, crc32.ChecksumIEEE(fmt.Append(nil, k, namedOdds, lastSourceOdds, laterOdds, foreignOdds, elsewhereCost, mostElsewhere, slipCost, refusal.Sentences)))
}

// Curves' bounds, what the conversation's document and a later value are worth, and the cost of a misspelt word, in nats.
const (
	maxLogOdds     = 5
	lastSourceOdds = 2   // a conversation mostly goes on about the same document
	foreignOdds    = 0.5 // words that a list does not have or gives another meaning make the reader less sure than it is right
	laterOdds      = 2   // what took the place of something is later, wherever that still stands
	elsewhereCost  = 1.0 // the rules of the hostel seldom answer what holds in the theatre
	mostElsewhere  = 0.6 // Confidence is below .75 then
	slipCost       = 0.2 // for each word of the question that this side reads in another spelling: it may mean something else
)

// Numbers returns what the curve's factors weigh, in the order of Curve's fields; the first is 1 for Bias.
func (e Evidence) Numbers() [8]float64 {
	n := [...]float64{
		1, logOdds(1 - e.None), max(-maxLogOdds, min(maxLogOdds, e.Lead)), 0, math.Log1p(float64(e.Rank)), logOdds(e.Share),
		math.Log(float64(max(1, e.Length))), 0,
	}
	if e.Echo > 0 {
		n[3] = e.Lexical/e.Echo - 1
	}
	if e.Whole {
		n[7] = 1
	}
	return n
}

// LogOdds returns logit P.
func (c Curve) LogOdds(e Evidence) (sum float64) {
	n := e.Numbers()
	for i, by := range [...]float64{c.Bias, c.Reader, c.Lead, c.Coverage, c.Rank, c.Share, c.Length, c.Whole} {
		sum += by * n[i]
	}
	return sum - slipCost*float64(e.Slips)
}

// Judge returns whether a passage answers with the sentence around its likeliest span, and R_0: what its curve gives,
// and more if the conversation is about its document, or if the sentence says what its value has replaced. If the
// question names another document, the answer is unsure at best.
func (k Constants) Judge(e Evidence) (sentence bool, r float64) {
	sentence, r = k.judge(e)
	if e.Elsewhere {
		r = min(r-elsewhereCost, mostElsewhere)
	}
	return sentence, r
}

func (k Constants) judge(e Evidence) (sentence bool, r float64) {
	value, whole, more := k.Value.LogOdds(e), k.Sentence.LogOdds(e), 0.0
	if e.OfLastSource {
		more += lastSourceOdds
	}
	if e.Foreign {
		more += foreignOdds
	}
	if e.Later && max(value, whole) > k.Nothing { // it is the answer, before or after
		more += laterOdds
	}
	if e.Named {
		return false, max(value, namedOdds) + more
	}
	least := math.Inf(-1)
	if e.Line {
		least = namedOdds
	}
	surer := max(logistic(whole)-logistic(value), logistic(whole+more)-logistic(value+more))
	if !e.Whole && surer > k.Bare {
		return true, max(whole, least) + more
	}
	return false, max(value, least) + more
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logOdds returns the log-odds of a probability, bounded.
func logOdds(p float64) float64 {
	return max(-maxLogOdds, min(maxLogOdds, math.Log(p)-math.Log1p(-p)))
}

// readings returns what the reader knows of passages.
func readings(known []passage) (out []*span.Passage) {
	for _, p := range known {
		out = append(out, p.read)
	}
	return out
}

// evidence asks one part of the question of each passage. It returns what speaks for each, and the likeliest spans that
// may answer.
func (c Config) evidence(q query, ps []passages.Passage, known []passage) ([]Evidence, [][]span.Span, error) {
	found, err := c.Reader.ReadIn(q.language, q.question, readings(known))
	if err != nil {
		return nil, nil, err
	}
	lexical, echo := c.lexical(q.language, q.question, ps, known)
	out, spans := make([]Evidence, len(found)), make([][]span.Span, len(found))
	seen := patternCache{}
	for i, f := range found {
		out[i] = Evidence{None: f.None, Lexical: lexical[i], Echo: echo[i], Rank: i, Whole: q.form != value, Slips: q.slips, Foreign: q.language != span.English || known[i].read.Language() != span.English}
		spans[i] = known[i].answers(f, q.form, maxTexts)
		if q.stretch {
			known[i].stretched(spans[i])
		}
		known[i].wholeQuantity(q.wants, spans[i])
		if known[i].reweigh(q.wants, spans[i], seen) {
			out[i].None = max(f.None, otherKind)
		}
		spans[i] = known[i].spansFor(q, f.None, &out[i], spans[i])
		if best := spans[i]; len(best) > 0 {
			out[i].Share = shareOf(best[0].P, f.None)
			around := known[i].quote(known[i].widen(best[0].Begin, best[0].End))
			out[i].Length = len(around.Text)
			out[i].Later = q.form == value && !q.past && (supersedes(around, q.text) || known[i].announcesAbout(q.wants, around))
		}
	}
	for i, other := range elsewhere(q.question, known) {
		out[i].Elsewhere = other
	}
	lead(out)
	return out, spans, nil
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

// lead fills in how far each passage is ahead of the best other one.
func lead(all []Evidence) {
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

// Choices returns what each passage would answer to a question, to fit Constants to.
func (c Config) Choices(question string, ps []passages.Passage) ([]Choice, error) {
	known := make([]passage, len(ps))
	for i, p := range ps {
		known[i] = c.passage(p)
	}
	clause, language, _ := inEnglish(question)
	q := c.query(clause, language, known)
	evidence, spans, err := c.evidence(q, ps, known)
	if err != nil {
		return nil, err
	}
	out := make([]Choice, len(ps))
	for i, best := range spans {
		out[i].Evidence = evidence[i]
		if len(best) > 0 {
			out[i].Value, _ = known[i].say(best[0], q.form)
			out[i].Sentence, _ = known[i].say(best[0], sentence)
		}
	}
	return out, nil
}

// otherKind is the least P(no answer) of a passage that has nothing of the kind that the question wants.
const otherKind = 0.97

// shareOf returns a span's share of all spans. Where they are next to nothing, 1 − none rounds to 0.
func shareOf(p, none float64) float64 { return p / max(p, 1-none) }
