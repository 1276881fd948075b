package decoder

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/decoder/kvstore"
	"tandem/internal/meter"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/vocabulary"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
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
	few := make(vocabulary.Mask, (vocab+63)/64)
	for range 5000 {
		t := r.IntN(vocab)
		few[t>>6] |= 1 << (t & 63)
	}
	for name, allowed := range map[string]func() vocabulary.Mask{"all": nil, "grounded": func() vocabulary.Mask { return few }} {
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

// BenchmarkRead gives answers of 16 tokens, with guesses, about passages. A sub-benchmark's name has the number of tokens in its
// prompts. It reports how much of an answer's time the drafters take to read the prompts: where the passages are computed, and
// where their KV caches are in memory. Times are of the processor, so that other programs count for neither.
func BenchmarkRead(b *testing.B) {
	if _, ok := meter.ThreadTime(); !ok {
		b.Skip("this system does not tell a thread's time")
	}
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for _, tokens := range []int{500, 2000, 8000} {
		for _, kept := range []bool{false, true} {
			b.Run(fmt.Sprintf("tokens=%d/kept=%t", tokens, kept), func(b *testing.B) {
				cfg := toyConfig(m, "static")
				cfg.Scorer, cfg.MaxTokens, cfg.Past = search.Lexical(), 16, &specdec.Experience{}
				if kept {
					cfg.Shared = NewShared(256 << 20)
				}
				benchRead(b, cfg, Request{Question: bothQuestion, Passages: passagesOf(b, m, tokens)})
			})
		}
	}
}

// benchRead times answers, and after each how long new drafters take to read its prompts.
func benchRead(b *testing.B, cfg Config, req Request) {
	runtime.LockOSThread() // whose time counts
	defer runtime.UnlockOSThread()
	var answers, reading time.Duration
	prompts := answerWithGuesses(b, cfg, req) // the first computes what others keep
	for b.Loop() {
		began, _ := meter.ThreadTime()
		answerWithGuesses(b, cfg, req)
		answered, _ := meter.ThreadTime()
		list, _, _ := specdec.Default.Drafters(specdec.Resources{})
		new(specdec.Panel).Begin(list, &specdec.Acceptance{}, prompts, specdec.WallTime)
		read, _ := meter.ThreadTime()
		answers, reading = answers+answered-began, reading+read-answered
	}
	b.ReportMetric(float64(len(prompts)), "tokens")
	b.ReportMetric(100*float64(reading)/float64(answers), "%reading")
	b.ReportMetric(float64(reading.Microseconds())/float64(b.N), "µs-reading")
	b.ReportMetric(float64(answers.Microseconds())/float64(b.N), "µs-answer")
}

// passagesOf returns passages of evaluation questions with about n tokens together.
func passagesOf(b *testing.B, m *model.Model, n int) (list []passages.Passage) {
	b.Helper()
	for line := range bytes.Lines(models.Eval) {
		var x struct{ Device, Cloud []passages.Passage }
		if err := json.Unmarshal(line, &x); err != nil {
			b.Fatal(err)
		}
		for _, p := range append(x.Device, x.Cloud...) {
			list = append(list, p)
			if n -= len(chat.Encode(m.Tokenizer(), p.Text)); n <= 0 {
				return list
			}
		}
	}
	b.Fatal("too few passages")
	return nil
}

// answerWithGuesses gives an answer and returns the prompts.
func answerWithGuesses(b *testing.B, cfg Config, req Request) []tandem.Token {
	b.Helper()
	d, err := New(b.Context(), cfg, req)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	costs := make([]float64, 32)
	for i := range costs {
		costs[i] = 1 + .3*float64(i)
	}
	var answer, news []tandem.Token
	for keep := 0; len(answer) < cfg.MaxTokens; {
		out, _, chain, err := d.NextAhead(b.Context(), tandem.Pass{Keep: keep, Append: news, Guess: 7, Costs: costs})
		if err != nil {
			b.Fatal(err)
		}
		keep, news = len(answer), []tandem.Token{out.Dist.Mode()}
		for at := 0; ; { // along the guesses that are right
			i := slices.IndexFunc(chain, func(c tandem.Continuation) bool { return c.After == at && c.Token == news[len(news)-1] })
			if i < 0 {
				break
			}
			at, news = i+1, append(news, chain[i].Dist.Mode())
		}
		answer = append(answer, news...)
	}
	return d.guesses.prompts
}
