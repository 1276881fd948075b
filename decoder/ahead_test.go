package decoder

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/model"
	"tandem/specdec"
)

// NextAhead gives what Next gives after each answer, to the bit: with all weights, after rollbacks, and whatever else the pass
// decodes.
func TestNextAheadIsNext(t *testing.T) {
	m := openToy(t, 3, 512)
	taken, branches, forked, fed := 0, 0, 0, 0
	costs := profilerCosts(32)
	for _, weights := range allWeights {
		for _, penalty := range []float64{0, 1.3} {
			cfg := toyConfig(m, weights)
			cfg.Sampling.RepeatPenalty, cfg.Sampling.RepeatLast = penalty, 8
			req := Request{Question: bothQuestion, Passages: samplePassages[:3]}
			ahead, plain, other := newDecoder(t, cfg, req), newDecoder(t, cfg, req), newDecoder(t, cfg, req)
			rng := rand.New(rand.NewPCG(1, 2))
			var answer, said []tandem.Token
			check := func(what string, got tandem.Continuation, answer []tandem.Token) {
				t.Helper()
				n := 0
				for n < len(said) && n < len(answer) && said[n] == answer[n] {
					n++
				}
				want := next(t, other, n, answer[n:]...)
				said = append(said[:0], answer...)
				if !reflect.DeepEqual(got.Dist, want.Dist) || got.H != want.H {
					t.Fatalf("%s, %s after %v: h %v, want %v", weights, what, answer, got.H, want.H)
				}
			}
			for range 40 {
				keep := max(0, len(answer)-max(0, rng.IntN(8)-4))
				var app []tandem.Token
				for range 1 + rng.IntN(2) {
					if t := ahead.guesses.prompts; rng.IntN(2) == 0 { // runs of the prompt, for guesses
						at := rng.IntN(len(t) - 4)
						run := slices.DeleteFunc(slices.Clone(t[at:at+3]), func(t tandem.Token) bool { return t < 0 })
						app = append(app, append(run, t[1])...)
					} else {
						app = append(app, tandem.Token(rng.IntN(m.Config().Vocab)))
					}
				}
				also := someBranches(rng, len(app), m.Config().Vocab)
				var drafts []tandem.Token
				for range rng.IntN(3) {
					drafts = append(drafts, tandem.Token(rng.IntN(m.Config().Vocab)))
				}
				answer = append(answer[:keep:keep], app...)
				if len(answer) > 40 {
					answer, keep = app, 0
				}
				out, alternatives, chain, err := ahead.NextAhead(t.Context(), tandem.Pass{Keep: keep, Append: app, Branches: also, Drafts: drafts, Guess: rng.IntN(12), Costs: costs})
				if err != nil {
					t.Fatal(err)
				}
				if want := next(t, plain, keep, app...); !reflect.DeepEqual(out.Dist, want.Dist) || out.H != want.H {
					t.Fatalf("%s after %v: %v, want %v", weights, answer, out, want)
				}
				ways := [][]tandem.Token{nil}
				for i, f := range alternatives {
					if f.Token != also[i].Token || f.After != also[i].After {
						t.Fatalf("branch %d is %+v, want %+v", i, f, also[i])
					}
					before := ways[f.After]
					if f.After == 0 {
						before = answer[:len(answer)-also[i].Back]
					}
					ways = append(ways, append(slices.Clone(before), f.Token))
					check("branch", f, ways[i+1])
					forked += min(1, also[i].Back-1+f.After)
				}
				if len(chain) < min(len(drafts), 1) || len(chain) > 0 && len(drafts) > 0 && chain[0].Token != drafts[0] {
					t.Fatalf("%s after %v: drafts %v, decoded after them %v", weights, answer, drafts, chain)
				}
				texts := [][]tandem.Token{answer}
				for i, f := range chain {
					text := append(slices.Clone(texts[f.After]), f.Token)
					texts, branches = append(texts, text), branches+min(1, i-f.After)
					check("draft or guess", f, text)
				}
				if n := rng.IntN(len(texts)); n > 0 { // go on along it, as a pair does
					answer = texts[n]
					app = append(slices.Clone(answer[len(texts[0]):]), tandem.Token(rng.IntN(m.Config().Vocab)))
					out, _, _, err = ahead.NextAhead(t.Context(), tandem.Pass{Keep: len(texts[0]), Append: app, Drafts: []tandem.Token{3}})
					if err != nil {
						t.Fatal(err)
					}
					answer = append(answer, app[len(app)-1])
					check("after a guess", tandem.Continuation{Dist: out.Dist, H: out.H}, answer)
					if want := next(t, plain, len(texts[0]), app...); out.H != want.H {
						t.Fatal("another answer")
					}
					fed = max(fed, len(app)-out.Fed)
				}
				taken += len(alternatives) + len(chain)
			}
		}
	}
	if forked < 100 {
		t.Errorf("%d branches begin before the last token or continue another one", forked)
	}
	if branches < 20 || fed < 1 {
		t.Errorf("%d guesses branched, and at most %d tokens were not computed again", branches, fed)
	}
	if taken < 500 {
		t.Errorf("only %d further tokens were decoded", taken)
	}
}

// someBranches are branches of an answer whose last n tokens a pass appends.
func someBranches(rng *rand.Rand, n, vocab int) (out []tandem.Branch) {
	for i := range rng.IntN(3) {
		b := tandem.Branch{Token: tandem.Token(rng.IntN(vocab)), After: rng.IntN(i + 1)}
		if b.After == 0 {
			b.Back = 1 + rng.IntN(n)
		}
		out = append(out, b)
	}
	return out
}

// profilerCosts are passes where a row costs a hundredth.
func profilerCosts(n int) (costs []float64) {
	for i := range n {
		costs = append(costs, 1+float64(i)/100)
	}
	return costs
}

// Guesses are what followed the same tokens in a prompt, as many as their rows are worth, and guesses that keep being wrong
// end.
func TestGuess(t *testing.T) {
	m := openToy(t, 3, 512)
	d := newDecoder(t, toyConfig(m, allWeights[0]), Request{Question: bothQuestion, Passages: samplePassages[:1]})
	prompt := d.guesses.prompts
	at := len(prompt) / 2
	cheap, dear := tandem.Pass{Costs: profilerCosts(32)}, tandem.Pass{Costs: []float64{1, 2, 3, 4, 5, 6}}
	say := func(answer []tandem.Token) {
		if err := d.edit(0, answer); err != nil {
			t.Fatal(err)
		}
		d.guesses.learn(d.answer, nil)
	}
	guess := func(text []tandem.Token, n int, p tandem.Pass) (path []tandem.Token) {
		tokens, parents := d.guesses.guess(text, n, 1, 32, p)
		for i, up := range parents {
			if up == len(path)-1 && tokens[i] == prompt[at+len(path)] {
				path = append(path, tokens[i])
			}
		}
		return path
	}
	text := prompt[at-5 : at]
	say(text)
	if got := guess(text, 8, cheap); len(got) < 3 || !slices.Equal(got, prompt[at:at+len(got)]) {
		t.Fatalf("after %v: guesses %v, want %v", text, got, prompt[at:at+3])
	}
	if got := guess(text, 8, dear); len(got) != 0 {
		t.Errorf("%v is guessed though a row costs a pass", got)
	}
	if got := guess(text, 0, cheap); got != nil {
		t.Errorf("%v is guessed though none was asked for", got)
	}
	for range 100 {
		say(text)
		guess(text, 8, cheap)
		say(append(slices.Clone(text), prompt[at]+1))
	}
	say(text)
	if got := guess(text, 8, tandem.Pass{}); len(got) > 0 {
		t.Errorf("%v is still guessed after it was wrong 100 times", got)
	}
}

// Whatever the drafters, guesses or none, each distribution is Next's. Forecasts, here of random embeddings, give guesses.
func TestDraftersChangeNothing(t *testing.T) {
	m := openToy(t, 3, 512)
	req := Request{Question: bothQuestion, Passages: samplePassages[:3]}
	past := specdec.NewHistory(1 << 16)
	for _, set := range []specdec.Set{
		specdec.Off, specdec.All, specdec.WithLookup, specdec.WithSAM, specdec.WithReuse | specdec.WithNgrams, specdec.WithRecycle, specdec.WithForecast, specdec.WithSAM | specdec.WithHistory,
		specdec.All | specdec.WithHistory | specdec.WithForecast,
	} {
		cfg := toyConfig(m, allWeights[0])
		cfg.Draft, cfg.Resources = set, specdec.Resources{History: past, Embeddings: embeddings(m, 3)}
		foreseen, guessed := 0, 0
		ahead, plain := newDecoder(t, cfg, req), newDecoder(t, toyConfig(m, allWeights[0]), req)
		next(t, ahead, 0)
		next(t, plain, 0)
		rng := rand.New(rand.NewPCG(3, 4))
		for n := 0; n < 30; n++ {
			token := tandem.Token(rng.IntN(m.Config().Vocab))
			if p := samplePrompt(plain); n%4 > 0 {
				token = p[n%len(p)]
			}
			got, _, chain, err := ahead.NextAhead(t.Context(), tandem.Pass{Keep: n, Append: []tandem.Token{token}, Guess: 8, Costs: profilerCosts(32)})
			if err != nil {
				t.Fatal(err)
			}
			if want := next(t, plain, n, token); !reflect.DeepEqual(got.Dist, want.Dist) || got.H != want.H {
				t.Fatalf("drafters %b, step %d: another distribution", set, n)
			}
			foreseen, guessed = foreseen+got.Forecasts, guessed+len(chain)
		}
		if drafts := guessed > 0; drafts == set.None() {
			t.Errorf("drafters %b: %d guesses", set, guessed)
		}
		if (foreseen > 0) != set.Has(specdec.WithForecast) {
			t.Errorf("drafters %b: %d rows of forecasts", set, foreseen)
		}
		if err := past.Add("answer", ahead.answer, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
}

// embeddings returns n rows for forecasts.
func embeddings(m *model.Model, n int) (rows [][]float32) {
	r := rand.New(rand.NewPCG(5, 6))
	for range n {
		row := make([]float32, m.Config().Dim)
		for i := range row {
			row[i] = float32(r.NormFloat64())
		}
		rows = append(rows, row)
	}
	return rows
}

// samplePrompt returns a prompt's tokens without separators.
func samplePrompt(d *Decoder) []tandem.Token {
	return slices.DeleteFunc(slices.Clone(d.guesses.prompts), func(t tandem.Token) bool { return t < 0 })
}

// After a rollback without new tokens, the last token is decoded once more, and what came before it is not known.
func TestNextAheadAfterRollback(t *testing.T) {
	m := openToy(t, 3, 512)
	for _, weights := range allWeights {
		cfg := toyConfig(m, weights)
		req := Request{Question: bothQuestion, Passages: samplePassages[:3]}
		ahead, plain := newDecoder(t, cfg, req), newDecoder(t, cfg, req)
		next(t, ahead, 0, 5, 6, 7, 8)
		for keep := 3; keep >= 0; keep-- {
			pass := tandem.Pass{Keep: keep, Branches: []tandem.Branch{{Token: 9, Back: 1}, {Token: 10, Back: 1}}, Drafts: []tandem.Token{11}}
			out, also, _, err := ahead.NextAhead(t.Context(), pass)
			if err != nil {
				t.Fatal(err)
			}
			answer := []tandem.Token{5, 6, 7}[:keep]
			if want := next(t, plain, 0, answer...); !reflect.DeepEqual(out.Dist, want.Dist) || out.H != want.H {
				t.Errorf("%s after %v: %v, want %v", weights, answer, out, want)
			}
			for _, f := range also {
				want := next(t, plain, 0, append(answer[:keep-1:keep-1], f.Token)...)
				if !reflect.DeepEqual(f.Dist, want.Dist) || f.H != want.H {
					t.Errorf("%s, %d instead of the last of %v: %v, want %v", weights, f.Token, answer, f, want)
				}
			}
		}
	}
}
