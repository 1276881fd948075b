package decoder

import (
	"math"
	"slices"
	"sync"

	"tandem"
	"tandem/model/sample"
	"tandem/model/vocabulary"
	"tandem/npu/native"
)

// mix returns p^s over the vocabulary and h^s, given the logits of each context and a state. The caller may put p^s into
// spareMixtures.
func (d *Decoder) mix(logits [][]float32, s state) (p []float64, h float64, err error) {
	weights, h := d.shares(s)
	var fitting vocabulary.Mask
	if d.form != nil {
		if fitting, err = d.form.Allowed(s.form); err != nil {
			return nil, 0, err
		}
	}
	var m mixture
	for i, l := range logits {
		switch {
		case d.form != nil:
			m.add(l, weights[i], d.unsupported, func() vocabulary.Mask { return fitting })
		case d.grounds == nil:
			m.add(l, weights[i], d.unsupported, nil)
		case !s.excludes(i):
			m.add(l, weights[i], d.unsupported, func() vocabulary.Mask { return d.grounds[i].Allowed(s.grounds[i], s.left) })
		}
	}
	return m.sum(len(logits[0])), h, nil
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

// mixtureOf returns Σ weights[i]·softmax(logits[i]), each softmax without the token except if it is not negative. The caller may
// put it into spareMixtures.
func mixtureOf(logits [][]float32, weights []float64, except tandem.Token) []float64 {
	var m mixture
	for i, l := range logits {
		m.add(l, weights[i], except, nil)
	}
	return m.sum(len(logits[0]))
}

// mixture is a sum of components that is being computed.
type mixture struct {
	components []*component
	wait       sync.WaitGroup
}

// manyTokens is the vocabulary size from which each context is worth a goroutine.
const manyTokens = 1 << 14

// add adds weight·softmax(logits), without the token except if it is not negative, and of the tokens that allowed returns if
// it is not nil.
func (m *mixture) add(logits []float32, weight float64, except tandem.Token, allowed func() vocabulary.Mask) {
	c := spareComponents.Get().(*component)
	m.components = append(m.components, c)
	set := func() {
		if c.sparse = allowed != nil; c.sparse {
			c.choose(logits, except, allowed())
		} else {
			c.take(logits, except)
		}
		c.scale = weight / native.Exps(c.exps)
	}
	if allowed == nil && len(logits) < manyTokens {
		set()
	} else {
		m.wait.Go(set)
	}
}

// sum returns the mixture over a vocabulary. It is NaN for token 0 if it is for any.
func (m *mixture) sum(vocab int) []float64 {
	m.wait.Wait()
	p := *spareMixtures.Get().(*[]float64)
	p = slices.Grow(p[:0], vocab)[:vocab]
	clear(p)
	for from := 0; from < vocab; from += near {
		for _, c := range m.components { // in a fixed order, so that the sum has the same bits every time
			c.addTo(p, from, min(from+near, vocab))
		}
	}
	for _, c := range m.components {
		if math.IsNaN(c.scale) {
			p[0] = math.NaN()
		}
		spareComponents.Put(c)
	}
	return p
}

// spareMixtures and spareComponents are memory for mixtures and their components. With a large vocabulary they would be most of
// what answers throw away.
var (
	spareMixtures   = sync.Pool{New: func() any { return new([]float64) }}
	spareComponents = sync.Pool{New: func() any { return new(component) }}
)

// near is the number of tokens to which components are added at a time, so that these sums stay in the first-level caches.
const near = 2048

// component is a context's term of a mixture: exponentials of its logits, and what to multiply them by.
type component struct {
	exps   []float32
	tokens []tandem.Token // those that exps are of, if it is sparse, ascending
	sparse bool
	next   int // the first of tokens that was not added
	scale  float64
}

// take sets the component's exps to all logits, with −Inf for the token except.
func (c *component) take(logits []float32, except tandem.Token) {
	c.exps = append(c.exps[:0], logits...)
	if except >= 0 {
		c.exps[except] = float32(math.Inf(-1))
	}
}

// choose sets the component's exps to the logits of the tokens in set, without the token except. If there are none, the
// component is NaN.
func (c *component) choose(logits []float32, except tandem.Token, set vocabulary.Mask) {
	c.exps, c.tokens, c.next = c.exps[:0], c.tokens[:0], 0
	for t := range set.All() {
		if int(t) < len(logits) && t != except {
			c.exps, c.tokens = append(c.exps, logits[t]), append(c.tokens, t)
		}
	}
	if len(c.tokens) == 0 {
		c.exps = append(c.exps, float32(math.NaN()))
	}
}

// addTo adds the component's probabilities of the tokens from from to to. If it is sparse, calls come in order.
func (c *component) addTo(sum []float64, from, to int) {
	// The conversions keep a compiler from fusing a product and a sum.
	if c.sparse {
		for ; c.next < len(c.tokens) && int(c.tokens[c.next]) < to; c.next++ {
			sum[c.tokens[c.next]] += float64(float64(c.exps[c.next]) * c.scale)
		}
		return
	}
	exps, sum := c.exps[from:to], sum[from:to]
	for x, e := range exps {
		sum[x] += float64(float64(e) * c.scale)
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
