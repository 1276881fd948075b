package decoder

import (
	"context"
	"math/rand/v2"
	"testing"

	"tandem/model"
	"tandem/model/chat"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/search"
)

// BenchmarkNext decodes one token of a two-part answer with the built-in reader over four passages.
func BenchmarkNext(b *testing.B) {
	m, err := model.OpenBytes("reader", models.Reader, native.New(0))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for _, weights := range []string{"static", "sentence", "sentence+likelihood"} {
		b.Run(weights, func(b *testing.B) {
			cfg := toyConfig(m, weights)
			cfg.Scorer = search.Lexical()
			d := newDecoder(b, cfg, Request{Question: bothQuestion, Passages: samplePassages[:4]})
			answer := chat.Encode(m.Tokenizer(), " The wifi password of the lake cabin is tumbral-5827. The harbour museum opens at 9:30.")[1:]
			for i := 0; b.Loop(); i++ {
				at := i % len(answer)
				if _, err := d.Next(context.Background(), at, answer[at:at+1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMixture mixes four contexts over the vocabulary of Qwen2.5.
func BenchmarkMixture(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	logits := make([][]float32, 4)
	for i := range logits {
		logits[i] = make([]float32, 151936)
		for x := range logits[i] {
			logits[i][x] = float32(3 * r.NormFloat64())
		}
	}
	weights := []float64{0.4, 0.3, 0.2, 0.1}
	for b.Loop() {
		mixture(logits, weights, -1)
	}
}
