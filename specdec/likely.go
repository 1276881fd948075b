package specdec

import (
	"math"

	"tandem"
	"tandem/npu/native"
)

// Likely is a token and its probability.
type Likely struct {
	Token tandem.Token
	P     float64
}

// topOf returns the n likeliest tokens, with their probabilities among these.
func topOf(logits []float32, n int) []Likely {
	top, sum := weigh(logits, n), 0.0
	for _, l := range top {
		sum += l.P
	}
	return scaled(top, sum)
}

// likeliestOf returns the n likeliest tokens, with their probabilities among all.
func likeliestOf(logits []float32, n int) []Likely {
	top, sum := weigh(logits, n), 0.0
	if len(top) == 0 {
		return nil // no logit is a number
	}
	best := float64(logits[top[0].Token])
	for _, l := range logits {
		if d := float64(l) - best; d > -32 {
			sum += math.Exp(d)
		}
	}
	return scaled(top, sum)
}

// weigh returns the n likeliest tokens, the likeliest first, and how likely each is compared with that one. It leaves out NaN.
func weigh(logits []float32, n int) []Likely {
	best := native.Top(logits, n)
	top := make([]Likely, len(best))
	for i, t := range best {
		top[i] = Likely{tandem.Token(t), math.Exp(float64(logits[t]) - float64(logits[best[0]]))}
	}
	return top
}

// scaled divides the probabilities by their sum.
func scaled(top []Likely, sum float64) []Likely {
	for i := range top {
		top[i].P /= sum
	}
	return top
}

// likeliest returns the token of the largest logit.
func likeliest(logits []float32) tandem.Token {
	if top := native.Top(logits, 1); len(top) > 0 {
		return tandem.Token(top[0])
	}
	return 0
}
