package phone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/dllm"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu"
	"tandem/npu/phone/sim"
)

// DiffusionResult is what one way of denoising took on all inputs, on average over them. What SimMs holds is simulated.
type DiffusionResult struct {
	Model     string        `json:"model"`
	Method    string        `json:"method"`
	Tokens    int           `json:"tokens"`     // of each answer
	Forwards  float64       `json:"forwards"`   // dense passes, the prompt's included
	Rows      float64       `json:"rows"`       // of both paths
	LogitRows float64       `json:"logit_rows"` // of Rows, those with logits
	Sparse    float64       `json:"sparse_rows"`
	WallMs    report.Number `json:"wall_ms,omitzero"` // on this machine; none for +somr, which changes only what a phone's memory does
	// SimMs are simulated times with LLaDA-8B's shape, by chip. The NPU computes the logits too. In SOC-logits the processor does, as
	// in the paper, and in SOC-cpu it does everything.
	SimMs    map[string]float64 `json:"sim_ms"`
	Exact    report.Number      `json:"exact_match,omitzero"`
	Unstable float64            `json:"unstable"` // tokens that were visible but not stable when the text ended
}

// DiffusionInput is a prompt and, if it is known, the answer.
type DiffusionInput struct {
	Prompt []tandem.Token
	Answer string
}

// Diffusion measures ways of denoising.
type Diffusion struct {
	Model  *model.Model
	Name   string    // of the model, for the results
	Costs  []float64 // of passes, by which windows look ahead on this machine
	SoCs   []string  // simulated chips, with their stacks
	Inputs []DiffusionInput
}

// DiffusionMethod is a line of the results.
type DiffusionMethod struct {
	Name    string
	Method  dllm.Method
	Runtime Runtime // of the phone, for weights that it cannot map
	Copy    bool    // the passes are those of the line before; only the phone's memory differs
}

// DiffusionMethods returns the lines of llada.cpp's Table 6, with Fast-dLLM's methods among them: each line from +somr on adds
// a technique to the one before.
func DiffusionMethods() (all []DiffusionMethod) {
	for _, m := range dllm.Methods {
		if m.Name == "+mbsd" {
			all = append(all, DiffusionMethod{"+somr", all[len(all)-1].Method, Staging, true})
		}
		by := Staging
		if !strings.HasPrefix(m.Name, "+") { // before +somr
			by = Paging
		}
		all = append(all, DiffusionMethod{m.Name, m.Method, by, false})
	}
	return all
}

// DiffusionVariants returns the full method with other parameters: both thresholds, the trigger of lookahead, the block.
func DiffusionVariants() (all []DiffusionMethod) {
	add := func(name string, change func(m *dllm.Method)) {
		m := dllm.Full()
		change(&m)
		all = append(all, DiffusionMethod{Name: "full, " + name, Method: m, Runtime: Staging})
	}
	for _, v := range []float32{.5, .6, .8, .9} {
		add(fmt.Sprintf("visible %v", v), func(m *dllm.Method) { m.Visible = v })
	}
	for _, v := range []float32{.8, .95, .99} {
		add(fmt.Sprintf("stable %v", v), func(m *dllm.Method) { m.Stable = v })
	}
	for _, n := range []int{0, 2, 8, 16} {
		add(fmt.Sprintf("trigger %d", n), func(m *dllm.Method) { m.Trigger = n })
	}
	for _, n := range []int{16, 64} {
		add(fmt.Sprintf("block %d", n), func(m *dllm.Method) { m.Block = n })
	}
	return all
}

// Run measures methods with answers of the given length. The methods take turns on each input, so that other work on the
// machine slows all alike. show, if not nil, is called before each answer.
func (d Diffusion) Run(ctx context.Context, methods []DiffusionMethod, tokens int, show func(done, total int)) ([]DiffusionResult, error) {
	if len(d.Inputs) == 0 {
		return nil, errors.New("no inputs")
	}
	phones, err := d.phones()
	if err != nil {
		return nil, err
	}
	rows := make([]DiffusionResult, len(methods))
	right, judged := make([]int, len(methods)), 0
	for k, in := range d.Inputs {
		if in.Answer != "" {
			judged++
		}
		var last dllm.Stats
		exact := false
		for i, method := range methods {
			if show != nil {
				show(k*len(methods)+i, len(d.Inputs)*len(methods))
			}
			if !method.Copy {
				var text string
				if text, last, err = d.answer(ctx, method.Method, in.Prompt, tokens); err != nil {
					return nil, fmt.Errorf("%s: %w", method.Name, err)
				}
				exact = text == in.Answer
				rows[i].WallMs = report.Is(rows[i].WallMs.Value + msOf(last.All))
			}
			if exact && in.Answer != "" {
				right[i]++
			}
			rows[i].add(&last, phones, method.Runtime)
		}
	}
	n := float64(len(d.Inputs))
	for i := range rows {
		r := &rows[i]
		r.Model, r.Method, r.Tokens = d.Name, methods[i].Name, tokens
		r.Forwards, r.Rows, r.LogitRows, r.Sparse, r.WallMs.Value, r.Unstable = r.Forwards/n, r.Rows/n, r.LogitRows/n, r.Sparse/n, r.WallMs.Value/n, r.Unstable/n
		for k := range r.SimMs {
			r.SimMs[k] /= n
		}
		if judged > 0 {
			r.Exact = report.Is(float64(right[i]) / float64(judged))
		}
	}
	return rows, nil
}

// answer denoises one answer and returns its text up to the end token.
func (d Diffusion) answer(ctx context.Context, method dllm.Method, prompt []tandem.Token, tokens int) (string, dllm.Stats, error) {
	var answer []tandem.Token
	o := dllm.Options{Method: method, MaxTokens: tokens, IgnoreEnd: true, Costs: d.Costs}
	o.Write = func(t []tandem.Token) error { answer = append(answer, t...); return nil }
	stats, err := dllm.Generate(ctx, d.Model, prompt, o)
	if err != nil {
		return "", stats, err
	}
	if end := slices.IndexFunc(answer, d.Model.Tokenizer().EOG); end >= 0 {
		answer = answer[:end]
	}
	return strings.TrimSpace(d.Model.Tokenizer().Decode(answer)), stats, nil
}

// add adds an answer to the sums.
func (r *DiffusionResult) add(s *dllm.Stats, phones []*diffusionPhone, by Runtime) {
	rows, logits := s.Rows()
	r.Forwards, r.Rows, r.LogitRows = r.Forwards+float64(len(s.Passes)), r.Rows+float64(rows), r.LogitRows+float64(logits)
	if r.SimMs == nil {
		r.SimMs = map[string]float64{}
	}
	for _, p := range s.Passes {
		r.Sparse += float64(p.SparseRows)
		for _, x := range phones {
			r.SimMs[x.costs.SoC] += msOf(x.step(p, by))
			r.SimMs[x.costs.SoC+"-logits"] += msOf(x.stepWithLogits(p, by))
			r.SimMs[x.costs.SoC+"-cpu"] += msOf(x.onProcessor(p))
		}
	}
	r.Unstable += float64(s.Passes[len(s.Passes)-1].Visible)
}

// Autoregressive measures what a model that writes token by token, such as the one that the diffusion model was made from, says
// to the inputs, with answers of up to the given length.
func (d Diffusion) Autoregressive(ctx context.Context, m *model.Model, name string, tokens int) (DiffusionResult, error) {
	out := DiffusionResult{Model: name, Method: "token by token", Tokens: tokens, SimMs: map[string]float64{}}
	right, judged, n := 0, 0, float64(len(d.Inputs))
	for _, in := range d.Inputs {
		var answer []tandem.Token
		stats, err := sample.Generate(ctx, m, in.Prompt, sample.Params{}, tokens, func(t tandem.Token) error { answer = append(answer, t); return nil })
		if err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
		passes := float64(stats.Passes) // the first reads the prompt, each other a token
		out.Forwards, out.Rows, out.LogitRows = out.Forwards+passes/n, out.Rows+(passes-1+float64(len(in.Prompt)))/n, out.LogitRows+passes/n
		out.WallMs = report.Is(out.WallMs.Value + msOf(stats.Prefill+stats.Decode)/n)
		if in.Answer != "" {
			judged++
			if strings.TrimSpace(m.Tokenizer().Decode(answer)) == in.Answer {
				right++
			}
		}
	}
	if judged > 0 {
		out.Exact = report.Is(float64(right) / float64(judged))
	}
	return out, nil
}

// phones returns the simulated phones.
func (d Diffusion) phones() (all []*diffusionPhone, err error) {
	shape, err := shapeIn("LLaDA-8B", npu.Q4_0)
	if err != nil {
		return nil, err
	}
	for _, name := range d.SoCs {
		c, err := sim.Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, newDiffusionPhone(c, shape))
	}
	return all, nil
}

// Trace denoises the first input and draws it: how many tokens are in each state after each step, and the two paths as the
// simulated phone would run them.
func (d Diffusion) Trace(ctx context.Context, method dllm.Method, tokens int) ([]report.Figure, error) {
	phones, err := d.phones()
	if err != nil || len(phones) == 0 || len(d.Inputs) == 0 {
		return nil, errors.Join(err, errors.New("a trace needs an input and a chip"))
	}
	_, stats, err := d.answer(ctx, method, d.Inputs[0].Prompt, tokens)
	if err != nil {
		return nil, err
	}
	states := chart.Plot{Title: fmt.Sprintf("States of %d tokens, %s", tokens, d.Name), X: "step", Y: "tokens",
		Lines: []chart.Line{{Name: "invisible", Color: 0}, {Name: "visible", Color: 1}, {Name: "stable", Color: 2}, {Name: "drafts (invisible too)", Color: 3, Dashed: true}}}
	x := phones[0]
	gantt := chart.Timeline{Title: "The two paths with LLaDA-8B's shape on " + x.costs.SoC + " (simulated)", Lanes: []chart.Lane{{Name: "NPU: dense"}, {Name: "CPU: sparse"}}}
	var at time.Duration
	for i, p := range stats.Passes {
		for j, n := range []int{p.Invisible, p.Visible, p.Stable, p.Drafts} {
			states.Lines[j].Points = append(states.Lines[j].Points, chart.Point{X: float64(i + 1), Y: float64(n)})
		}
		dense, sparse := x.dense(p).Time()+x.stall(p.Rows, Staging, false), x.sparse(p)
		gantt.Lanes[0].Spans = append(gantt.Lanes[0].Spans, chart.Span{From: msOf(at), To: msOf(at + dense), Color: 0})
		if sparse > 0 {
			gantt.Lanes[1].Spans = append(gantt.Lanes[1].Spans, chart.Span{From: msOf(at), To: msOf(at + sparse), Color: 1})
		}
		at += x.step(p, Staging)
	}
	gantt.X, gantt.To = "ms", msOf(at)
	return []report.Figure{{Name: "diffusion-states", SVG: states.SVG()}, {Name: "diffusion-paths", SVG: gantt.SVG()}}, nil
}
