package decoder

import (
	"math"
	"slices"
	"sync"

	"tandem"
	"tandem/decoder/ground"
	"tandem/model/sample"
	"tandem/npu/native"
)

// mix returns p^s over the vocabulary and h^s, given the logits of each context and a state. The caller may put p^s into
// spareMixtures.
func (d *Decoder) mix(logits [][]float32, s state) (p []float64, h float64) {
	weights, h := d.shares(s)
	var m mixing
	for i, l := range logits {
		switch {
		case d.grounds == nil:
			m.add(l, weights[i], d.unsupported, nil)
		case !s.excludes(i):
			m.add(l, weights[i], d.unsupported, func() ground.Mask { return d.grounds[i].Allowed(s.grounds[i], s.left) })
		}
	}
	return m.sum(len(logits[0])), h
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

// mixture returns Σ weights[i]·softmax(logits[i]), each softmax without the token except if it is not negative. The caller may
// put it into spareMixtures.
func mixture(logits [][]float32, weights []float64, except tandem.Token) []float64 {
	var m mixing
	for i, l := range logits {
		m.add(l, weights[i], except, nil)
	}
	return m.sum(len(logits[0]))
}

// mixing is a mixture in the making.
type mixing struct {
	parts []*part
	wait  sync.WaitGroup
}

// manyTokens is the vocabulary size from which each context is worth a goroutine.
const manyTokens = 1 << 14

// add adds weight·softmax(logits), without the token except if it is not negative, and of the tokens that allowed returns if
// it is not nil.
func (m *mixing) add(logits []float32, weight float64, except tandem.Token, allowed func() ground.Mask) {
	p := spareParts.Get().(*part)
	m.parts = append(m.parts, p)
	set := func() {
		if p.sparse = allowed != nil; p.sparse {
			p.choose(logits, except, allowed())
		} else {
			p.take(logits, except)
		}
		p.scale = weight / native.Exps(p.exps)
	}
	if allowed == nil && len(logits) < manyTokens {
		set()
	} else {
		m.wait.Go(set)
	}
}

// sum returns the mixture over a vocabulary. It is NaN for token 0 if it is for any.
func (m *mixing) sum(vocab int) []float64 {
	m.wait.Wait()
	p := *spareMixtures.Get().(*[]float64)
	p = slices.Grow(p[:0], vocab)[:vocab]
	clear(p)
	for from := 0; from < vocab; from += near {
		for _, part := range m.parts { // in a fixed order, so that the sum has the same bits every time
			part.addTo(p, from, min(from+near, vocab))
		}
	}
	for _, part := range m.parts {
		if math.IsNaN(part.scale) {
			p[0] = math.NaN()
		}
		spareParts.Put(part)
	}
	return p
}

// spareMixtures and spareParts are memory for mixtures and their parts. With a large vocabulary they would be most of what answers
// throw away.
var (
	spareMixtures = sync.Pool{New: func() any { return new([]float64) }}
	spareParts    = sync.Pool{New: func() any { return new(part) }}
)

// near is the number of tokens to which parts are added at a time, so that these sums stay in the first-level caches.
const near = 2048

// part is a context's part of a mixture: exponentials of its logits, and what to multiply them by.
type part struct {
	exps   []float32
	tokens []tandem.Token // those that exps are of, if it is sparse, ascending
	sparse bool
	next   int // the first of tokens that was not added
	scale  float64
}

// take sets the part's exps to all logits, with −Inf for the token except.
func (p *part) take(logits []float32, except tandem.Token) {
	p.exps = append(p.exps[:0], logits...)
	if except >= 0 {
		p.exps[except] = float32(math.Inf(-1))
	}
}

// choose sets the part's exps to the logits of the tokens in set, without the token except. If there are none, the part
// is NaN.
func (p *part) choose(logits []float32, except tandem.Token, set ground.Mask) {
	p.exps, p.tokens, p.next = p.exps[:0], p.tokens[:0], 0
	for t := range set.All() {
		if int(t) < len(logits) && t != except {
			p.exps, p.tokens = append(p.exps, logits[t]), append(p.tokens, t)
		}
	}
	if len(p.tokens) == 0 {
		p.exps = append(p.exps, float32(math.NaN()))
	}
}

// addTo adds the part's probabilities of the tokens from from to to. If it is sparse, calls come in order.
func (p *part) addTo(sum []float64, from, to int) {
	// The conversions keep a compiler from fusing a product and a sum.
	if p.sparse {
		for ; p.next < len(p.tokens) && int(p.tokens[p.next]) < to; p.next++ {
			sum[p.tokens[p.next]] += float64(float64(p.exps[p.next]) * p.scale)
		}
		return
	}
	exps, sum := p.exps[from:to], sum[from:to]
	for x, e := range exps {
		sum[x] += float64(float64(e) * p.scale)
	}
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
		s = sample.Params{Sampling: tandem.Sampling{Temperature: 1, RepeatPenalty: s.RepeatPenalty, RepeatLast: s.RepeatLast}}
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
