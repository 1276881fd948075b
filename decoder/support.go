package decoder

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tandem"
	"tandem/model"
)

// ScorerName names what the relevances of a side are made of, for the other side to compare: the scorer,
// and that the model says itself which sentences its passages support.
func ScorerName(m *model.Model, s Scorer) string {
	if _, ok := m.Tokenizer().Unsupported(); ok {
		return s.Name() + "+support-1"
	}
	return s.Name()
}

func parseSupport(args string) (s Support, err error) {
	parts := strings.Split(args, ",")
	if len(parts) != 4 {
		return s, fmt.Errorf("%q are not four numbers", args)
	}
	for i, v := range []*float64{&s.Lexical, &s.Reader, &s.Nothing, &s.Echo} {
		if *v, err = strconv.ParseFloat(parts[i], 64); err != nil {
			return s, fmt.Errorf("%q is not a number", parts[i])
		}
	}
	return s, nil
}

func (s Support) sane() bool {
	const most = 100
	return s.Lexical >= 0 && s.Lexical <= most && s.Reader >= 0 && s.Reader <= most && s.Echo >= 0 && s.Echo <= most && math.Abs(s.Nothing) <= most
}

// The share of unsupported sentences that training marked with the token for it, instead of going on with
// the sentence, which must remain possible.
const markedShare = 0.5

// supportBound bounds the odds that a row may claim, in nats: 1 in 90.
const supportBound = 4.5

// logOdds reads, from a row's logits where a sentence begins, the log-odds that the row's passage supports
// that sentence. Tokens that end the answer do not count: they say that there is no sentence.
func logOdds(logits []float32, unsupported tandem.Token, ends []tandem.Token) float64 {
	top, sum := maximum(logits), 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	for _, t := range ends {
		sum -= math.Exp(float64(logits[t]) - top)
	}
	none := math.Exp(float64(logits[unsupported])-top) / max(sum, math.SmallestNonzeroFloat64)
	no := min(none/markedShare, 1)
	return max(-supportBound, min(supportBound, math.Log1p(-no)-math.Log(no)))
}

// support returns the log-odds of every row's support, from the rows' logits before a sentence.
func (d *Decoder) support(logits [][]float32) []float64 {
	out := make([]float64, len(logits))
	for i, l := range logits {
		out[i] = logOdds(l, d.unsupported, d.ends)
	}
	return out
}

// Part is a sentence of the answer with what it was drawn from.
type Part struct {
	From, To int       // its tokens, half-open
	Weights  []float64 // mean ω̃ of each passage while it was written
	Nothing  float64   // mean share of the context without a document
	H        float64   // mean h
}

// Parts returns the sentences of the answer so far, in order.
func (d *Decoder) Parts() []Part {
	var out []Part
	begun := -1
	for i := 1; i < len(d.moments); i++ {
		if m := d.moments[i]; m.begun != begun {
			begun = m.begun
			out = append(out, Part{From: i - 1, Weights: make([]float64, len(d.rel.rows))})
		}
		s := &out[len(out)-1]
		s.To = i
		r := d.rel.at(d.moments[i-1])
		for j, w := range softmax(r) {
			if j < len(s.Weights) {
				s.Weights[j] += w
			} else {
				s.Nothing += w
			}
		}
		s.H += d.weight(r)
	}
	for i := range out {
		s := &out[i]
		n := float64(s.To - s.From)
		s.Nothing, s.H = s.Nothing/n, s.H/n
		for j := range s.Weights {
			s.Weights[j] /= n
		}
	}
	return out
}

// weight returns h of relevances.
func (d *Decoder) weight(r []float64) float64 {
	if len(r) == 0 {
		return NoDocument
	}
	return logSumExp(r)
}
