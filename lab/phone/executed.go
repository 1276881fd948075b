package phone

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tandem/lab/report"
	"tandem/lab/spec"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/phone"
	"tandem/npu/phone/sim"
)

// Executed lets a simulated phone answer: each cell is a run of the path that "edge run --soc" takes. The
// prompt is computed in chunks while its graphs give way to those for decoding; drafters draft; static graphs verify; the
// phone counts rows, loads, waiting and energy. A model that runs here gives the tokens and so the acceptance, and the
// phone charges the costs of a larger shape (sim.StandIn).
type Executed struct {
	Open      func(phone.Options, ...model.Option) (*model.Model, *phone.Device, error) // the model that gives acceptance
	Of        string                                                                    // its name
	Tasks     []ExecutedTask
	SoCs      []string // chips with stacks
	Shapes    []string // whose costs are charged
	Variants  []string // see ExecutedVariants
	MaxTokens int
	Prompt    int    // tokens of a shorter prompt on the phones, however few the model reads; 0 for as many as it reads
	History   string // folder for histories of earlier answers
}

// ExecutedTask is a task's inputs, with the writer of the answers (see spec.Words).
type ExecutedTask struct {
	Task   string
	Words  spec.Words
	Inputs []spec.Input
}

// ExecutedVariants are the rows of sd.npu's Table 3, and: prompt lookup with progressive switching; EAGLE, whose drafts
// are made up to have the length that CoordGen assumes; and "ours", the default drafters, which chooses the graph for
// decoding by the tokens that passes gave before. Those with "+history" also read the answers before, as a user must
// ask for.
var ExecutedVariants = []string{"CPU", "NPU", "+G", "+SD", "+G+SD", "all", "all+history", "ours", "ours+history", "PLD", "EAGLE"}

// Kinds of rows: what a number is.
const (
	KindExecuted  = "executed"  // a run of the phone's path
	KindFitted    = "fitted"    // the same, but a parameter of the chip was fitted to the published number
	KindPredicted = "predicted" // a run whose decoding, or drafting, is a formula
)

// ExecutedRow is what a variant gave on a task's inputs. Times are the simulated phone's, except drafting.
type ExecutedRow struct {
	Kind         string        `json:"kind"`
	Task         string        `json:"task"`
	Words        string        `json:"words"`
	Disagreement report.Number `json:"disagreement,omitzero"` // share of a reference's tokens that the model would have said differently
	Acceptance   string        `json:"acceptance_of"`         // the model that gives tokens and acceptance
	CostsOf      string        `json:"costs_of"`              // the shape whose passes are charged
	SoC          string        `json:"soc"`
	Variant      string        `json:"variant"`

	Inputs int     `json:"inputs"`
	Prompt int     `json:"prompt_tokens"` // of all inputs, on the phone
	Read   int     `json:"read_tokens"`   // of them, those that the model read
	Tokens int     `json:"tokens"`        // of all answers
	Passes int     `json:"passes"`        // that decode
	Accept float64 `json:"accept_length"` // tokens of a pass that decodes
	Graph  int     `json:"graph_rows"`    // of the graph for decoding, of the last answer

	Valid         float64 `json:"valid"` // shares of the rows of passes that decode
	Wasted        float64 `json:"wasted"`
	Underutilised float64 `json:"underutilised"`

	// A request's times in ms, and its energy.
	Prefill     float64 `json:"prefill_ms"`     // on the graph for prompts alone
	Switch      float64 `json:"switch_ms"`      // what the change of graphs adds
	Calibration float64 `json:"calibration_ms"` // on the phone's CPU, and the choice of candidates here
	Decoding    float64 `json:"decoding_ms"`    // passes
	Drafting    float64 `json:"drafting_ms"`    // measured on this machine
	Opening     float64 `json:"opening_ms"`     // to bring back the graphs for prompts; not in TokenMs
	Loads       float64 `json:"graph_loads"`
	Waiting     float64 `json:"loading_wait_ms"` // for graphs, Opening included
	Joules      float64 `json:"joules"`          // above idle
	Memory      float64 `json:"memory_mb"`       // weights in 8 bits and KV cache in 16, at the end of the longest request

	TokenMs   float64       `json:"token_ms"`           // of Switch, Calibration, Decoding and Drafting together
	Gain      float64       `json:"gain"`               // over NPU, by TokenMs
	Request   float64       `json:"request_ms"`         // all of an answer, Opening and Prefill included
	Whole     float64       `json:"request_gain"`       // over NPU, by Request
	Worst     float64       `json:"worst"`              // the same for the input with the least
	Drafts    []int         `json:"drafts,omitempty"`   // how many passes verified 0, 1, 2, … drafts
	Published report.Number `json:"published,omitzero"` // ms a token
}

// executedRun is one answer on a phone.
type executedRun struct {
	*recordedAnswer
	prefill, decoding sim.Stats // what the phone did
	graph             int       // rows of its graph for decoding
}

// Run writes every answer once on this machine, in each way to draft, and lets every phone repeat it: the same prompt, the
// same trees in the same passes. On the phone nothing is computed but what its runtime decides, and many phones cost little.
func (x Executed) Run(ctx context.Context, progress report.Progress) (rows []ExecutedRow, err error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	done, all := 0, len(x.Tasks)*(1+len(x.SoCs)*len(x.Shapes))
	for _, task := range x.Tasks {
		var w recordedTask
		if w, err = x.write(ctx, task); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", task.Task, task.Words, err)
		}
		done++
		progress(done, all)
		for _, soc := range x.SoCs {
			for _, name := range x.Shapes {
				more, err := x.cell(ctx, soc, name, task, w)
				if err != nil {
					return nil, fmt.Errorf("%s, %s, %s (%s): %w", soc, name, task.Task, task.Words, err)
				}
				rows = append(rows, more...)
				done++
				progress(done, all)
			}
		}
	}
	return rows, nil
}

// cell lets one phone with a shape's costs repeat a task's answers. NPU and +G always run: others are compared with them.
func (x Executed) cell(ctx context.Context, soc, name string, task ExecutedTask, w recordedTask) (rows []ExecutedRow, err error) {
	shape, err := shapeIn(name, npu.Q8_0) // as the papers have it
	if err != nil {
		return nil, err
	}
	sum := variantSums{shape: shape, runs: map[string][]executedRun{}}
	if sum.costs, err = sim.Find(soc); err != nil {
		return nil, err
	}
	for _, strategy := range []string{"resident", "synchronous", "progressive"} {
		opt := phone.Options{Inner: nullDevice{}, Chip: soc, Switching: strategy, Unpaced: true, Chunk: prefillChunk, StandIn: &sim.StandIn{Shape: shape, Layers: w.layers}}
		if err := x.repeat(ctx, opt, w, &sum); err != nil {
			return nil, err
		}
	}
	for _, variant := range x.Variants {
		row := ExecutedRow{Task: task.Task, Words: task.Words.String(), Disagreement: w.others, Acceptance: x.Of, CostsOf: shape.Name, SoC: soc, Variant: variant, Inputs: len(w.answers), Worst: math.Inf(1)}
		row.kind()
		sum.row(&row)
		rows = append(rows, row)
	}
	return rows, nil
}

// repeat lets a phone with one strategy repeat the answers of the variants that have it. The one with room for all graphs gives
// the prompts' own times.
func (x Executed) repeat(ctx context.Context, opt phone.Options, w recordedTask, sum *variantSums) (err error) {
	longer := func(c *model.Config) { // nothing is computed, so positions that the model was not trained on do no harm
		c.Context = max(c.Context, x.Prompt+x.MaxTokens+decodeChunk)
	}
	m, d, err := x.Open(opt, longer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if opt.Switching == "resident" {
		sum.pure, err = pure(ctx, m, d, w)
		return err
	}
	for _, variant := range ExecutedVariants {
		synchronous := variant == "NPU" || variant == "+SD"
		needed := slices.Contains(x.Variants, variant) || variant == "NPU" || variant == "+G"
		if variant == "CPU" || !needed || synchronous != (opt.Switching == "synchronous") {
			continue
		}
		for i := range w.answers {
			r, err := repeatOn(ctx, m, d, w.answers[i], variant)
			if err != nil {
				return fmt.Errorf("%s, input %d: %w", variant, i+1, err)
			}
			sum.runs[variant] = append(sum.runs[variant], r)
		}
	}
	return nil
}

// pure returns the time of each prompt on a phone that has room for all graphs and changes none.
func pure(ctx context.Context, m *model.Model, d *phone.Device, w recordedTask) (times []time.Duration, err error) {
	for _, ways := range w.answers {
		r, err := repeatOn(ctx, m, d, ways, "NPU")
		if err != nil {
			return nil, err
		}
		times = append(times, r.prefill.Busy-r.prefill.Waiting)
	}
	return times, nil
}

// kind says what the row's number is.
func (r *ExecutedRow) kind() {
	r.Kind = KindExecuted
	if r.Variant == "CPU" || r.Variant == "EAGLE" {
		r.Kind = KindPredicted
	}
	if r.Task != "summary" || r.SoC != "sm8550/mllm" {
		return
	}
	for _, a := range Table3 {
		if a.Model == r.CostsOf && a.Variant == r.Variant {
			if r.Published = report.Is(a.Ms); a.fitted() != "" {
				r.Kind = KindFitted
			}
		}
	}
}

// variantSums sums the answers of a variant.
type variantSums struct {
	costs sim.Costs
	shape sim.Shape
	runs  map[string][]executedRun
	pure  []time.Duration // of the prompts, on their graphs alone
}

// row fills a row from its answers.
func (a variantSums) row(row *ExecutedRow) {
	runs := a.runs[row.Variant]
	if row.Variant == "CPU" {
		runs = a.runs["NPU"]
	}
	var ownMs, plainMs, plainWhole float64
	decoded := 0
	for i, r := range runs {
		n := len(r.prompt)
		t := a.times(row.Variant, i)
		row.Prompt, row.Read, row.Tokens, row.Passes, row.Graph = row.Prompt+n, row.Read+r.read, row.Tokens+len(r.said), row.Passes+r.stats.Passes, r.graph
		row.Prefill += msOf(a.pure[i])
		row.Switch, row.Calibration, row.Decoding, row.Drafting = row.Switch+t.change, row.Calibration+t.calibration, row.Decoding+t.decoding, row.Drafting+t.drafting
		row.Opening, row.Loads, row.Waiting = row.Opening+msOf(r.prefill.Opening), row.Loads+float64(r.prefill.Switches+r.decoding.Switches), row.Waiting+msOf(r.prefill.Waiting+r.decoding.Waiting)
		row.Joules += t.joules
		row.Memory = max(row.Memory, (a.shape.Parameters()+4*float64(n+len(r.said))*float64(a.shape.Layers*a.shape.KVHeads*a.shape.HeadDim))/1e6)
		decoded += r.stats.Tokens
		row.countDrafts(r.trees)
		ownMs, plainMs = ownMs+t.sum(), plainMs+a.times("NPU", i).sum()
		own, plain := a.whole(row.Variant, i), a.whole("NPU", i)
		row.Request, plainWhole = row.Request+own, plainWhole+plain
		row.Worst = min(row.Worst, plain/own)
	}
	row.Whole = plainWhole / row.Request
	row.Accept = float64(decoded) / float64(max(1, row.Passes))
	row.TokenMs, row.Gain = ownMs/float64(max(1, row.Tokens)), plainMs/ownMs
	if row.Variant == "CPU" { // the NPU keeps its graphs for prompts
		row.Graph, row.Opening, row.Loads, row.Waiting = 1, 0, 0, 0
	} else {
		row.shares(runs)
	}
	for _, v := range []*float64{&row.Prefill, &row.Switch, &row.Calibration, &row.Decoding, &row.Drafting, &row.Opening, &row.Request, &row.Loads, &row.Waiting, &row.Joules} {
		*v /= float64(len(runs))
	}
}

// shares fills in how full the passes that decode were.
func (row *ExecutedRow) shares(runs []executedRun) {
	var valid, used, all int
	for _, r := range runs {
		for _, g := range r.decoding.Graphs {
			used, all = used+g.Rows, all+g.Size*g.Runs
		}
		valid += r.stats.Tokens * r.layers() // the token before the drafts counts for the one after them
	}
	if all > 0 {
		row.Valid, row.Wasted, row.Underutilised = float64(valid)/float64(all), float64(used-valid)/float64(all), 1-float64(used)/float64(all)
	}
}

// layers is how many runs of layers a pass has.
func (r executedRun) layers() int {
	runs := 0
	for _, g := range r.decoding.Graphs {
		runs += g.Runs
	}
	return runs / max(1, r.stats.Passes)
}

// countDrafts adds up how many passes verified how many drafts.
func (row *ExecutedRow) countDrafts(trees []draftTree) {
	for _, t := range trees {
		for len(row.Drafts) <= len(t.tokens) {
			row.Drafts = append(row.Drafts, 0)
		}
		row.Drafts[len(t.tokens)]++
	}
}

// requestTimes are those of one answer, in ms.
type requestTimes struct{ change, calibration, decoding, drafting, joules float64 }

// sum is the time that counts for the tokens.
func (t requestTimes) sum() float64 { return t.change + t.calibration + t.decoding + t.drafting }

// whole is the time of a variant's answer to an input from the question to the last token, in ms.
func (a variantSums) whole(variant string, input int) float64 {
	sum := a.times(variant, input).sum() + msOf(a.pure[input])
	if variant != "CPU" { // whose NPU has only the graphs for prompts
		sum += msOf(a.runs[variant][input].prefill.Opening)
	}
	return sum
}

// times returns a variant's times of an input.
func (a variantSums) times(variant string, input int) (t requestTimes) {
	if variant == "CPU" {
		return a.onCPU(input)
	}
	r := a.runs[variant][input]
	t.calibration = msOf(r.prefill.Transient + r.calibrating)
	t.change = msOf(r.prefill.Busy - r.prefill.Opening - r.prefill.Transient - a.pure[input])
	t.decoding, t.drafting = msOf(r.decoding.Busy), msOf(r.stats.Drafting)
	t.joules = r.prefill.Joules + r.decoding.Joules + (r.stats.Drafting+r.calibrating).Seconds()*a.costs.CPUWatts
	if variant == "EAGLE" { // its drafter is a layer and the head (CoordGen §4.1)
		share := (a.shape.LayerParameters()/float64(a.shape.Layers) + a.shape.HeadParameters()) / a.shape.Parameters()
		one := a.runs["+G"][input].decoding
		passes := time.Duration(spec.EagleDepth * float64(r.stats.Passes) * share * float64(one.Busy) / float64(max(1, a.runs["+G"][input].stats.Passes)))
		t.drafting = msOf(passes)
		t.joules += passes.Seconds() * a.costs.NPUWatts
	}
	return t
}

// onCPU is the time of an answer whose prompt the NPU reads and whose tokens the CPU decodes, with products and attention at
// the chip's rates. There is no change of graphs.
func (a variantSums) onCPU(input int) (t requestTimes) {
	r := a.runs["NPU"][input]
	var took time.Duration
	for i := range r.stats.Passes {
		took += a.costs.CPUProducts(1, a.shape.Parameters(), a.shape.Parameters())
		took += time.Duration(a.shape.Layers) * a.costs.CPUAttention(1, len(r.prompt)+i+1, a.shape.Heads*a.shape.HeadDim, a.shape.KVHeads*a.shape.HeadDim)
	}
	t.decoding = msOf(took)
	t.joules = r.prefill.Joules + took.Seconds()*a.costs.CPUWatts
	return t
}
