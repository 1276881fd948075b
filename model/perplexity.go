package model

import (
	"context"
	"fmt"
	"math"

	"tandem"
)

// Perplexity is e to the mean of −ln p of each token after the first of its window, given those before it
// in the window. Windows follow each other without overlap.
func (m *Model) Perplexity(ctx context.Context, tokens []tandem.Token, window int) (float64, error) {
	if window < 2 || window > m.config.Context {
		return 0, fmt.Errorf("windows of %d tokens: want 2 to the context of %d", window, m.config.Context)
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
		return 0, fmt.Errorf("perplexity needs two tokens at least")
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
