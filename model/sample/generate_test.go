package sample

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
	"tandem/model/grammar"
	"tandem/model/tokenizer"
	"tandem/model/vocabulary"
	"tandem/npu"
	"tandem/npu/native"
)

func tiny(t testing.TB, spec tinymodel.Spec) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(spec), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestGenerateIsForwardAndSample(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Seed: 5})
	prompt := m.Tokenizer().Encode("the key", tokenizer.Options{AddSpecial: true})
	for _, s := range []Params{{}, {Sampling: tandem.Sampling{Temperature: 1}, Seed: 3}, {Sampling: tandem.Sampling{Temperature: .8, TopP: .9, RepeatPenalty: 1.3}, Seed: 4}} {
		var got []tandem.Token
		stats, err := Generate(t.Context(), m, prompt, s, 12, func(id tandem.Token) error { got = append(got, id); return nil })
		if err != nil {
			t.Fatal(err)
		}
		sampler, _ := New(s, prompt)
		var want []tandem.Token
		reason := TooLong
		for len(want) < 12 { // computing the whole sequence again for each token
			logits, err := m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: append(slices.Clone(prompt), want...)}})
			if err != nil {
				t.Fatal(err)
			}
			id := sampler.Next(logits[0])
			if m.Tokenizer().EOG(id) {
				reason = EndOfText
				break
			}
			want = append(want, id)
		}
		if !slices.Equal(got, want) || stats.Reason != reason {
			t.Errorf("%+v generates %d (%s), want %d (%s)", s, got, stats.Reason, want, reason)
		}
		if stats.Tokens != len(got) || stats.PromptTokens != len(prompt) || stats.First <= 0 || stats.PrefillRate() <= 0 {
			t.Errorf("statistics are %+v", stats)
		}
	}
}

func TestGenerateEnds(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Seed: 5, Context: 16})
	prompt := []tandem.Token{'a', 'b', 'c'}
	seen := 0
	count := func(tandem.Token) error { seen++; return nil }

	stats, err := Generate(t.Context(), m, prompt, Params{Sampling: tandem.Sampling{Temperature: 1}, Seed: 1}, 0, count)
	if err != nil || stats.Reason != ContextFull && stats.Reason != EndOfText || stats.Reason == ContextFull && seen != 16-3+1 {
		t.Errorf("without limit: %v, %+v, %d tokens", err, stats, seen)
	}
	stats, err = Generate(t.Context(), m, prompt, Params{}, 5, func(tandem.Token) error { return ErrStop })
	if err != nil || stats.Reason != Stopped || stats.Tokens != 1 {
		t.Errorf("stopped: %v, %+v", err, stats)
	}
	broken := errors.New("the pipe is closed")
	if _, err = Generate(t.Context(), m, prompt, Params{}, 5, func(tandem.Token) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("emit's error became %v", err)
	}
	if _, err = Generate(t.Context(), m, nil, Params{}, 5, count); err == nil {
		t.Error("an empty prompt was accepted")
	}
	if _, err = Generate(t.Context(), m, make([]tandem.Token, 17), Params{}, 5, count); err == nil || !strings.Contains(err.Error(), "context of 16") {
		t.Errorf("too long a prompt: %v", err)
	}
	if _, err = Generate(t.Context(), m, prompt, Params{Sampling: tandem.Sampling{TopP: 2}}, 5, count); err == nil || !strings.Contains(err.Error(), "top-p") {
		t.Errorf("bad sampling: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err = Generate(ctx, m, prompt, Params{}, 10, func(tandem.Token) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("cancelled: %v after %d tokens", err, n)
	}
}

// A guesser drafts random trees with some correct nodes.
type guesser struct {
	r     *rand.Rand
	truth []tandem.Token // the prompt and its continuation by plain decoding
	at    int            // how many tokens it knows
	nodes int
	hits  int
}

func (g *guesser) Begin(_ *model.Model, prompt *model.Input) error {
	g.at = len(prompt.Tokens)
	return nil
}

func (g *guesser) Draft(emitted []tandem.Token, limit int) (tokens []tandem.Token, parents []int) {
	g.at += len(emitted)
	depth := []int{}
	for range min(limit, g.r.IntN(g.nodes+1)) {
		parent, d := g.r.IntN(len(tokens)+1)-1, 0
		if parent >= 0 {
			d = depth[parent] + 1
		}
		t := tandem.Token(g.r.IntN(250))
		if i := g.at + d; i < len(g.truth) && g.r.IntN(4) > 0 {
			t = g.truth[i]
		}
		tokens, parents, depth = append(tokens, t), append(parents, parent), append(depth, d)
	}
	return tokens, parents
}

func (g *guesser) Settle(v Verification) { g.hits += len(v.Path) }

// someGrammar allows few texts.
var someGrammar = func() *grammar.Grammar {
	g, err := grammar.Parse(`root ::= ("yes" | "no" [^a-y]{2,6} | [é-ü] root) "."?`)
	if err != nil {
		panic(err)
	}
	return g
}()

// A text that ends by itself is one that the grammar derives, and another is the beginning of one. Where the grammar leaves a
// choice, the tokens that it allows keep their odds.
func TestGrammar(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Seed: 5})
	tok := m.Tokenizer()
	matcher := grammar.NewMatcher(someGrammar, vocabulary.Of(tok))
	ended := 0
	for seed := range uint64(200) {
		var text []byte
		stats, err := Generate(t.Context(), m, []tandem.Token{'a'}, Params{Sampling: tandem.Sampling{Temperature: 1}, Seed: seed, Grammar: someGrammar}, 12, func(id tandem.Token) error {
			text = append(text, tok.Piece(id)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		at := matcher.Next(matcher.Start(), text)
		if at.Lost() || stats.Reason == EndOfText && !at.MayEnd() {
			t.Fatalf("seed %d: %q (%s), %v", seed, text, stats.Reason, err)
		}
		if stats.Reason == EndOfText {
			ended++
		}
	}
	if ended < 50 {
		t.Errorf("only %d texts ended", ended)
	}
	choice, err := grammar.Parse(`root ::= "a" | "b" | "z"`)
	if err != nil {
		t.Fatal(err)
	}
	logits, err := m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{'a'}}})
	if err != nil {
		t.Fatal(err)
	}
	var odds [3]float64
	for i, c := range "abz" {
		odds[i] = math.Exp(float64(logits[0][tok.Encode(string(c), tokenizer.Options{})[0]]))
	}
	var counts [3]float64
	const draws = 3000
	for seed := range uint64(draws) {
		_, err := Generate(t.Context(), m, []tandem.Token{'a'}, Params{Sampling: tandem.Sampling{Temperature: 1}, Seed: seed, Grammar: choice}, 1, func(id tandem.Token) error {
			counts[strings.Index("abz", string(tok.Piece(id)))]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	chi := 0.0
	for i, n := range counts {
		want := draws * odds[i] / (odds[0] + odds[1] + odds[2])
		chi += (n - want) * (n - want) / want
	}
	if chi > 20 { // once in 20,000 with two degrees of freedom
		t.Errorf("%v for odds of %v: χ² is %.1f", counts, odds, chi)
	}
}

// Whatever is drafted, the tokens and the reason for the end equal those of plain decoding with the same seed, in 10,000
// random cases of prompts, parameters, lengths and trees.
func TestDraftsChangeNothing(t *testing.T) {
	hits, passes, tokens := 0, 0, 0
	for file := range 4 {
		m := tiny(t, tinymodel.Spec{Seed: uint64(file), Type: []npu.DType{npu.F32, npu.Q8_0}[file%2], Layers: 1, Dim: 32, Heads: 2, FF: 32, Context: 40, Gain: 3})
		for i := range 2500 {
			r := rand.New(rand.NewPCG(uint64(file), uint64(i)))
			prompt := make([]tandem.Token, 1+r.IntN(6))
			for j := range prompt {
				prompt[j] = tandem.Token(r.IntN(250))
			}
			s := Params{Seed: r.Uint64()}
			if r.IntN(3) > 0 {
				s.Temperature, s.TopP, s.TopK, s.RepeatPenalty = r.Float64()*1.5, 1-r.Float64()*.5, r.IntN(20), 1+r.Float64()*.3
			}
			if r.IntN(12) == 0 {
				s.Grammar = someGrammar
			}
			limit := r.IntN(12)
			collect := func(spec Speculator) (Stats, []tandem.Token) {
				var out []tandem.Token
				stats, err := GenerateWith(t.Context(), m, prompt, s, limit, spec, func(id tandem.Token) error { out = append(out, id); return nil })
				if err != nil {
					t.Fatal(err)
				}
				return stats, out
			}
			plain, want := collect(nil)
			g := &guesser{r: r, truth: append(slices.Clone(prompt), want...), nodes: r.IntN(20)}
			stats, got := collect(g)
			if !slices.Equal(got, want) || stats.Reason != plain.Reason || stats.Tokens != plain.Tokens {
				t.Fatalf("model %d case %d: %d (%s), want %d (%s)", file, i, got, stats.Reason, want, plain.Reason)
			}
			hits, passes, tokens = hits+g.hits, passes+stats.Passes, tokens+stats.Tokens
		}
	}
	if hits < tokens/4 || passes+hits < tokens {
		t.Errorf("%d tokens in %d passes, %d drafts were right", tokens, passes, hits)
	}
}

// A long prompt of a model with windows is read in pieces, which change neither the text nor what a Speculator learns of the
// prompt.
func TestLongPromptsAreReadInPieces(t *testing.T) {
	m := tiny(t, tinymodel.Spec{Arch: "gemma3", Window: 16, Context: 3000, Dim: 32, Heads: 2, FF: 32, Gain: 3})
	prompt := make([]tandem.Token, 2*piece+100)
	for i := range prompt {
		prompt[i] = tandem.Token(i * 37 % 250)
	}
	generate := func(spec Speculator) (out []tandem.Token, s *model.Seq) {
		s = m.NewSeq()
		if _, err := Continue(t.Context(), s, prompt, Params{}, 12, spec, func(id tandem.Token) error { out = append(out, id); return nil }); err != nil {
			t.Fatal(err)
		}
		return out, s
	}
	want, whole := []tandem.Token(nil), m.NewSeq()
	for in := prompt; len(want) < 12; {
		logits, err := m.Forward(t.Context(), []model.Input{{Seq: whole, Tokens: in}})
		if err != nil {
			t.Fatal(err)
		}
		best := 0
		for i, l := range logits[0] {
			if l > logits[0][best] {
				best = i
			}
		}
		want = append(want, tandem.Token(best))
		in = want[len(want)-1:]
	}
	listener := &listener{}
	for _, spec := range []Speculator{nil, listener} {
		got, s := generate(spec)
		if !slices.Equal(got, want) {
			t.Errorf("%d, want %d", got, want)
		}
		if s.Bytes() > whole.Bytes()/2 {
			t.Errorf("%d bytes are left of %d", s.Bytes(), whole.Bytes())
		}
	}
	for i, at := range listener.heard {
		if at != i {
			t.Fatalf("scores after token %d came as those after %d", i, at)
		}
	}
	if len(listener.heard) != len(prompt) {
		t.Errorf("scores of %d tokens of %d", len(listener.heard), len(prompt))
	}
}

// listener asks for scores along the prompt and drafts nothing.
type listener struct{ heard []int }

func (l *listener) Begin(m *model.Model, prompt *model.Input) (err error) {
	prompt.OnScores = func(i int, _ []float32) { l.heard = append(l.heard, i) }
	prompt.Head, err = m.PartialHead([]tandem.Token{1, 2, 3})
	return err
}

func (l *listener) Draft([]tandem.Token, int) ([]tandem.Token, []int) { return nil, nil }

func (l *listener) Settle(Verification) {}
