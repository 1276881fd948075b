package decoder

import (
	"context"
	"math/rand/v2"
	"testing"

	"tandem/decoder/ground"
	"tandem/decoder/kvstore"
	"tandem/model"
	"tandem/model/chat"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/search"
	"tandem/specdec"
)

// BenchmarkNext decodes one token of a two-part answer with the built-in decoder over four passages.
func BenchmarkNext(b *testing.B) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(0))
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

// BenchmarkMixture mixes four contexts over the vocabulary of Qwen2.5: all of it, and 5,000 tokens that may follow in grounded
// decoding.
func BenchmarkMixture(b *testing.B) {
	const vocab = 151936
	r := rand.New(rand.NewPCG(1, 1))
	logits, weights := make([][]float32, 4), []float64{0.4, 0.3, 0.2, 0.1}
	for i := range logits {
		logits[i] = make([]float32, vocab)
		for x := range logits[i] {
			logits[i][x] = float32(3 * r.NormFloat64())
		}
	}
	few := make(ground.Mask, (vocab+63)/64)
	for range 5000 {
		t := r.IntN(vocab)
		few[t>>6] |= 1 << (t & 63)
	}
	for name, allowed := range map[string]func() ground.Mask{"all": nil, "grounded": func() ground.Mask { return few }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var m mixture
				for i, l := range logits {
					m.add(l, weights[i], -1, allowed)
				}
				p := m.sum(vocab)
				spareMixtures.Put(&p)
			}
		})
	}
}

// BenchmarkBegin begins answers of the built-in decoder about four passages whose KV caches are on disk, without
// drafters and with the default ones, which read the prompts again for each answer.
func BenchmarkBegin(b *testing.B) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	kv, err := kvstore.Open(b.TempDir(), 64<<20)
	if err != nil {
		b.Fatal(err)
	}
	defer kv.Close()
	for _, draft := range []specdec.Set{specdec.Off, specdec.Default} {
		b.Run(map[specdec.Set]string{specdec.Off: "off", specdec.Default: "auto"}[draft], func(b *testing.B) {
			cfg := toyConfig(m, "static")
			cfg.Scorer, cfg.KV, cfg.Draft = search.Lexical(), kv, draft
			for b.Loop() {
				d, err := New(b.Context(), cfg, Request{Question: bothQuestion, Passages: samplePassages[:4]})
				if err != nil {
					b.Fatal(err)
				}
				d.Close()
			}
		})
	}
}
