package specdec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tandem"
)

// What it takes the default drafters to read the prompts of an answer, which every answer does again: text in which
// earlier runs come back, of as many tokens as the prompts have together.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{500, 1500, 6000} {
		text := repetitive(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				list, _, _ := Default.Drafters(Resources{})
				var p Panel
				p.Begin(list, &Acceptance{}, text, WallTime)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/token")
		})
	}
}

// repetitive returns a text of n tokens, a third of which repeats runs of what stands before.
func repetitive(n int) (text []tandem.Token) {
	rng := rand.New(rand.NewPCG(1, 2))
	for len(text) < n {
		if from := rng.IntN(len(text) + 1); rng.IntN(8) == 0 && len(text) > 20 {
			text = append(text, text[from:min(len(text), from+4)]...)
		}
		text = append(text, tandem.Token(rng.IntN(2048)))
	}
	return text[:n]
}
