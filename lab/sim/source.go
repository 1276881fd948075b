package sim

import (
	"math/rand/v2"

	"tandem"
	"tandem/aggregator"
)

// Source gives a side's distribution after some tokens of the answer. It must be a function of its
// arguments: a side may ask for the same tokens again.
type Source interface {
	After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error)
}

// SourceFunc is a Source that cannot fail.
type SourceFunc func(side tandem.Side, answer []tandem.Token) aggregator.Local

// After calls f.
func (f SourceFunc) After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error) {
	return f(side, answer), nil
}

// Sharing gives random distributions of 4 to 16 tokens of which the two sides have the given share of the
// mass in common, at equal weights (DESIGN §3.3, §3.4).
func Sharing(seed uint64, share float64) Source {
	return SourceFunc(func(side tandem.Side, answer []tandem.Token) aggregator.Local {
		h := uint64(tandem.PrefixOf(answer))
		common, own := rand.New(rand.NewPCG(seed, h)), rand.New(rand.NewPCG(seed, h^uint64(1+side)<<40))
		n := 4 + common.IntN(13)
		p := make([]float64, 3*n)
		fill(common, p[:n-n/2], share)
		fill(own, p[n*(1+int(side)):][:n/2], 1-share)
		return aggregator.Local{Dist: aggregator.Nucleus(p, 1, n)}
	})
}

// fill spreads mass over dst at random.
func fill(rng *rand.Rand, dst []float64, mass float64) {
	sum := 0.0
	for i := range dst {
		dst[i] = rng.ExpFloat64()
		sum += dst[i]
	}
	for i := range dst {
		dst[i] *= mass / sum
	}
}

// Record is an acceptance record: whose drafts are accepted at each step. Beyond its end it repeats.
type Record []tandem.By

// Records of the published simulation: each side's drafts are accepted with one of two rates, drawn for
// each answer, independently at each step.
var paperRates = [2]float64{0.49, 0.99}

// PaperRecord draws an acceptance record as DRAGON's simulation does.
func PaperRecord(seed uint64, steps int) Record {
	rng := rand.New(rand.NewPCG(seed, 0x64726167))
	return draw(rng, steps, paperRates[rng.IntN(2)], paperRates[rng.IntN(2)])
}

// NearRecord draws an acceptance record with rates of 0.65 to 0.75 for both sides: what two sides have whose
// distributions share most of their mass.
func NearRecord(seed uint64, steps int) Record {
	rng := rand.New(rand.NewPCG(seed, 0x6e656172))
	return draw(rng, steps, 0.65+rng.Float64()/10, 0.65+rng.Float64()/10)
}

// RandomRecord draws an acceptance record with the given rates.
func RandomRecord(seed uint64, steps int, device, cloud float64) Record {
	return draw(rand.New(rand.NewPCG(seed, 0x72617465)), steps, device, cloud)
}

func draw(rng *rand.Rand, steps int, device, cloud float64) Record {
	r := make(Record, steps)
	for i := range r {
		for side, rate := range [2]float64{device, cloud} {
			if rng.Float64() < rate {
				r[i] = r[i].With(tandem.Side(side))
			}
		}
	}
	return r
}

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
	case tandem.ByNeither: // each prefers a token of its own, together they prefer the second of both
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
