package decoder

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tandem"
)

// NextAhead gives what Next gives after each answer, to the bit: with all weights, after rollbacks, and whatever else the pass
// decodes.
func TestNextAheadIsNext(t *testing.T) {
	m := openToy(t, 3, 512)
	taken := 0
	for _, weights := range allWeights {
		for _, penalty := range []float64{0, 1.3} {
			cfg := toyConfig(m, weights)
			cfg.Sampling.RepeatPenalty, cfg.Sampling.RepeatLast = penalty, 8
			req := Request{Question: bothQuestion, Passages: samplePassages[:3]}
			ahead, plain, other := newDecoder(t, cfg, req), newDecoder(t, cfg, req), newDecoder(t, cfg, req)
			rng := rand.New(rand.NewPCG(1, 2))
			var answer, said []tandem.Token
			check := func(what string, got tandem.Further, answer []tandem.Token) {
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
					if t := ahead.texts[0]; rng.IntN(2) == 0 { // runs of the prompt, for guesses
						at := rng.IntN(len(t) - 4)
						app = append(app, t[at:at+3]...)
					} else {
						app = append(app, tandem.Token(rng.IntN(m.Config().Vocab)))
					}
				}
				var also []tandem.Token
				for range rng.IntN(3) {
					also = append(also, tandem.Token(rng.IntN(m.Config().Vocab)))
				}
				var drafts []tandem.Token
				for range rng.IntN(3) {
					drafts = append(drafts, tandem.Token(rng.IntN(m.Config().Vocab)))
				}
				answer = append(answer[:keep:keep], app...)
				if len(answer) > 40 {
					answer, keep = app, 0
				}
				out, alternatives, chain, err := ahead.NextAhead(t.Context(), tandem.Pass{Keep: keep, Append: app, Also: also, Drafts: drafts, Guess: rng.IntN(4)})
				if err != nil {
					t.Fatal(err)
				}
				if want := next(t, plain, keep, app...); !reflect.DeepEqual(out.Dist, want.Dist) || out.H != want.H {
					t.Fatalf("%s after %v: %v, want %v", weights, answer, out, want)
				}
				for _, f := range alternatives {
					check("alternative", f, append(answer[:len(answer)-1:len(answer)-1], f.Token))
				}
				if len(chain) < min(len(drafts), 1) || len(chain) > 0 && len(drafts) > 0 && chain[0].Token != drafts[0] {
					t.Fatalf("%s after %v: drafts %v, decoded after them %v", weights, answer, drafts, chain)
				}
				text := answer
				for _, f := range chain {
					text = append(text[:len(text):len(text)], f.Token)
					check("draft or guess", f, text)
				}
				taken += len(alternatives) + len(chain)
			}
		}
	}
	if taken < 500 {
		t.Errorf("only %d further tokens were decoded", taken)
	}
}

// Guesses are what followed the same tokens in a prompt. A longer match gives more of them, and guesses that keep being wrong
// end.
func TestGuess(t *testing.T) {
	m := openToy(t, 3, 512)
	d := newDecoder(t, toyConfig(m, allWeights[0]), Request{Question: bothQuestion, Passages: samplePassages[:1]})
	prompt := d.texts[0]
	at := len(prompt) / 2
	say := func(answer []tandem.Token) {
		if err := d.edit(0, answer); err != nil {
			t.Fatal(err)
		}
		d.learn()
	}
	say(prompt[at-5 : at])
	if got := d.guess(nil, 3); !slices.Equal(got, prompt[at:at+3]) {
		t.Fatalf("after %v: guesses %v, want %v", prompt[at-5:at], got, prompt[at:at+3])
	}
	if got := d.guess(prompt[at:at+2], 1); !slices.Equal(got, prompt[at+2:at+3]) {
		t.Errorf("after two drafts: guesses %v, want %v", got, prompt[at+2:at+3])
	}
	if got := d.guess(nil, 0); got != nil {
		t.Errorf("%v is guessed though none was asked for", got)
	}
	for range 100 {
		say(prompt[at-5 : at])
		d.guess(nil, 3)
		say(append(slices.Clone(prompt[at-5:at]), prompt[at]+1))
	}
	say(prompt[at-5 : at])
	if got := d.guess(nil, 3); len(got) > 0 {
		t.Errorf("%v is still guessed after it was wrong 100 times", got)
	}
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
			pass := tandem.Pass{Keep: keep, Also: []tandem.Token{9, 10}, Drafts: []tandem.Token{11}}
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
