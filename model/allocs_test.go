//go:build !race

package model

import (
	"context"
	"math/rand/v2"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
)

// In steady state a token costs two allocations, which are the caller's to keep: the logits and the slice of
// them. In memory that the caller lends it costs none.
func TestTokensAllocateOnlyTheirLogits(t *testing.T) {
	for _, threads := range []int{1, 2} {
		for _, typ := range npu.DTypes {
			m := variant(t, tinymodel.Spec{Type: typ, Dim: 256, FF: 2048}, threads, 1, 8)
			s := m.NewSeq()
			forward(t, m, Row{Seq: s, Tokens: pattern(5)})
			row := []Row{{Seq: s, Tokens: pattern(1)}}
			got := testing.AllocsPerRun(200, func() {
				if _, err := m.Forward(context.Background(), row); err != nil {
					t.Fatal(err)
				}
				s.Truncate(5)
			})
			if got > 2 {
				t.Errorf("%v, %d threads: %v allocations", typ, threads, got)
			}
			var memory Logits
			got = testing.AllocsPerRun(200, func() {
				if _, err := m.ForwardInto(context.Background(), row, &memory); err != nil {
					t.Fatal(err)
				}
				s.Truncate(5)
			})
			if got > 0 {
				t.Errorf("%v, %d threads, memory lent: %v allocations", typ, threads, got)
			}
		}
	}
}

// A sampler that has drawn once has all the memory it needs, on flat logits as on steep ones. Remembering the
// tokens for the penalty takes memory now and then, which is less than one allocation a token.
func TestSamplersDoNotAllocate(t *testing.T) {
	for _, scale := range []float64{0.1, 1, 5} {
		logits, r := make([]float32, 5000), rand.New(rand.NewPCG(1, 2))
		for i := range logits {
			logits[i] = float32(scale * r.NormFloat64())
		}
		for _, s := range []Sampling{
			{}, {Temperature: 1}, {Temperature: 1, TopP: 0.8}, {Temperature: 1, TopP: 0.95}, {Temperature: 1, TopK: 20},
			{Temperature: 1, TopK: 20, TopP: 0.9}, {Temperature: 1, MinP: 0.05}, {RepeatPenalty: 1.1},
			{Temperature: 0.7, TopK: 40, TopP: 0.9, MinP: 0.05, RepeatPenalty: 1.1, RepeatLast: -1},
		} {
			sampler, err := NewSampler(s, make([]tandem.Token, 100))
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
