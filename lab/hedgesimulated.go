package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/netem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// HedgeSimulated plays the same in virtual time: two machines in mirror with random distributions (pairtest.Sharing). A pass
// takes the same time whatever it decodes.
type HedgeSimulated struct {
	RTT      []time.Duration
	Contexts []int // numbers of contexts; the others are compared with the first
	Guess    []float64
	Decode   [2]time.Duration
	Share    float64 // of probability that the two sides' distributions have in common
	Tokens   int
	Answers  int
}

// Run plays every combination, except guesses in passes of one context. It fails if a text differs from the first.
func (h HedgeSimulated) Run(ctx context.Context, progress report.Progress) (results []HedgeResult, err error) {
	total := len(h.RTT) * len(h.Guess) * len(h.Contexts)
	for i, rtt := range h.RTT {
		texts := make([][]tandem.Token, h.Answers)
		for j, guess := range h.Guess {
			for k, contexts := range h.Contexts {
				if progress != nil {
					progress((i*len(h.Guess)+j)*len(h.Contexts)+k, total)
				}
				if guess > 0 && contexts < 2 {
					continue
				}
				result, err := h.result(ctx, rtt, contexts, guess, texts)
				if err != nil {
					return nil, err
				}
				result.Ratio = 1
				if n := len(results); n > 0 && results[n-1].RTT == result.RTT {
					result.Ratio = results[n-1].TokenMs * results[n-1].Ratio / result.TokenMs
				}
				results = append(results, result)
			}
		}
	}
	return results, nil
}

// result plays every answer once. The first call fills texts with the answers, later ones compare with them.
func (h HedgeSimulated) result(ctx context.Context, rtt time.Duration, contexts int, guess float64, texts [][]tandem.Token) (HedgeResult, error) {
	r := HedgeResult{RTT: rtt.Seconds() * 1e3, Contexts: contexts, Guess: guess, Answers: h.Answers, Simulated: true}
	link, stats := netem.Config{Delay: rtt / 2}, []pair.Stats(nil)
	for i := range texts {
		seed := uint64(i)
		o, err := sim.Run(ctx, sim.Setting{
			Pair:   pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: h.Tokens, Lookahead: tandem.MaxLookahead, PassPlaces: contexts}},
			Source: pairtest.Sharing(seed, h.Share), Decode: [2]sim.Delay{sim.Every(h.Decode[0]), sim.Every(h.Decode[1])},
			Link: [2]netem.Config{link, link}, Warm: true, Guess: guess,
		})
		if err != nil {
			return r, err
		}
		if texts[i] == nil {
			texts[i] = o.IDs()
		}
		if !slices.Equal(texts[i], o.IDs()) {
			return r, fmt.Errorf("answer %d with %d contexts, RTT %v: another text", i, contexts, rtt)
		}
		r.Tokens, r.Hedges = r.Tokens+len(o.Tokens), r.Hedges+o.Pair[tandem.Device].Hedges
		r.TokenMs += o.Took.Seconds() * 1e3 / float64(h.Tokens*h.Answers)
		stats = append(stats, o.Pair[tandem.Device])
	}
	r.Shares = sharesOf(stats)
	return r, nil
}
