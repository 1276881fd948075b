package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/lab/chart"
	"tandem/model"
	"tandem/model/sample"
	"tandem/specdec"
)

// SpecResult is what one way of drafting gave on the inputs of one task.
type SpecResult struct {
	Task   string `json:"task"`
	Method string `json:"method"`
	Inputs int    `json:"inputs"`
	Tokens int    `json:"tokens"` // of all answers
	// AcceptLength, the shares and the drafter's time are those of passes of 32 rows: sd.npu's decoding graph.
	AcceptLength  float64 `json:"accept_length"` // tokens a pass
	Valid         float64 `json:"valid"`
	Wasted        float64 `json:"wasted"`
	Underutilised float64 `json:"underutilised"`
	DrafterMs     float64 `json:"drafter_ms"` // a pass
	// Ratio is plain decoding's time by that with drafts whose length is chosen by the costs; MinRatio is the
	// worst input's. Times are those of the cost table for each pass, and the drafter's as measured.
	Ratio    float64 `json:"ratio"`
	MinRatio float64 `json:"min_ratio"`
	Chosen   float64 `json:"chosen_accept_length"` // with lengths so chosen
	// Prefill is the time of the prompts by plain decoding's.
	Prefill   float64       `json:"prefill_ratio"`
	Cases     specdec.Cases `json:"reuse_cases"`
	Simulated bool          `json:"simulated,omitempty"`
}

// SpecMethods are the ways of drafting that Spec knows, in the order of its rows.
var SpecMethods = []string{"plain", "pld", "pld+calibration", "pld+reuse", "pld+both", "sam", "sam+calibration", "sam+reuse", "sam+both", "all", "eagle (simulated)"}

// eagleLength is the accept length that EAGLE is published with.
const eagleLength = 5.5

// SpecInput is a prompt.
type SpecInput struct {
	Tokens []tandem.Token
	Cut    bool // it was longer than the context allows
}

// Spec measures ways of drafting on the inputs of a task.
type Spec struct {
	Model     *model.Model
	Costs     specdec.Costs // of a pass, in seconds
	Eagle     float64       // what a token of the simulated EAGLE takes, as a share of a pass of one row (EagleShare)
	History   string        // folder for histories of earlier answers, which "all" uses
	MaxTokens int
	Rows      int // of a pass [32]
	Sampling  sample.Params
}

// EagleShare is the share of a model's weights that EAGLE's drafter has: one layer and the head. Time goes with the
// weights that are read.
func EagleShare(c model.Config) float64 {
	layer := c.Dim*(2*c.Heads+2*c.KVHeads)*c.HeadDim + 3*c.Dim*c.FF
	head := c.Dim * c.Vocab
	return float64(layer+head) / float64(c.Layers*layer+head)
}

// methodRun collects what one method does over the inputs.
type methodRun struct {
	name       string
	acceptance [2]*specdec.Acceptance // of the fixed length, of the chosen one
	history    [2]*specdec.History
	fixed      specdec.Stats
	chosen     specdec.Stats
	prefill    time.Duration
	plain      float64 // seconds by the costs
	spent      float64
	worst      float64
}

// Run measures the methods on the inputs, each after the other. Every answer is compared with plain
// decoding's: a difference is an error.
func (s Spec) Run(ctx context.Context, task string, inputs []SpecInput, methods []string, progress Progress) ([]SpecResult, error) {
	runs := make([]*methodRun, len(methods))
	for i, name := range methods {
		runs[i] = &methodRun{name: name, worst: 1e9, acceptance: [2]*specdec.Acceptance{{}, {}}}
		if name == "all" {
			for j := range runs[i].history {
				h, err := specdec.OpenHistory(s.History, fmt.Sprintf("%s-%d", task, j), specdec.DefaultHistory)
				if err != nil {
					return nil, err
				}
				runs[i].history[j] = h
			}
		}
	}
	var plainPrefill time.Duration
	tokens := 0
	for i, in := range inputs {
		// Once to warm up, twice for the prefill's time.
		want, stats, err := s.generate(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		_, again, err := s.generate(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		plainPrefill += min(stats.Prefill, again.Prefill)
		tokens += len(want)
		for j, r := range runs {
			if err := r.input(ctx, s, in, want); err != nil {
				return nil, fmt.Errorf("%s, input %d, %s: %w", task, i+1, r.name, err)
			}
			if progress != nil {
				progress(i*len(runs)+j+1, len(inputs)*len(runs))
			}
		}
	}
	var rows []SpecResult
	for _, r := range runs {
		row := SpecResult{Task: task, Method: r.name, Inputs: len(inputs), Tokens: tokens, AcceptLength: r.fixed.AcceptLength(),
			DrafterMs: r.fixed.DraftingPerStep().Seconds() * 1e3, Ratio: r.plain / r.spent, MinRatio: r.worst,
			Chosen: r.chosen.AcceptLength(), Prefill: r.prefill.Seconds() / plainPrefill.Seconds(), Cases: r.fixed.Cases,
			Simulated: strings.Contains(r.name, "simulated")}
		row.Valid, row.Wasted, row.Underutilised = r.fixed.Shares()
		rows = append(rows, row)
	}
	return rows, nil
}

func (s Spec) generate(ctx context.Context, in SpecInput, spec sample.Speculator) (out []tandem.Token, stats sample.Stats, err error) {
	stats, err = sample.GenerateWith(ctx, s.Model, in.Tokens, s.Sampling, s.MaxTokens, spec, func(t tandem.Token) error {
		out = append(out, t)
		return nil
	})
	return out, stats, err
}

// drafters makes a method's drafters for one answer.
func (r *methodRun) drafters(run int, in SpecInput, truth []tandem.Token) (d []specdec.Drafter, c *specdec.Calibration) {
	base, extra, _ := strings.Cut(r.name, "+")
	switch base {
	case "pld":
		d = append(d, &specdec.Lookup{})
	case "sam":
		d = append(d, &specdec.SAM{})
	case "all":
		d, extra = append(d, &specdec.Lookup{Branches: 2}, &specdec.SAM{Tree: true, History: r.history[run]}, &specdec.Ngrams{}), "both"
	case "eagle (simulated)":
		d = append(d, specdec.NewEagle(truth, eagleLength))
	}
	if extra == "calibration" || extra == "both" {
		c = &specdec.Calibration{}
		d = append(d, c)
	}
	if extra == "reuse" || extra == "both" {
		d = append(d, &specdec.Reuse{})
	}
	return d, c
}

// input runs the method on one input: with passes of all rows, and with a chosen length.
func (r *methodRun) input(ctx context.Context, s Spec, in SpecInput, want []tandem.Token) error {
	for run := range 2 {
		drafters, calibration := r.drafters(run, in, want)
		spec := &specdec.Speculator{Drafters: drafters, Calibration: calibration, Acceptance: r.acceptance[run], Rows: s.Rows}
		account := &passes{Speculator: spec, costs: s.Costs}
		if run == 1 {
			spec.Chooser = &specdec.Chooser{Costs: s.Costs}
		}
		got, stats, err := s.generate(ctx, in, account)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return errors.New("the answer differs from plain decoding's")
		}
		st := spec.Stats()
		if run == 0 {
			r.fixed, r.prefill = r.fixed.Plus(st), r.prefill+stats.Prefill
		} else {
			r.chosen = r.chosen.Plus(st)
			drafting := st.Drafting.Seconds()
			if strings.Contains(r.name, "simulated") { // ten tokens a pass
				drafting = float64(10*st.Passes) * s.Costs.At(1) * s.Eagle
			}
			plain, spent := float64(st.Tokens)*s.Costs.At(1), account.spent+drafting
			if r.name == "plain" {
				spent = account.spent // nobody drafts
			}
			if st.Tokens > 0 {
				r.plain, r.spent, r.worst = r.plain+plain, r.spent+spent, min(r.worst, plain/spent)
			}
		}
		if h := r.history[run]; h != nil {
			if err := h.Add("answer", got, time.Now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// passes adds up what passes cost.
type passes struct {
	*specdec.Speculator
	costs specdec.Costs
	spent float64
}

func (p *passes) Settle(v sample.Verdict) {
	p.spent += p.costs.At(len(v.Logits))
	p.Speculator.Settle(v)
}

// SpecFigure draws the accept lengths.
func SpecFigure(rows []SpecResult) Figure {
	bars := chart.Bars{Title: "Accept length: tokens that one pass of 32 rows gives", X: "tokens a pass",
		Note: "Every answer is plain decoding's, token by token. EAGLE is simulated at its published accept length."}
	for _, r := range rows {
		if len(bars.Groups) == 0 || bars.Groups[len(bars.Groups)-1].Name != r.Task {
			bars.Groups = append(bars.Groups, chart.Group{Name: r.Task})
		}
		g := &bars.Groups[len(bars.Groups)-1]
		color := 0
		switch {
		case strings.HasPrefix(r.Method, "sam"):
			color = 1
		case r.Method == "all":
			color = 2
		case r.Simulated:
			color = 3
		}
		g.Bars = append(g.Bars, chart.Bar{Name: r.Method, Value: r.AcceptLength, Color: color})
	}
	return Figure{Name: "spec", SVG: bars.SVG()}
}
