package extract

import (
	"fmt"
	"hash/crc32"
	"math"

	"tandem/decoder/question"
	"tandem/internal/refusal"
)

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

// logOdds returns logit P.
func (c Curve) logOdds(e Evidence) (sum float64) {
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
	value, whole, more := k.Value.logOdds(e), k.Sentence.logOdds(e), 0.0
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
