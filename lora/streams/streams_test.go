package streams

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu/native"
)

func tiny(t testing.TB, spec tinymodel.Spec) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(spec), native.New(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func randomTokens(r *rand.Rand, n, vocab int) []tandem.Token {
	out := make([]tandem.Token, n)
	for i := range out {
		out[i] = tandem.Token(r.IntN(vocab))
	}
	return out
}

func randomOptions(r *rand.Rand) Options {
	o := Options{Params: sample.Params{Seed: r.Uint64()}, Tokens: r.IntN(7) + 1}
	if r.IntN(3) > 0 {
		o.Params.Temperature = []float64{0.5, 1, 2}[r.IntN(3)]
		o.Params.TopK = []int{0, 0, 3, 40}[r.IntN(4)]
		o.Params.TopP = []float64{0, 0.9}[r.IntN(2)]
	}
	if r.IntN(3) == 0 {
		o.Params.RepeatPenalty = 1.3
	}
	if r.IntN(3) == 0 {
		o.Stop = []string{string(rune('a' + r.IntN(26))), "e"}
	}
	if r.IntN(4) == 0 {
		o.Min = 0.2
	}
	return o
}

// Each stream is the one that is generated alone, to the bit: over 10,000 streams with random prompts, prefixes and options.
func TestStreamsEqualAlone(t *testing.T) {
	cases := 10_000
	if testing.Short() {
		cases = 1_000
	}
	m := tiny(t, tinymodel.Spec{Seed: 7, Context: 48})
	r := rand.New(rand.NewPCG(1, 2))
	reasons := map[sample.Reason]int{}
	for done := 0; done < cases; {
		prefix := m.NewSeq()
		if n := r.IntN(20); n > 0 {
			if _, err := m.Forward(t.Context(), []model.Input{{Seq: prefix, Tokens: randomTokens(r, n, m.Config().Vocab)}}); err != nil {
				t.Fatal(err)
			}
		}
		prompt, o := randomTokens(r, r.IntN(27)+1, m.Config().Vocab), randomOptions(r)
		n := r.IntN(Max) + 1
		together, stats, err := Generate(t.Context(), prefix.Fork(), prompt, n, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(together) > n || stats.Rows < stats.Passes-1 {
			t.Fatalf("%d streams of %d, %+v", len(together), n, stats)
		}
		for i, s := range together {
			if s.Index != i {
				t.Fatalf("stream %d has the index %d", i, s.Index)
			}
			alone, _, err := Alone(t.Context(), prefix.Fork(), prompt, i, o)
			if err != nil {
				t.Fatal(err)
			}
			if alone == nil || alone.Text != s.Text || !slices.Equal(alone.Tokens, s.Tokens) || alone.Reason != s.Reason || alone.LogProb != s.LogProb || alone.Counted != s.Counted {
				t.Fatalf("%+v: stream %d of %d is %+v, alone %+v", o, i, n, s, alone)
			}
			reasons[s.Reason]++
			done++
		}
		if beyond, _, err := Alone(t.Context(), prefix.Fork(), prompt, len(together), o); len(together) < n && (beyond != nil || err != nil) {
			t.Fatalf("stream %d is %+v (%v), and there are only %d", len(together), beyond, err, len(together))
		}
	}
	for _, want := range []sample.Reason{sample.TooLong, sample.Stopped, sample.EndOfText, sample.ContextFull} {
		if reasons[want] == 0 && !(testing.Short() && want == sample.ContextFull) { // one in thousands
			t.Errorf("no stream ended because %s: %v", want, reasons)
		}
	}
}

// A stream is its first token and then a plain generation after it.
func TestStreamIsGeneration(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Seed: 5})
	r := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		prompt, o := randomTokens(r, 9, m.Config().Vocab), randomOptions(r)
		o.Stop, o.Tokens = nil, 6
		list, _, err := Generate(t.Context(), m.NewSeq(), prompt, 4, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			p := o.Params
			p.Seed += uint64(s.Index)
			tokens := []tandem.Token{s.Tokens[0]}
			if _, err := sample.Generate(t.Context(), m, append(slices.Clone(prompt), s.Tokens[0]), p, 5, func(t tandem.Token) error { tokens = append(tokens, t); return nil }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(tokens, s.Tokens) {
				t.Errorf("%+v: stream %d is %d, want %d", o, s.Index, s.Tokens, tokens)
			}
		}
	}
}

// First tokens differ, and at temperature 0 the likeliest come first.
func TestFirstTokens(t *testing.T) {
	ends := func(t tandem.Token) bool { return t == 1 }
	logits := []float32{1, 9, 3, 2, -1}
	got, p := firstTokens(logits, 3, Options{}, ends)
	if !slices.Equal(got, []tandem.Token{2, 3, 0}) || !(p[0] > p[1] && p[1] > p[2]) || math.Abs(p[0]/p[1]-math.E) > 1e-6 {
		t.Errorf("the first tokens are %d with %v", got, p)
	}
	if got, _ := firstTokens(logits, 9, Options{Min: 0.3}, ends); !slices.Equal(got, []tandem.Token{2, 3}) {
		t.Errorf("with a least share the first tokens are %d", got)
	}
	// Drawn first with the model's probabilities among those that do not end the text, and never twice.
	counts := map[tandem.Token]int{}
	const draws = 20_000
	for seed := range uint64(draws) {
		got, _ := firstTokens(logits, 4, Options{Params: sample.Params{Sampling: tandem.Sampling{Temperature: 1}, Seed: seed}}, ends)
		counts[got[0]]++
		if slices.Sort(got); len(slices.Compact(got)) != 4 {
			t.Fatalf("seed %d draws %d", seed, got)
		}
	}
	sum := 0.0
	for i, l := range logits {
		if i != 1 {
			sum += math.Exp(float64(l))
		}
	}
	chi := 0.0
	for i, l := range logits {
		if i != 1 {
			want := draws * math.Exp(float64(l)) / sum
			chi += (float64(counts[tandem.Token(i)]) - want) * (float64(counts[tandem.Token(i)]) - want) / want
		}
	}
	if chi > 16.3 { // 3 degrees of freedom, one in a thousand
		t.Errorf("drawn %v: chi-square %.1f", counts, chi)
	}
}

// The log probability is that of the tokens by the model.
func TestLogProb(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Seed: 5})
	prompt := []tandem.Token{'a', 'b'}
	list, _, err := Generate(t.Context(), m.NewSeq(), prompt, 3, Options{Tokens: 5, Params: sample.Params{Sampling: tandem.Sampling{Temperature: 0.5, TopK: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		logits, err := m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: append(slices.Clone(prompt), s.Tokens...), All: true}})
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i, token := range s.Tokens {
			want += math.Log(sample.Params{Sampling: tandem.Sampling{Temperature: 1}}.Probabilities(nil, logits[len(prompt)-1+i], nil)[token])
		}
		if s.Counted == len(s.Tokens) && math.Abs(s.LogProb-want) > 1e-6 {
			t.Errorf("log probability %v, want %v", s.LogProb, want)
		}
	}
}

func TestBadStreams(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Seed: 5, Context: 16})
	prompt := []tandem.Token{'a'}
	for name, call := range map[string]func() error{
		"0 streams":  func() error { _, _, err := Generate(t.Context(), m.NewSeq(), prompt, 0, Options{}); return err },
		"17 streams": func() error { _, _, err := Generate(t.Context(), m.NewSeq(), prompt, 17, Options{}); return err },
		"stream -1":  func() error { _, _, err := Alone(t.Context(), m.NewSeq(), prompt, -1, Options{}); return err },
		"no tokens":  func() error { _, _, err := Generate(t.Context(), m.NewSeq(), nil, 1, Options{}); return err },
		"context of 16": func() error {
			_, _, err := Generate(t.Context(), m.NewSeq(), make([]tandem.Token, 17), 1, Options{})
			return err
		},
		"top-p": func() error {
			_, _, err := Generate(t.Context(), m.NewSeq(), prompt, 1, Options{Params: sample.Params{Sampling: tandem.Sampling{TopP: 2}}})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Generate(ctx, m.NewSeq(), prompt, 2, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRank(t *testing.T) {
	list := []Stream{
		{Index: 0, Text: "Yes, Friday works for me!", LogProb: -4, Counted: 4},
		{Index: 1, Text: "Yes, Friday works for me.", LogProb: -3, Counted: 4}, // the same words
		{Index: 2, Text: "Sorry, I can't.", LogProb: -6, Counted: 4},
		{Index: 3, Text: "Yes, works for me!", LogProb: -5, Counted: 4},
		{Index: 4, Text: "  ", LogProb: -1, Counted: 1},
		{Index: 5, Text: "👍", LogProb: -20, Counted: 2},
	}
	var got []int
	for _, s := range Rank(list) {
		got = append(got, s.Index)
	}
	if want := []int{1, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("ranked %v, want %v", got, want)
	}
	if a, b := Similarity("a b", "B, a!"), Similarity("b a", "a b"); a != b || a != 2.0/3 {
		t.Errorf("similarities %v and %v", a, b)
	}
}
