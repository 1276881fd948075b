package phone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu/phone/sim"
	"tandem/specdec"
)

// Branches are the configurations of Samsung's Table 7. The first is one forecast with fifteen branches: like most of the others it
// fills the 32 rows, and it gives fewer than 2 tokens a pass for every use.
var Branches = [][]int{{15}, {1, 8}, {2, 3}, {3, 2}, {4, 1}, {1, 1, 5}, {1, 2, 2}, {2, 1, 1}, {1, 1, 1, 2}}

// ForecastResult is what drafts by forecast embeddings gave in one configuration (Samsung Tables 6 and 7). Accept is measured.
// Rate and Faster are simulated: Llama-3.2-3B in 4 bits on an SM8750, whose passes have 32 rows; plain decoding's have one.
type ForecastResult struct {
	Branches  string  `json:"branches"` // "3,2"; "live" for what measured acceptance chooses, "plain" for none
	Tokens    int     `json:"tokens"`
	Passes    int     `json:"passes"`
	Accept    float64 `json:"tokens_per_pass"`
	Pass      float64 `json:"pass_ms"`
	Rate      float64 `json:"tokens_per_second"`
	Faster    float64 `json:"times_faster"`
	Simulated bool    `json:"rates_simulated"` // always true
}

// Forecasts measures configurations on prompts, each with the same answers as plain decoding, which it checks.
type Forecasts struct {
	Model      *model.Model
	Own        *model.Adapter // of the text's rows; nil for none
	Embeddings [][]float32
	Adapter    *model.Adapter // of the forecasts' rows
	MaxTokens  int
	Sampling   sample.Params
}

// Run measures plain decoding, each of Branches that the embeddings are enough for, and the choice by measured acceptance.
func (f Forecasts) Run(ctx context.Context, prompts [][]tandem.Token, progress report.Progress) (list []ForecastResult, err error) {
	costs, err := sim.Find("sm8750/qnn")
	if err != nil {
		return nil, err
	}
	shape, err := sim.FindShape("Llama-3.2-3B")
	if err != nil {
		return nil, err
	}
	shape.Type, shape.HeadType = samsungShape().Type, samsungShape().HeadType
	one, all := samsungModel{costs}.token(shape, 1), samsungModel{costs}.token(shape, 32)
	var want [][]tandem.Token
	plain := ForecastResult{Branches: "plain", Pass: one, Accept: 1, Rate: 1000 / one, Faster: 1, Simulated: true}
	for _, p := range prompts {
		text, passes, err := f.generate(ctx, p, nil)
		if err != nil {
			return nil, err
		}
		want = append(want, text)
		plain.Tokens += passes - 1 // the prompt's pass gives the first; the end of a text counts
	}
	plain.Passes = plain.Tokens
	list = append(list, plain)
	configs := slices.DeleteFunc(slices.Clone(Branches), func(b []int) bool { return len(b) > len(f.Embeddings) })
	configs = append(configs, nil)
	for i, branches := range configs {
		name := "live"
		if branches != nil {
			name = strings.ReplaceAll(strings.Trim(fmt.Sprint(branches), "[]"), " ", ",")
		}
		sum, err := f.draft(ctx, branches, prompts, want, func(done int) { progress(i*len(prompts)+done, len(configs)*len(prompts)) })
		if err != nil {
			return nil, err
		}
		r := ForecastResult{Branches: name, Tokens: sum.Tokens, Passes: sum.Passes, Accept: sum.AcceptLength(), Pass: all, Simulated: true}
		r.Rate = 1000 / all * r.Accept
		r.Faster = r.Rate / plain.Rate
		list = append(list, r)
	}
	return list, nil
}

// draft continues prompts with drafts in a configuration, nil for what measured acceptance chooses. The texts must be those
// wanted.
func (f Forecasts) draft(ctx context.Context, branches []int, prompts, want [][]tandem.Token, done func(texts int)) (sum specdec.Stats, err error) {
	// Acceptance carries over from text to text.
	forecast := &specdec.Forecast{Embeddings: f.Embeddings, Adapter: f.Adapter, Branches: branches}
	for i, p := range prompts {
		forecast.Rewind(0)
		s := &specdec.Speculator{Drafters: []specdec.Drafter{forecast}, Forecast: forecast, Rows: 32}
		text, _, err := f.generate(ctx, p, s)
		if err != nil {
			return sum, err
		}
		if !slices.Equal(text, want[i]) {
			return sum, errors.New("a text differs from plain decoding's")
		}
		sum = sum.Plus(s.Stats())
		done(i + 1)
	}
	return sum, nil
}

func (f Forecasts) generate(ctx context.Context, prompt []tandem.Token, s *specdec.Speculator) (text []tandem.Token, passes int, err error) {
	var spec sample.Speculator // nil, not a nil pointer
	if s != nil {
		spec = s
	}
	stats, err := sample.Continue(ctx, f.Model.NewSeqWith(f.Own), prompt, f.Sampling, f.MaxTokens, spec, func(t tandem.Token) error {
		text = append(text, t)
		return nil
	})
	return text, stats.Passes, err
}

func (r ForecastResult) String() string {
	return fmt.Sprintf("%-9s %7d %7d %10.2f %9.2f %9.2f %7.2f", r.Branches, r.Tokens, r.Passes, r.Accept, r.Pass, r.Rate, r.Faster)
}
