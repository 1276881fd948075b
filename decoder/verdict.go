package decoder

import (
	"math"

	"tandem"
	"tandem/model"
)

// ScorerName identifies how a side computes relevances, for the other side to compare: by the scorer, and by whether the
// model itself says which sentences its passages support.
func ScorerName(m *model.Model, s Scorer) string {
	if _, ok := m.Tokenizer().Unsupported(); ok {
		return s.Name() + "+support-1"
	}
	return s.Name()
}

// markedShare is the share of unsupported sentences that training marked with the token for it. In the others it continued
// with the sentence, which must remain possible.
const markedShare = 0.5

// maxLogOdds limits the odds of a context's verdict, in nats: 90 to 1.
const maxLogOdds = 4.5

// logOdds returns the log-odds that a context's passage supports a sentence, given the context's logits where the sentence
// begins. Tokens that end the answer do not count, since then there is no sentence.
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
	return max(-maxLogOdds, min(maxLogOdds, math.Log1p(-no)-math.Log(no)))
}

// verdicts returns the log-odds of every context that its passage supports a sentence, given the contexts' logits before it.
func (d *Decoder) verdicts(logits [][]float32) []float64 {
	out := make([]float64, len(logits))
	for i, l := range logits {
		out[i] = logOdds(l, d.unsupported, d.ends)
	}
	return out
}
