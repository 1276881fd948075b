package decoder

import (
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/dllm"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// denoiser opens the diffusion model that tests have.
func denoiser(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.Open("../models/testdata/denoise.gguf", native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// denoise writes an answer under the limit of its passages.
func denoise(t testing.TB, m *model.Model, w *OnePrompt, seed uint64, temperature float64) (answer []tandem.Token) {
	t.Helper()
	o := dllm.Options{Method: dllm.Full(), MaxTokens: w.maxTokens, Temperature: temperature, Seed: seed, Limit: w.Limit}
	o.Write = func(tokens []tandem.Token) error { answer = append(answer, tokens...); return nil }
	if _, err := dllm.Generate(t.Context(), m, w.Prompt, o); err != nil {
		t.Fatal(err)
	}
	return answer
}

// A diffusion model that answers alone writes nothing that is not in the question, in the list or in a passage, and ends with
// a whole word: a trained one and one of random weights.
func TestWholeInventsNothing(t *testing.T) {
	random, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Seed: 3, Gain: 3, Context: 1024}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer random.Close()
	words := 0
	for _, m := range []*model.Model{denoiser(t), random} {
		cfg := groundedConfig(m, "static")
		for seed := range uint64(8) {
			cfg.MaxTokens = 8 + 7*int(seed)
			w, err := NewOnePrompt(cfg, Request{Question: bothQuestion, Passages: samplePassages})
			if err != nil {
				t.Fatal(err)
			}
			text := m.Tokenizer().Decode(denoise(t, m, w, seed, float64(seed%2)))
			words += len(plainWord.FindAllString(text, -1))
			if bad := inventedWords(text, bothQuestion, samplePassages); len(bad) > 0 {
				t.Errorf("seed %d: %q invents %q", seed, text, bad)
			}
		}
	}
	if words < 50 {
		t.Errorf("all answers together have %d words", words)
	}
}

// What may follow an answer does not depend on which answers were asked about before.
func TestWholeLimit(t *testing.T) {
	m := openToy(t, 1, 512)
	cfg := groundedConfig(m, "static")
	req := Request{Question: bothQuestion, Passages: samplePassages}
	open := func() *OnePrompt {
		w, err := NewOnePrompt(cfg, req)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	limited := func(w *OnePrompt, answer []tandem.Token) []float32 {
		logits := make([]float32, m.Config().Vocab)
		w.Limit(answer, logits)
		return logits
	}
	used := open()
	for _, text := range []string{"", "The wifi", "The wifi pass", "When", "The wifi password is", "The The The The The ", "The"} {
		answer := m.Tokenizer().Encode(text, tokenizer.Options{})
		if got, want := limited(used, answer), limited(open(), answer); !slices.Equal(got, want) {
			t.Errorf("after %q other tokens may follow than at first", text)
		}
	}
}

// Each sentence of such an answer cites the sentence of a document that says it.
func TestWholeParts(t *testing.T) {
	m := openDecoder(t)
	cfg := groundedConfig(m, "static")
	cfg.Scorer = search.Lexical()
	ps := []passages.Passage{
		{Title: "Bakery", Text: "The mountain bakery is run by Malte Bergson. It closes at noon."},
		{Title: "Harbour museum", Text: "Children pay nothing. The harbour museum opens at 9:40. The shop sells maps."},
	}
	w, err := NewOnePrompt(cfg, Request{Question: "When does the harbour museum open, and who runs the mountain bakery?", Passages: ps})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer string
		want   []string
	}{
		{"", nil},
		{"The harbour museum opens at 9:40.", []string{"The harbour museum opens at 9:40."}},
		{"It opens at 9:40. The mountain bakery is run by Malte Bergson.", []string{"The harbour museum opens at 9:40.", "The mountain bakery is run by Malte Bergson."}},
		{"The museum is unknown.", []string{ps[1].Text}},
		{"Yes.", []string{""}},
	} {
		answer := m.Tokenizer().Encode(c.answer, tokenizer.Options{})
		parts := w.Parts(answer)
		var got, said []string
		for i, p := range parts {
			first := ""
			if len(p.Quotes) > 0 {
				first = p.Quotes[0].Text
			}
			got, said = append(got, first), append(said, m.Tokenizer().Decode(answer[p.From:p.To]))
			if i > 0 && p.From != parts[i-1].To {
				t.Errorf("%q: part %d begins at %d, the one before ends at %d", c.answer, i, p.From, parts[i-1].To)
			}
		}
		if !slices.Equal(got, c.want) || strings.Join(said, "") != c.answer {
			t.Errorf("%q: parts %q cite %q, want %q", c.answer, said, got, c.want)
		}
	}
}
