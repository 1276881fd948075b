package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/pair"
	"tandem/specdec"
)

// Drafting asks questions live with different drafters on both sides, in turns: each question by all variants before the next.
type Drafting struct {
	Setup
	RTT      time.Duration
	Decode   [2]time.Duration // least time of a pass, whatever its rows
	Variants []Drafters
}

// Drafters are what a variant guesses with, and the most rows of a pass.
type Drafters struct {
	Name string
	Set  specdec.Set
	Rows int // 0 for tandem.MaxRows; at most tandem.MaxAhead: chains of as many as the pair itself chooses
}

// DraftingResult is what a variant gives, compared with the first.
type DraftingResult struct {
	Drafters string     `json:"drafters"`
	Rows     int        `json:"rows"`
	RTT      float64    `json:"rtt_ms"`
	Decode   [2]float64 `json:"decode_ms"` // least time of a pass on device and cloud
	Answers  int        `json:"answers"`
	Tokens   int        `json:"tokens"`
	TokenMs  float64    `json:"token_ms"` // from the first token of an answer to its last
	Ratio    float64    `json:"ratio"`    // the first variant's time divided by this one's
	Worst    float64    `json:"worst"`    // the same for the question with the least
	Question string     `json:"worst_question"`
	Shares   Shares     `json:"shares"`
}

// Run asks every question of at least three tokens by every variant. It fails if a text differs from the first.
func (x Drafting) Run(ctx context.Context, progress Progress) (results []DraftingResult, err error) {
	sides := make([]*live, len(x.Variants))
	defer func() {
		for _, l := range sides {
			if l != nil {
				l.close()
			}
		}
	}()
	for i, v := range x.Variants {
		link := netem.Config{Delay: x.RTT / 2}
		b := x.Setup
		b.Draft, b.Rows = v.Set, v.Rows
		if sides[i], err = b.connect(Path{Link: [2]netem.Config{link, link}}, x.Decode); err != nil {
			return nil, err
		}
		if _, err := sides[i].ask(ctx, 0, Strategy{Label: "warming up", Place: tandem.PlaceMirror}, x.Settings.Lookahead); err != nil {
			return nil, err
		}
		results = append(results, DraftingResult{Drafters: v.Name, Rows: cmp.Or(v.Rows, tandem.MaxRows), RTT: x.RTT.Seconds() * 1e3,
			Decode: [2]float64{x.Decode[0].Seconds() * 1e3, x.Decode[1].Seconds() * 1e3}})
	}
	stats, took, gaps := make([][]pair.Stats, len(sides)), make([]time.Duration, len(sides)), make([]int, len(sides))
	for q := range x.Questions {
		text, first := "", time.Duration(0)
		order := make([]int, len(sides))
		for i := range order {
			order[i] = (i + q) % len(sides) // each begins as often
		}
		spans := make([]time.Duration, len(sides))
		for _, i := range order {
			a, err := sides[i].ask(ctx, q, Strategy{Label: x.Variants[i].Name, Place: tandem.PlaceMirror}, x.Settings.Lookahead)
			if err != nil {
				return nil, err
			}
			if text == "" {
				text = a.Text
			}
			if a.Text != text || a.Pair.Together == 0 {
				return nil, fmt.Errorf("question %q, %s: %q, %d tokens with the cloud; others say %q", x.Questions[q], x.Variants[i].Name, a.Text, a.Pair.Together, text)
			}
			n := len(a.Tokens)
			results[i].Answers, results[i].Tokens = results[i].Answers+1, results[i].Tokens+n
			stats[i] = append(stats[i], a.Pair)
			if n > 1 {
				spans[i] = a.Tokens[n-1].At - a.Tokens[0].At
				took[i], gaps[i] = took[i]+spans[i], gaps[i]+n-1
			}
		}
		first = spans[0]
		for i := range results {
			if ratio := first.Seconds() / spans[i].Seconds(); spans[i] > 0 && first > 0 && (results[i].Question == "" || ratio < results[i].Worst) {
				results[i].Worst, results[i].Question = ratio, x.Questions[q]
			}
		}
		if progress != nil {
			progress(q+1, len(x.Questions))
		}
	}
	for i := range results {
		r := &results[i]
		r.TokenMs = took[i].Seconds() * 1e3 / float64(max(1, gaps[i]))
		r.Ratio, r.Shares = results[0].TokenMs/r.TokenMs, sharesOf(stats[i])
	}
	return slices.Clip(results), nil
}
