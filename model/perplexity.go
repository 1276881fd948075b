package model

import (
	"context"
	"fmt"
	"math"

	"tandem"
)

// Perplexity returns exp of the mean of −ln p over the tokens, each given the tokens before it in its window. Windows
// do not overlap; the first token of each does not count.
func (m *Model) Perplexity(ctx context.Context, tokens []tandem.Token, window int) (float64, error) {
	if window < 2 || window > m.config.Context {
		return 0, fmt.Errorf("windows of %d tokens: use 2 to %d, the context", window, m.config.Context)
	}
	var sum float64
	var memory Logits
	n := 0
	for len(tokens) >= 2 {
		part := tokens[:min(window, len(tokens))]
		tokens = tokens[len(part):]
		logits, err := m.ForwardInto(ctx, []Input{{Seq: m.NewSeq(), Tokens: part[:len(part)-1], All: true}}, &memory)
		if err != nil {
			return 0, err
		}
		for i, l := range logits {
			sum += logSumExp(l) - float64(l[part[i+1]])
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("perplexity needs at least two tokens")
	}
	return math.Exp(sum / float64(n)), nil
}

func logSumExp(l []float32) float64 {
	top := math.Inf(-1)
	for _, v := range l {
		top = max(top, float64(v))
	}
	var sum float64
	for _, v := range l {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}
