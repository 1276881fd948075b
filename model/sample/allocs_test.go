//go:build !race

package sample

import (
	"math/rand/v2"
	"testing"

	"tandem"
)

// After its first draw a sampler allocates nothing, on flat or steep logits, except that the list of tokens for the
// penalty occasionally grows.
func TestSamplersDoNotAllocate(t *testing.T) {
	for _, scale := range []float64{0.1, 1, 5} {
		logits, r := make([]float32, 5000), rand.New(rand.NewPCG(1, 2))
		for i := range logits {
			logits[i] = float32(scale * r.NormFloat64())
		}
		for _, s := range []Params{
			{}, {Sampling: tandem.Sampling{Temperature: 1}}, {Sampling: tandem.Sampling{Temperature: 1, TopP: 0.8}}, {Sampling: tandem.Sampling{Temperature: 1, TopP: 0.95}}, {Sampling: tandem.Sampling{Temperature: 1, TopK: 20}},
			{Sampling: tandem.Sampling{Temperature: 1, TopK: 20, TopP: 0.9}}, {Sampling: tandem.Sampling{Temperature: 1, MinP: 0.05}}, {Sampling: tandem.Sampling{RepeatPenalty: 1.1}},
			{Sampling: tandem.Sampling{Temperature: 0.7, TopK: 40, TopP: 0.9, MinP: 0.05, RepeatPenalty: 1.1, RepeatLast: -1}},
		} {
			sampler, err := New(s, make([]tandem.Token, 100))
			if err != nil {
				t.Fatal(err)
			}
			sampler.Next(logits)
			if got := testing.AllocsPerRun(50, func() { sampler.Next(logits) }); got > 0 {
				t.Errorf("scale %v, %+v: %v allocations", scale, s, got)
			}
		}
	}
}
