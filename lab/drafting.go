package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/netem"
	"tandem/node"
	"tandem/pair"
	"tandem/specdec"
)

// Drafting asks questions live with different drafters on both sides, in turns: each question by all variants before the next.
type Drafting struct {
	Setup
	RTT      time.Duration
	Of       string           // the model that answers, for the results
	Decode   [2]time.Duration // least time of a pass, for any number of rows
	Variants []Drafters
	Rounds   int // how often each variant answers a question in turns, at least 1; a question counts with its median time
}

// Drafters are what a variant guesses with, and the most rows of a pass.
type Drafters struct {
	Name string
	Set  specdec.Set
	Rows int // 0 for tandem.MaxRows; at most tandem.MaxPassPlaces: chains of as many as the pair itself chooses
}

// DraftingResult is what a variant gives, compared with the first.
type DraftingResult struct {
	Model    string     `json:"acceptance_of"` // the model that answers
	CostsOf  string     `json:"costs_of"`      // whose passes take the time: paced ones, or the model's own
	Drafters string     `json:"drafters"`
	Rows     int        `json:"rows"`
	RTT      float64    `json:"rtt_ms"`
	Decode   [2]float64 `json:"decode_ms"` // least time of a pass on device and cloud
	Answers  int        `json:"answers"`
	Tokens   int        `json:"tokens"`
	TokenMs  float64    `json:"token_ms"` // from the first token of an answer to its last
	Ratio    float64    `json:"ratio"`    // the first variant's time divided by this one's
	Worst    float64    `json:"worst"`    // the same for the question with the least
	Slowest  float64    `json:"slowest"`  // the least of single rounds, each compared with the first variant's in the same round
	Rounds   int        `json:"rounds"`
	Question string     `json:"worst_question"`
	Shares   Shares     `json:"shares"`
}

// Run asks every question of at least three tokens by every variant. It fails if a text differs from the first.
func (x Drafting) Run(ctx context.Context, progress report.Progress) (results []DraftingResult, err error) {
	var pairs []*testbed
	defer func() {
		for _, l := range pairs {
			l.close()
		}
	}()
	for _, v := range x.Variants {
		l, err := x.start(ctx, v)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, l)
		results = append(results, DraftingResult{Model: x.Of, CostsOf: x.costsOf(), Drafters: v.Name, Rows: cmp.Or(v.Rows, tandem.MaxRows), RTT: x.RTT.Seconds() * 1e3, Rounds: max(1, x.Rounds),
			Decode: [2]float64{x.Decode[0].Seconds() * 1e3, x.Decode[1].Seconds() * 1e3}})
	}
	stats, took, gaps := make([][]pair.Stats, len(pairs)), make([]time.Duration, len(pairs)), make([]int, len(pairs))
	for q := range x.Questions {
		spans, answers, err := x.rounds(ctx, pairs, q)
		if err != nil {
			return nil, err
		}
		for i := range results {
			results[i].count(x.Questions[q], spans[0], spans[i])
			n := len(answers[i].Tokens)
			results[i].Answers, results[i].Tokens = results[i].Answers+1, results[i].Tokens+n
			stats[i] = append(stats[i], answers[i].Pair)
			took[i], gaps[i] = took[i]+median(spans[i]), gaps[i]+max(0, n-1)
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

// start connects two sides with a variant's drafters and lets them answer once, to warm up.
func (x Drafting) start(ctx context.Context, v Drafters) (*testbed, error) {
	setup := x.Setup
	setup.Draft, setup.Rows = v.Set, v.Rows
	link := netem.Config{Delay: x.RTT / 2}
	l, err := setup.connect(Path{Link: [2]netem.Config{link, link}}, x.Decode)
	if err != nil {
		return nil, err
	}
	if _, err := l.ask(ctx, 0, Strategy{Label: "warming up", Place: tandem.PlaceMirror}, x.Settings.Lookahead); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// costsOf describes whose passes are timed.
func (x Drafting) costsOf() string {
	if x.Decode == ([2]time.Duration{}) {
		return x.Of
	}
	return fmt.Sprintf("%.0f/%.0f ms, paced", x.Decode[0].Seconds()*1e3, x.Decode[1].Seconds()*1e3)
}

// rounds lets all variants answer question q in turns. For each variant it returns the time from the first token to the last
// in each round, and the last answer.
func (x Drafting) rounds(ctx context.Context, pairs []*testbed, q int) (spans [][]time.Duration, answers []node.Answer, err error) {
	text := ""
	spans, answers = make([][]time.Duration, len(pairs)), make([]node.Answer, len(pairs))
	for round := range max(1, x.Rounds) {
		for k := range pairs {
			i := (k + q + round) % len(pairs) // each begins as often
			a, err := pairs[i].ask(ctx, q, Strategy{Label: x.Variants[i].Name, Place: tandem.PlaceMirror}, x.Settings.Lookahead)
			if err != nil {
				return nil, nil, err
			}
			if text == "" {
				text = a.Text
			}
			if a.Text != text || a.Pair.Together == 0 {
				return nil, nil, fmt.Errorf("question %q, %s: %q, %d tokens with the cloud; others say %q", x.Questions[q], x.Variants[i].Name, a.Text, a.Pair.Together, text)
			}
			span := time.Duration(0)
			if n := len(a.Tokens); n > 1 {
				span = a.Tokens[n-1].At - a.Tokens[0].At
			}
			spans[i], answers[i] = append(spans[i], span), a
		}
	}
	return spans, answers, nil
}

// count compares a question's times with those of the first variant.
func (r *DraftingResult) count(question string, first, own []time.Duration) {
	if median(own) <= 0 || median(first) <= 0 {
		return
	}
	if ratio := median(first).Seconds() / median(own).Seconds(); r.Question == "" || ratio < r.Worst {
		r.Worst, r.Question = ratio, question
	}
	for i := range own {
		if own[i] <= 0 {
			continue
		}
		if ratio := first[i].Seconds() / own[i].Seconds(); r.Slowest == 0 || ratio < r.Slowest {
			r.Slowest = ratio
		}
	}
}

// median is the lower median of times, which it leaves in their order.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[(len(sorted)-1)/2]
}
