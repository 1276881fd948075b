package phone

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/spec"
	"tandem/npu/phone/sim"
)

// Ablation is a cell of sd.npu's Table 3: a model with some of the paper's techniques on the Redmi K60 Pro.
type Ablation struct {
	Model   string
	Variant string  // NPU, +G, +SD, +G+SD, all (the paper's last, "Ours")
	Ms      float64 // a token, published
	Accept  float64 // published tokens a pass (Table 4, summary); 1 without speculative decoding
	Of      string  // the model whose accept length that is, where the model's own was not published
}

// Table3 is sd.npu's Table 3.
var Table3 = table3()

func table3() (cells []Ablation) {
	for _, m := range []struct {
		name string
		ms   [5]float64
	}{
		{"Qwen2.5-1.5B", [5]float64{57.41, 47.72, 35.04, 25.35, 15.08}},
		{"Qwen2.5-0.5B", [5]float64{24.46, 23.43, 18.75, 18.45, 7.17}},
		{"Llama-3.2-3B", [5]float64{71.71, 70.03, 47.93, 46.25, 41.62}},
	} {
		lengths, of := table4[0].of(m.name)
		for i, variant := range ablationVariants {
			cell := Ablation{Model: m.name, Variant: variant, Ms: m.ms[i], Accept: lengths.by(variant)}
			if cell.Accept > 1 {
				cell.Of = of
			}
			cells = append(cells, cell)
		}
	}
	return cells
}

var ablationVariants = []string{"NPU", "+G", "+SD", "+G+SD", "all"}

// table4 is sd.npu's Table 4 for the two of its models that run on phones. The first task is that of Table 3.
var table4 = []taskLengths{
	{"summary", acceptPair{3.60, 4.21}, acceptPair{1.68, 2.07}},
	{"rag", acceptPair{4.42, 5.47}, acceptPair{2.25, 2.66}},
	{"ui", acceptPair{3.56, 4.01}, acceptPair{1.72, 2.05}},
	{"tweet", acceptPair{3.57, 3.82}, acceptPair{1.79, 2.18}},
}

// taskLengths are tokens a pass on one task's inputs.
type taskLengths struct {
	task        string
	qwen, llama acceptPair // Qwen2.5-1.5B, Llama-3.2-1B
}

// acceptPair are tokens a pass by the suffix automaton alone and with all techniques.
type acceptPair struct{ sam, all float64 }

// by returns the length that a variant of Table 3 drafts with, 1 without drafts.
func (p acceptPair) by(variant string) float64 {
	switch variant {
	case "+SD", "+G+SD":
		return p.sam
	case "all":
		return p.all
	}
	return 1
}

// of returns a model's lengths. Where its own were not published they are those of a relative, which of then names.
func (t taskLengths) of(model string) (p acceptPair, of string) {
	switch model {
	case "Qwen2.5-1.5B":
		return t.qwen, ""
	case "Qwen2.5-0.5B":
		return t.qwen, "Qwen2.5-1.5B"
	}
	return t.llama, "Llama-3.2-1B"
}

// What the techniques cost on the CPU, as sd.npu §5.4 states it.
const (
	draftingMs    = 3 // a step, with calibration and reuse ("less than 3 ms")
	calibrationMs = 2 // a token of the prompt ("about 2 ms for each input token")
)

// Simulate predicts the cell in ms a token, for a pass that gives accept tokens.
func (a Ablation) Simulate(accept float64) (ms float64, err error) {
	return a.simulate(&validator{files: sim.Default()}, accept)
}

// simulate is Simulate with the validator's parameter files.
func (a Ablation) simulate(v *validator, accept float64) (ms float64, err error) {
	q := v.request("sm8550/mllm", a.Model)
	if v.err != nil {
		return 0, v.err
	}
	if !(accept >= 1) || accept > decodeChunk {
		return 0, fmt.Errorf("%v tokens a pass: want 1 to %d", accept, decodeChunk)
	}
	return q.perToken(a.Variant, accept), nil
}

// fitted names the parameter that was fitted to the cell, or returns "". Of a fitted cell the simulator predicts nothing.
func (a Ablation) fitted() string {
	if a.Model != "Qwen2.5-1.5B" {
		return ""
	}
	switch a.Variant {
	case "+G":
		return "what a call of the NPU costs"
	case "NPU":
		return "the load rate"
	}
	return ""
}

// calibration is the part of a cell's time, in ms a token, that calibration takes.
func (a Ablation) calibration() float64 {
	if a.Variant == "all" {
		return calibrationPerToken
	}
	return 0
}

// AcceptLengths are tokens a pass of 32 rows, measured on real text (spec.Experiment).
type AcceptLengths struct {
	Task   string  `json:"task"`
	Of     string  `json:"of"` // the model that was measured
	Inputs int     `json:"inputs"`
	SAM    float64 `json:"sam"` // for +SD: drafts from a suffix automaton
	All    float64 `json:"all"` // all drafters with calibration and reuse

	// Prompt lookup: tokens a pass, and shares of the rows of its passes. 0 where it was not measured.
	PLD           float64 `json:"pld,omitempty"`
	Wasted        float64 `json:"pld_wasted,omitempty"`
	Underutilised float64 `json:"pld_underutilised,omitempty"`
	Reusable      float64 `json:"reusable,omitempty"` // share of all rejections of which a part came soon after
}

// AblationMethods are the ways of drafting that AcceptLengthsOf looks for. It can do without the first.
var AblationMethods = []string{"pld", "sam", "all"}

// ErrNotMeasured is AcceptLengthsOf's error where a method is missing or no answer took a pass.
var ErrNotMeasured = errors.New("not measured")

// AcceptLengthsOf picks a task's lengths out of what spec.Experiment measured with the model.
func AcceptLengthsOf(results []spec.Result, task, of string) (AcceptLengths, error) {
	l := AcceptLengths{Task: task, Of: of}
	for _, r := range results {
		if r.Task != task {
			continue
		}
		switch r.Method {
		case "sam":
			l.SAM, l.Inputs = r.AcceptLength, r.Inputs
		case "pld":
			l.PLD, l.Wasted, l.Underutilised = r.AcceptLength, r.Wasted, r.Underutilised
		case "all":
			l.All = r.AcceptLength
			if all := r.Cases.Missing + r.Cases.Synonym + r.Cases.Redundant; all > 0 {
				l.Reusable = float64(r.Cases.Missing+r.Cases.Synonym) / float64(all)
			}
		}
	}
	if l.SAM == 0 || l.All == 0 {
		return l, fmt.Errorf("accept lengths of the task %s %w: measure the methods %s", task, ErrNotMeasured, strings.Join(AblationMethods, " and "))
	}
	return l, nil
}

// ablation adds the cells of Table 3, simulated with the published accept lengths.
func (v *validator) ablation() {
	for _, a := range Table3 {
		name := "sd.npu Table 3: " + a.Model + ", " + a.Variant
		ms, err := a.simulate(v, a.Accept)
		if v.err == nil {
			v.err = err
		}
		if fits := a.fitted(); fits != "" {
			v.fitted(name, "ms/token", a.Ms, ms, fits+" is fitted to it, for an answer of 100 tokens (assumed for all models)")
			continue
		}
		note := ""
		if a.Accept > 1 {
			note = fmt.Sprintf("with the published accept length %.2f (Table 4, summary)", a.Accept)
			if a.Of != "" {
				note += " of " + a.Of + ": the model's own was not published"
			}
		}
		if c := a.calibration(); c > 0 {
			note += fmt.Sprintf("; %.0f ms of it are calibration, by the paper's 2 ms for each of %d tokens read, over %d written: the published number cannot hold them", c, summaryPrompt, summaryTokens)
		}
		v.predicted(name, "ms/token", a.Ms, ms, note)
	}
}

// ablation draws Table 3 as the simulator predicts it from the published accept lengths, and measures accept lengths for what the
// papers say of drafts. Executed runs the table instead.
func (x Experiment) ablation(ctx context.Context, r *report.Report, data *Data) error {
	bars := chart.Bars{Title: "sd.npu Table 3: published and predicted", X: "ms a token",
		Note: "Predicted with the published accept lengths, some of a related model. lab npu answers runs the table."}
	r.Figures = append(r.Figures, report.Figure{Name: "npu-ablation", SVG: ablationBars(bars).SVG()})
	if x.Accept == nil {
		return nil
	}
	l, err := x.Accept(ctx)
	if err != nil {
		return fmt.Errorf("accept lengths: %w", err)
	}
	data.Accept = &l
	return nil
}

// ablationFindings says how the variants without drafts come out, and which of them were fitted.
func ablationFindings(figures []PublishedFigure) (out []string) {
	of := func(f PublishedFigure) string {
		if f.Fitted {
			return fmt.Sprintf("%.1f (fitted to the published %.2f)", f.Predicted.Value, f.Published.Value)
		}
		return fmt.Sprintf("%.1f (published %.2f)", f.Predicted.Value, f.Published.Value)
	}
	for i, a := range Table3 {
		if a.Variant == "NPU" {
			out = append(out, fmt.Sprintf("sd.npu Table 3, %s (simulated), ms a token: NPU %s, +G %s.", a.Model, of(figures[i]), of(figures[i+1])))
		}
	}
	return out
}

// ablationBars draws Table 3.
func ablationBars(b chart.Bars) chart.Bars {
	for _, a := range Table3 {
		if len(b.Groups) == 0 || b.Groups[len(b.Groups)-1].Name != a.Model {
			b.Groups = append(b.Groups, chart.Group{Name: a.Model})
		}
		g := &b.Groups[len(b.Groups)-1]
		g.Bars = append(g.Bars, chart.Bar{Name: a.Variant + ", published", Value: a.Ms, Color: 0})
		if ms, err := a.Simulate(a.Accept); err == nil {
			name := "predicted"
			if a.fitted() != "" {
				name = "fitted"
			}
			g.Bars = append(g.Bars, chart.Bar{Name: name, Value: ms, Color: 1})
		}
	}
	return b
}
