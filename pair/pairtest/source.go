package pairtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"tandem"
	"tandem/aggregator"
	"tandem/pair"
)

// Source gives a side's distribution after some tokens of the answer. It must be a function of its arguments: a side
// may ask for the same tokens again.
type Source interface {
	After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error)
}

// SourceFunc is a Source that cannot fail.
type SourceFunc func(side tandem.Side, answer []tandem.Token) aggregator.Local

// After calls f.
func (f SourceFunc) After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error) {
	return f(side, answer), nil
}

// Sharing gives random distributions of 4 to 16 tokens. The two sides have the given share of the mass in common, and
// equal weights.
func Sharing(seed uint64, share float64) SourceFunc {
	return func(side tandem.Side, answer []tandem.Token) aggregator.Local {
		h := uint64(tandem.PrefixOf(answer))
		common, own := rand.New(rand.NewPCG(seed, h)), rand.New(rand.NewPCG(seed, h^uint64(1+side)<<40))
		n := 4 + common.IntN(13)
		p := make([]float64, 3*n)
		spread(common, p[:n-n/2], share)
		spread(own, p[n*(1+int(side)):][:n/2], 1-share)
		return aggregator.Local{Dist: aggregator.Nucleus(p, 1, n)}
	}
}

// spread spreads mass over dst at random.
func spread(rng *rand.Rand, dst []float64, mass float64) {
	sum := 0.0
	for i := range dst {
		dst[i] = rng.ExpFloat64()
		sum += dst[i]
	}
	for i := range dst {
		dst[i] *= mass / sum
	}
}

// randomVocab is the size of Random's vocabulary.
const randomVocab = 24

// Random gives distributions of a few tokens that are random functions of the answer so far. The two sides share part
// of their mass, so that drafts are sometimes accepted, and have different weights. Token 0 is rare, which makes it
// suitable as a stop token.
func Random(seed uint64, share float64) SourceFunc {
	scatter := func(p []float64, h uint64, mass float64) {
		rng := rand.New(rand.NewPCG(seed, h))
		n := 1 + rng.IntN(5)
		w := make([]float64, n)
		spread(rng, w, mass)
		for _, x := range w {
			id := rng.IntN(randomVocab)
			if id == 0 && rng.IntN(4) > 0 {
				id = 1
			}
			p[id] += x
		}
	}
	return func(side tandem.Side, answer []tandem.Token) aggregator.Local {
		h := uint64(tandem.PrefixOf(answer))
		p := make([]float64, randomVocab)
		scatter(p, h, share)
		scatter(p, h^uint64(side+1)<<60, 1-share)
		rng := rand.New(rand.NewPCG(seed+1, h+uint64(side)))
		return aggregator.Local{Dist: aggregator.Nucleus(p, 0.9, 8), H: tandem.FixedOf(rng.NormFloat64())}
	}
}

// Record is an acceptance record: whose drafts are accepted at each step. Beyond its end it repeats.
type Record []tandem.By

// Rate is the share of steps at which side's draft is accepted.
func (r Record) Rate(side tandem.Side) float64 {
	n := 0
	for _, by := range r {
		if by.Has(side) {
			n++
		}
	}
	return float64(n) / float64(len(r))
}

// After gives distributions for which, at temperature 0, exactly the recorded drafts are accepted.
func (r Record) After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error) {
	by := r[len(answer)%len(r)]
	own := tandem.Token(1 + side)
	switch by {
	case tandem.ByBoth:
		return aggregator.Local{Dist: certain(5)}, nil
	case tandem.ByNeither: // each prefers a different token, together they prefer the second token of both
		const first = 40000
		return aggregator.Local{Dist: tandem.Dist{
			IDs: []tandem.Token{own, 7}, Weights: []uint32{first, tandem.Mass - first},
		}}, nil
	}
	l := aggregator.Local{Dist: certain(own)}
	if by.Has(side) {
		l.H = tandem.FixedOf(3)
	}
	return l, nil
}

func certain(t tandem.Token) tandem.Dist {
	return tandem.Dist{IDs: []tandem.Token{t}, Weights: []uint32{tandem.Mass}}
}

// Answer is the whole protocol without a network: for each step both sides draft, and the target follows (DRAGON §2.2).
// Whatever the placement and the network, a pair must say the same.
func Answer(cfg pair.Config, source Source) (targets []tandem.Target, err error) {
	rule := cfg.Rule()
	var answer []tandem.Token
	for len(answer) < cfg.MaxTokens {
		step := tandem.Step(len(answer))
		device, err := source.After(tandem.Device, answer)
		if err != nil {
			return nil, err
		}
		cloud, err := source.After(tandem.Cloud, answer)
		if err != nil {
			return nil, err
		}
		x := rule.Target(step, device, cloud)
		if slices.Contains(cfg.Stop, x) {
			break
		}
		t := tandem.Target{Step: step, Token: x, Prefix: tandem.PrefixOf(answer)}
		for side, l := range [2]aggregator.Local{device, cloud} {
			if rule.Draft(tandem.Side(side), step, l.Dist) == x {
				t.By = t.By.With(tandem.Side(side))
			}
		}
		rule.Lead = rule.LeadAfter(t.By)
		targets, answer = append(targets, t), append(answer, x)
	}
	return targets, nil
}

// Tokens returns the tokens of targets.
func Tokens(targets []tandem.Target) []tandem.Token {
	out := make([]tandem.Token, len(targets))
	for i, t := range targets {
		out[i] = t.Token
	}
	return out
}

// Common gives both sides random distributions over the same 8 tokens, with masses from a Dirichlet distribution with parameter
// .3. At each step the two sides have the given share of the mass in common, give or take a tenth of it. The device's weight is
// between .2 and .8 and constant for a whole answer.
func Common(seed uint64, share float64) SourceFunc {
	eta := .2 + .6*rand.New(rand.NewPCG(seed, 1)).Float64()
	return func(side tandem.Side, answer []tandem.Token) aggregator.Local {
		rng := rand.New(rand.NewPCG(seed, uint64(tandem.PrefixOf(answer))))
		var p [3][8]float64
		for i := range p {
			dirichlet(rng, p[i][:], .3)
		}
		want := share + .2*(rng.Float64()-.5)
		at := func(own float64, s tandem.Side) (q [8]float64) {
			for i := range q {
				q[i] = (1-own)*p[2][i] + own*p[s][i]
			}
			return q
		}
		least, most := 0.0, 1.0
		for range 20 {
			own, common := (least+most)/2, 0.0
			d, c := at(own, tandem.Device), at(own, tandem.Cloud)
			for i := range d {
				common += min(d[i], c[i])
			}
			if common > want {
				least = own
			} else {
				most = own
			}
		}
		q := at(least, side)
		h := 0.0
		if side == tandem.Device {
			h = math.Log(eta / (1 - eta))
		}
		return aggregator.Local{Dist: aggregator.Nucleus(q[:], 1, 8), H: tandem.FixedOf(h)}
	}
}

// dirichlet draws from the Dirichlet distribution with equal parameters a < 1 by normalising gamma variates. A gamma
// variate of parameter a is one of parameter a+1 times u^(1/a) (Stuart 1962).
func dirichlet(rng *rand.Rand, dst []float64, a float64) {
	sum := 0.0
	for i := range dst {
		dst[i] = gamma(rng, a+1) * math.Pow(rng.Float64(), 1/a)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// gamma draws a gamma variate with a parameter of at least 1 (Marsaglia and Tsang 2000).
func gamma(rng *rand.Rand, a float64) float64 {
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v = v * v * v; v > 0 && math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
