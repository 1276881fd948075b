package decoder

import (
	"math"
	"slices"
	"sync"

	"tandem"
	"tandem/model/sample"
)

// mix returns p^s over the vocabulary and h^s, given the logits of each context and a state.
func (d *Decoder) mix(logits [][]float32, s state) (p []float64, h float64) {
	weights, h := d.shares(s)
	if d.grounds != nil {
		logits, weights = d.mask(logits, weights, s)
	}
	return mixture(logits, weights, d.unsupported), h
}

// shares returns each context's share of p^s, and h^s.
func (d *Decoder) shares(s state) (weights []float64, h float64) {
	byContext := make([]float64, len(d.contexts))
	r := d.rel.at(s)
	if len(r) > 0 {
		for i := range byContext {
			byContext[i] = math.Inf(-1)
		}
		for passage, i := range d.rel.contextOf {
			byContext[i] = LogSumExp([]float64{byContext[i], r[passage]})
		}
		if d.rel.judges {
			byContext[len(byContext)-1] = r[len(r)-1]
		}
	}
	return softmax(byContext), d.weight(r)
}

// manyTokens is the vocabulary size from which each context is worth a goroutine.
const manyTokens = 1 << 14

// mixture returns Σ weights[i]·softmax(logits[i]), each softmax without the token except if it is not negative.
func mixture(logits [][]float32, weights []float64, except tandem.Token) []float64 {
	p := make([]float64, len(logits[0]))
	parts := [][]float64{p}
	for range logits[1:] {
		memory := spareParts.Get().(*[]float64)
		defer spareParts.Put(memory)
		*memory = slices.Grow((*memory)[:0], len(p))[:len(p)]
		parts = append(parts, *memory)
	}
	var mixing sync.WaitGroup
	for i, l := range logits {
		part := func() { scaledSoftmax(parts[i], l, weights[i], except) }
		if len(l) < manyTokens {
			part()
		} else {
			mixing.Go(part)
		}
	}
	mixing.Wait()
	for _, part := range parts[1:] { // in a fixed order, so that the sum has the same bits every time
		for x, v := range part {
			p[x] += v
		}
	}
	return p
}

// spareParts is memory for contexts' shares of a mixture. With a large vocabulary they are most of what answers throw away.
var spareParts = sync.Pool{New: func() any { return new([]float64) }}

// scaledSoftmax writes weight·softmax(logits) to e, without the token except if it is not negative.
func scaledSoftmax(e []float64, logits []float32, weight float64, except tandem.Token) {
	top, sum := maximum(logits), 0.0
	for x, l := range logits {
		e[x] = math.Exp(float64(l) - top)
		sum += e[x]
	}
	if except >= 0 {
		all := sum
		sum -= e[except]
		e[except] = 0
		if sum < all/1024 { // nearly all the mass was that token's, and the rest is mostly rounding error
			rest := slices.Clone(logits)
			rest[except] = float32(math.Inf(-1))
			scaledSoftmax(e, rest, weight, -1)
			return
		}
	}
	scale := weight / sum
	for x := range e {
		e[x] *= scale
	}
}

// logProbability returns log softmax(logits)[t].
func logProbability(logits []float32, t tandem.Token) float64 {
	top, sum := maximum(logits), 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return float64(logits[t]) - top - math.Log(sum)
}

// maximum returns the largest number in x. It may miss a NaN, which then shows in the results.
func maximum(x []float32) float64 {
	top := x[0]
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return float64(top)
}

// sample applies temperature, top-k, top-p, min-p and the repetition penalty to p^s after an answer. With temperature 0 it
// applies only the penalty: the pair then takes the likeliest token of the target.
func (d *Decoder) sample(p []float64, answer []tandem.Token) []float64 {
	s := d.cfg.Sampling
	if s.Temperature == 0 {
		s = sample.Params{Temperature: 1, RepeatPenalty: s.RepeatPenalty, RepeatLast: s.RepeatLast}
	}
	off := func(v float64) bool { return v == 0 || v == 1 }
	if s.Temperature == 1 && s.TopK == 0 && off(s.TopP) && s.MinP == 0 && off(s.RepeatPenalty) {
		return p // without a round trip through float32 logarithms
	}
	logs := make([]float32, len(p))
	for i, v := range p {
		logs[i] = float32(math.Log(v))
	}
	return s.Probabilities(p[:0], logs, answer)
}

// LogSumExp returns log Σ exp x, −Inf for no x.
func LogSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// softmax returns exp(x − logsumexp x).
func softmax(x []float64) []float64 {
	out, z := make([]float64, len(x)), LogSumExp(x)
	for i, v := range x {
		out[i] = math.Exp(v - z)
	}
	return out
}
