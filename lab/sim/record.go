package sim

import (
	"math/rand/v2"

	"tandem"
	"tandem/pair/pairtest"
)

// paperRates are the acceptance rates of the published simulation. Each side of each answer has one of them, drawn at
// random, and its drafts are accepted at that rate, independently at each step.
var paperRates = [2]float64{0.49, 0.99}

// PaperRecord draws an acceptance record as DRAGON's simulation does.
func PaperRecord(seed uint64, steps int) pairtest.Record {
	rng := rand.New(rand.NewPCG(seed, 0x64726167))
	return draw(rng, steps, paperRates[rng.IntN(2)], paperRates[rng.IntN(2)])
}

// NearRecord draws an acceptance record with rates of 0.65 to 0.75 for both sides, as two sides have whose distributions
// share most of their mass.
func NearRecord(seed uint64, steps int) pairtest.Record {
	rng := rand.New(rand.NewPCG(seed, 0x6e656172))
	return draw(rng, steps, 0.65+rng.Float64()/10, 0.65+rng.Float64()/10)
}

// RandomRecord draws an acceptance record with the given rates.
func RandomRecord(seed uint64, steps int, device, cloud float64) pairtest.Record {
	return draw(rand.New(rand.NewPCG(seed, 0x72617465)), steps, device, cloud)
}

func draw(rng *rand.Rand, steps int, device, cloud float64) pairtest.Record {
	r := make(pairtest.Record, steps)
	for i := range r {
		for side, rate := range [2]float64{device, cloud} {
			if rng.Float64() < rate {
				r[i] = r[i].With(tandem.Side(side))
			}
		}
	}
	return r
}
