package decoder

import (
	"math"
	"slices"
	"sync"

	"tandem"
	"tandem/model/sample"
	"tandem/npu/native"
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

// mixture returns Σ weights[i]·softmax(logits[i]), each softmax without the token except if it is not negative. The caller may
// put it into spareMixtures.
func mixture(logits [][]float32, weights []float64, except tandem.Token) []float64 {
	parts := make([]*part, len(logits))
	var mixing sync.WaitGroup
	for i, l := range logits {
		parts[i] = spareParts.Get().(*part)
		defer spareParts.Put(parts[i])
		set := func() { parts[i].set(l, weights[i], except) }
		if len(l) < manyTokens {
			set()
		} else {
			mixing.Go(set)
		}
	}
	mixing.Wait()
	p := *spareMixtures.Get().(*[]float64)
	p = slices.Grow(p[:0], len(logits[0]))[:len(logits[0])]
	clear(p)
	for from := 0; from < len(p); from += near {
		for _, part := range parts { // in a fixed order, so that the sum has the same bits every time
			part.addTo(p, from, min(from+near, len(p)))
		}
	}
	return p
}

// spareMixtures is memory for mixtures.
var spareMixtures = sync.Pool{New: func() any { return new([]float64) }}

// near is the number of tokens that parts are added to at a time, so that they stay in the near caches.
const near = 2048

// part is a context's part of a mixture: exponentials of its logits, and what to multiply them by.
type part struct {
	exps  []float32
	scale float64
}

// spareParts is memory for parts. With a large vocabulary it would be most of what answers throw away.
var spareParts = sync.Pool{New: func() any { return new(part) }}

// set makes the part weight·softmax(logits), without the token except if it is not negative.
func (p *part) set(logits []float32, weight float64, except tandem.Token) {
	p.exps = append(p.exps[:0], logits...)
	if except >= 0 {
		p.exps[except] = float32(math.Inf(-1))
	}
	p.scale = weight / native.Exps(p.exps)
}

// addTo adds the part's probabilities of the tokens from from to to.
func (p *part) addTo(sum []float64, from, to int) {
	exps, sum := p.exps[from:to], sum[from:to]
	for x, e := range exps {
		sum[x] += float64(float64(e) * p.scale) // the conversion keeps a compiler from fusing
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
