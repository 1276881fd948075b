package sim

import (
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/pair"
)

// hedged is the mean time of answers of 60 tokens, and the contexts that a side decoded for each.
func hedged(t *testing.T, rtt time.Duration, rows int, guess float64) (seconds, contexts float64) {
	const runs = 4
	for seed := range uint64(runs) {
		play := func(rows int, guess float64) Hedged {
			o, err := Hedging{Source: Sharing(seed, 0.8), Seed: seed, Tokens: 60, Decode: [2]time.Duration{30 * time.Millisecond, 30 * time.Millisecond},
				RTT: rtt, Rows: rows, Guess: guess}.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		o := play(rows, guess)
		if plain := play(1, 0); !slices.Equal(o.Answer, plain.Answer) {
			t.Fatalf("with %d rows another text", rows)
		}
		seconds += o.Took.Seconds() / runs
		contexts += float64(o.Decoded[0]) / 60 / runs
	}
	return seconds, contexts
}

// With one row it is the machine's own mirror: the same text, in nearly the same time.
func TestOneRowIsMirror(t *testing.T) {
	var here, machine time.Duration
	for seed := range uint64(4) {
		h := Hedging{Source: Sharing(seed, 0.8), Seed: seed, Tokens: 60, Decode: [2]time.Duration{30 * time.Millisecond, 30 * time.Millisecond}, RTT: 300 * time.Millisecond, Rows: 1, Lookahead: 64}
		o, err := h.Play(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link := netem.Config{Delay: 150 * time.Millisecond}
		m, err := Run(t.Context(), Setting{Pair: pair.Config{Placement: tandem.PlaceMirror, Seed: seed, MaxTokens: 60, Lookahead: 64}, Source: h.Source,
			Decode: [2]Delay{Every(h.Decode[0]), Every(h.Decode[1])}, Link: [2]netem.Config{link, link}, Warm: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(o.Answer, m.IDs()) {
			t.Fatalf("seed %d: another text", seed)
		}
		here, machine = here+o.Took, machine+m.Took
	}
	t.Logf("60 tokens: %v, the machine %v", here/4, machine/4)
	if d := here - machine; d.Abs() > machine/10 {
		t.Errorf("%v, the machine %v", here/4, machine/4)
	}
}

// What further rows of a pass save: the text is the same, and it comes sooner.
func TestHedgesSaveTime(t *testing.T) {
	for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
		before := 0.0
		for _, rows := range []int{1, 2, 4} {
			s, contexts := hedged(t, rtt, rows, 0)
			t.Logf("RTT %v, %d rows: %.2f s, %.1f contexts a token", rtt, rows, s, contexts)
			if before > 0 && s > before*1.02 {
				t.Errorf("RTT %v: %d rows take %.2f s, fewer %.2f", rtt, rows, s, before)
			}
			before = s
		}
		for _, rows := range []int{4, 8} {
			s, contexts := hedged(t, rtt, rows, 0.7)
			t.Logf("RTT %v, %d rows, a drafter right in 70 %%: %.2f s, %.1f contexts a token", rtt, rows, s, contexts)
			if s > before*1.02 && rows >= 8 {
				t.Errorf("RTT %v: with guesses %.2f s, without %.2f", rtt, s, before)
			}
		}
	}
}
