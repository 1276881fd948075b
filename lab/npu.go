package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/lab/chart"
	"tandem/npu"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// NPU plays graph switching and the memory runtime on a simulated phone, and compares the simulator with
// published figures. What decides is the code that a phone would run (npu/phone/plan, npu/phone/memory); only time is
// made up.
type NPU struct {
	SoCs         []string // chips with stacks of the switching experiment; pictures are of the first
	MemorySoC    string   // of the memory experiment
	Chunk, Small int      // rows of G¹ and G²
	Blocks       []int
	Chunks       int // 1 to this many
	Nodes        int // bound of the exact search
	// Native runs a prompt on this machine with the share of the weights in memory, 0 for no bound, staged or
	// paged. nil leaves that out.
	Native func(ctx context.Context, share float64, paging bool) (NativeRun, error)
	// Accept measures accept lengths for sd.npu's Table 3. nil leaves that out.
	Accept func(ctx context.Context) (AcceptLengths, error)

	files sim.Files // the parameters, nil for those of package sim
}

// chip returns a chip's costs.
func (x NPU) chip(name string) (sim.Costs, error) {
	if x.files == nil {
		return sim.Find(name)
	}
	return x.files.Find(name)
}

// NativeRun is a text generated with bounded memory.
type NativeRun struct {
	Tokens   []int
	Weights  int64 // of the model
	Counters memory.Counters
	Took     time.Duration
}

// Switching is one prefill with its switch of graphs.
type Switching struct {
	SoC       string `json:"soc"`
	Model     string `json:"model"`
	Blocks    int    `json:"blocks"`
	Chunks    int    `json:"chunks"`
	Strategy  string `json:"strategy"`
	Total     Number `json:"total_ms"`
	Prefill   Number `json:"prefill_ms"` // on G¹ alone
	Bound     Number `json:"bound_ms"`   // max(compute, load): no switch is faster; resident, which switches nothing, may be
	Optimum   Number `json:"optimum_ms"` // of a switch, by branch and bound; null where not searched
	Hidden    Number `json:"hidden"`     // share of the load during which something computed
	Condition bool   `json:"condition"`  // the papers' condition allows to hide every load: see coverable
}

// Memory is one runtime under one budget.
type Memory struct {
	Model    string `json:"model"`
	Budget   Number `json:"budget"` // share of the weights
	BudgetMB Number `json:"budget_mb"`
	Runtime  string `json:"runtime"`       // staging, paging (LRU, the baseline), both simulated; native, native paging: on this machine
	Mapped   Number `json:"mapped_mb"`     // at most
	Sessions Number `json:"sessions"`      // simulated: of the NPU, at least, as each maps no more than its address window
	Once     Number `json:"mappings_once"` // made at the start; none lies in two sessions
	Mappings Number `json:"mappings_per_step"`
	Stall    Number `json:"stall_ms"` // of a step
	Step     Number `json:"step_ms"`
	Same     *bool  `json:"identical_text,omitempty"` // native: as without a bound
	Note     string `json:"note,omitempty"`
}

// NPUData is what the experiment gives to programs.
type NPUData struct {
	Simulated  bool              `json:"simulated"` // all but rows of the runtime "native"
	Switching  []Switching       `json:"switching"`
	Memory     []Memory          `json:"memory"`
	Ablation   []Ablated         `json:"ablation,omitempty"` // of sd.npu's Table 3, with accept lengths measured here
	Accept     *AcceptLengths    `json:"accept_lengths,omitempty"`
	Validation []PublishedFigure `json:"validation"`
	Summary    []SourceErrors    `json:"validation_summary"` // the last is of all sources
	Parameters []ChipOrigins     `json:"parameters"`         // the last is of all chips
}

// Run plays everything.
func (x NPU) Run(ctx context.Context, progress Progress) (Result, NPUData, error) {
	data := NPUData{Simulated: true}
	r := Result{Name: "npu", Title: "A phone's NPU: switching graphs, little memory, and how far to trust this", Simulated: true}
	if progress == nil {
		progress = func(int, int) {}
	}
	steps := []func(context.Context, *Result, *NPUData) error{x.switching, x.gantt, x.memory, x.native, x.ablation, x.validate}
	for i, step := range steps {
		if err := ctx.Err(); err != nil {
			return r, data, err
		}
		progress(i, len(steps))
		if err := step(ctx, &r, &data); err != nil {
			return r, data, err
		}
	}
	r.About = fmt.Sprintf("Prefill in chunks of %d on graph G¹, decoding on G² of %d rows, on simulated chips; the planner is the one that a phone would run. Weights beyond a memory budget pass through two staging slots on a simulated %s. The last table sets the simulator beside the numbers in the papers' text and those of three engines, whether they fit or not, and lists what it cannot predict.", x.Chunk, x.Small, x.MemorySoC)
	return r, data, nil
}

// switchingShapes are the models of sd.npu's evaluation.
var switchingShapes = []string{"Qwen2.5-0.5B", "Qwen2.5-1.5B", "Llama-3.2-3B"}

// switchingStrategies: the papers' four, and the plain rule of their Eq. 2 that progressive improves on.
var switchingStrategies = []plan.Strategy{plan.Synchronous, plan.Asynchronous, plan.Resident, plan.Progressive, plan.Greedy}

// coverable is the papers' condition (Eq. 1) where it holds for every block at once: what the other blocks
// compute of one chunk covers a block's load, and the prefill has room for all loads one after the other.
func coverable(p plan.Problem) bool {
	var round time.Duration
	for _, b := range p.Blocks {
		round += b.Large
	}
	var least time.Duration = math.MaxInt64
	for _, b := range p.Blocks {
		if b.Load > round-b.Large {
			return false
		}
		least = min(least, b.Large)
	}
	// The first block that changes has to compute its last chunk on G¹ first, or change before the first.
	return p.Loads() <= p.Prefill()-least
}

func (x NPU) switching(ctx context.Context, r *Result, data *NPUData) error {
	for i, soc := range x.SoCs {
		c, err := x.chip(soc)
		if err != nil {
			return err
		}
		from := len(data.Switching)
		for _, name := range switchingShapes {
			s, err := sim.FindShape(name)
			if err != nil {
				return err
			}
			s.Type, s.HeadType = npu.Q8_0, npu.Q8_0
			for _, n := range x.Blocks {
				rows, err := x.cut(ctx, c, s, n)
				if err != nil {
					return err
				}
				data.Switching = append(data.Switching, rows...)
				if i == 0 {
					r.Figures = append(r.Figures, Figure{fmt.Sprintf("npu-switching-%s-%d", name, n), drawSwitching(rows)})
				}
			}
		}
		r.Findings = append(r.Findings, switchingFinding(soc, data.Switching[from:]))
	}
	r.Tables = append(r.Tables, switchingTable(data.Switching))
	return nil
}

// cut plays a model in n blocks with 1 to x.Chunks chunks, by all strategies.
func (x NPU) cut(ctx context.Context, c sim.Costs, s sim.Shape, n int) (rows []Switching, err error) {
	for chunks := 1; chunks <= x.Chunks; chunks++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := Problem(c, s, n, chunks, x.Chunk, x.Small)
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("lab: %s: %w", s.Name, err)
		}
		var optimum Number
		if n <= 8 && chunks <= 4 {
			if pl, ok := p.Exact(x.Nodes); ok {
				optimum = Ms(p.Simulate(pl).Total())
			}
		}
		for _, st := range switchingStrategies {
			t := p.Simulate(p.Plan(st))
			rows = append(rows, Switching{SoC: c.SoC + "/" + c.Stack, Model: s.Name, Blocks: n, Chunks: chunks, Strategy: st.String(), Total: Ms(t.Total()),
				Prefill: Ms(p.Prefill()), Bound: Ms(p.Bound()), Optimum: optimum, Hidden: Is(t.Hidden()), Condition: coverable(p)})
		}
	}
	return rows, nil
}

// switchingFinding says how progressive switching does.
func switchingFinding(soc string, rows []Switching) string {
	hidden, allowed, farthest, searched := 1.0, 0, 0.0, 0
	for _, s := range rows {
		if s.Strategy != plan.Progressive.String() {
			continue
		}
		if s.Condition {
			hidden, allowed = min(hidden, s.Hidden.Value), allowed+1
		}
		if s.Optimum.Known {
			farthest, searched = max(farthest, s.Total.Value/s.Optimum.Value-1), searched+1
		}
	}
	text := fmt.Sprintf("%s (simulated): progressive switching takes at most %.1f %% longer than the optimum in the %d prefills of at most 8 blocks and 4 chunks", soc, 100*farthest, searched)
	if allowed == 0 {
		return text + "; the papers' condition, loads short enough to hide, holds in none of them."
	}
	return text + fmt.Sprintf("; it hides at least %.1f %% of the loads in the %d prefills where the papers' condition holds.", 100*hidden, allowed)
}

// drawSwitching draws a line for each strategy over the chunks.
func drawSwitching(rows []Switching) []byte {
	first := rows[0]
	plot := chart.Plot{Title: fmt.Sprintf("%s in %d blocks on %s (simulated)", first.Model, first.Blocks, first.SoC), X: "chunks of the prompt", Y: "prefill and switch (s)"}
	for i, st := range switchingStrategies {
		plot.Lines = append(plot.Lines, chart.Line{Name: st.String(), Color: i})
	}
	bound := chart.Line{Name: "lower bound of a switch", Color: len(switchingStrategies), Dashed: true}
	for i, s := range rows {
		at := chart.Point{X: float64(s.Chunks), Y: s.Total.Value / 1000}
		l := &plot.Lines[i%len(switchingStrategies)]
		l.Points = append(l.Points, at)
		if i%len(switchingStrategies) == 0 {
			at.Y = s.Bound.Value / 1000
			bound.Points = append(bound.Points, at)
		}
	}
	plot.Lines = append(plot.Lines, bound)
	return plot.SVG()
}

func switchingTable(rows []Switching) Table {
	t := Table{Name: "npu-switching", Title: "Prefill and switch (simulated)",
		Columns: []string{"soc", "model", "blocks", "chunks", "strategy", "total_ms", "prefill_ms", "bound_ms", "optimum_ms", "hidden", "condition"}}
	for _, s := range rows {
		t.Rows = append(t.Rows, []string{s.SoC, s.Model, strconv.Itoa(s.Blocks), strconv.Itoa(s.Chunks), s.Strategy, s.Total.brief(), s.Prefill.brief(),
			s.Bound.brief(), s.Optimum.brief(), s.Hidden.brief(), strconv.FormatBool(s.Condition)})
	}
	return t
}

// brief has at most three digits after the point.
func (n Number) brief() string {
	if !n.Known {
		return ""
	}
	return strconv.FormatFloat(math.Round(n.Value*1e3)/1e3, 'f', -1, 64)
}

// gantt draws one prefill by three strategies, after CoordGen's Figure 8.
func (x NPU) gantt(_ context.Context, r *Result, _ *NPUData) error {
	if len(x.SoCs) == 0 {
		return nil
	}
	c, err := x.chip(x.SoCs[0])
	if err != nil {
		return err
	}
	s, err := sim.FindShape("Qwen2.5-1.5B")
	if err != nil {
		return err
	}
	s.Type, s.HeadType = npu.Q8_0, npu.Q8_0
	p := Problem(c, s, 6, 2, x.Chunk, x.Small)
	picture := chart.Timeline{Title: "Qwen2.5-1.5B, 6 blocks, 2 chunks on " + x.SoCs[0] + " (simulated)", X: "time (s)",
		Legend: []chart.Line{{Name: "compute on G¹", Color: 0}, {Name: "compute on G²", Color: 2}, {Name: "load G²", Color: 1}}}
	for _, st := range []plan.Strategy{plan.Synchronous, plan.Asynchronous, plan.Progressive} {
		t := p.Simulate(p.Plan(st))
		compute, load := chart.Lane{Name: st.String()}, chart.Lane{Name: "  loads"}
		for _, span := range t.Spans {
			b := chart.Span{From: span.Start.Seconds(), To: span.End.Seconds(), Text: "P" + strconv.Itoa(span.Block+1),
				Title: fmt.Sprintf("block %d, chunk %d, %v to %v", span.Block+1, span.Chunk+1, span.Start.Round(time.Millisecond), span.End.Round(time.Millisecond))}
			if span.Load {
				b.Color = 1
				load.Spans = append(load.Spans, b)
				continue
			}
			if span.Small {
				b.Color = 2
			}
			compute.Spans = append(compute.Spans, b)
		}
		picture.Lanes = append(picture.Lanes, compute, load)
		picture.To = max(picture.To, t.Total().Seconds())
	}
	r.Figures = append(r.Figures, Figure{"npu-gantt", picture.SVG()})
	return nil
}

// budgets of the memory experiment, as shares of the weights.
var budgets = []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1}

// memory plays steps of block diffusion, llada.cpp's load: 64 rows at once through LLaDA-8B.
func (x NPU) memory(_ context.Context, r *Result, data *NPUData) error {
	c, err := x.chip(x.MemorySoC)
	if err != nil {
		return err
	}
	s, err := sim.FindShape("LLaDA-8B")
	if err != nil {
		return err
	}
	s.Type, s.HeadType = npu.Q4_0, npu.Q4_0
	sizes, uses := Weights(c, s, 64, 256)
	var total int64
	for _, b := range sizes {
		total += b
	}
	costs := memory.Costs{PerByte: 1e9 / c.Stage, PerMapping: c.Map, MapPerByte: 1e9 / c.MapRate}
	plot := chart.Plot{Title: "LLaDA-8B, 64 rows a step on " + x.MemorySoC + " (simulated)", X: "budget (% of the weights)", Y: "stall of a step (ms)"}
	plot.Lines = []chart.Line{{Name: "staging, placed by the profile", Color: 0}, {Name: "paging only (LRU)", Color: 1}}
	at50 := [2]float64{}
	for _, share := range budgets {
		budget := int64(math.Ceil(share * float64(total)))
		if share == 1 {
			budget = math.MaxInt64 / 2 // alignment included
		}
		placement, err := memory.Place(sizes, uses, costs, budget)
		if err != nil {
			return fmt.Errorf("lab: %w", err)
		}
		order, placement := memory.Reorder(sizes, uses, placement, costs)
		fixed := placement.Fixed(sizes, c.Window)
		for i, runtime := range []string{"staging", "paging"} {
			play := func(steps int) memory.Counters {
				if runtime == "staging" {
					return memory.Replay(memory.NewStaging(placement), sizes, order, costs, steps, fixed)
				}
				return memory.Replay(memory.NewLRU(func(o int) int64 { return sizes[o] }, budget), sizes, uses, costs, steps, memory.Counters{})
			}
			const warm, steps = 2, 4
			all := play(warm + steps)
			d := all.Sub(play(warm))
			stall := msOf(d.Stall) / steps
			m := Memory{Model: s.Name, Budget: Is(share), BudgetMB: Is(math.Round(share * float64(total) / 1e6)), Runtime: runtime,
				Mapped: Is(float64(all.Peak) / 1e6), Mappings: Is(float64(d.Mappings) / steps), Stall: Is(stall), Step: Is(msOf(d.Time) / steps)}
			if m.Once = Is(0); runtime == "staging" {
				m.Once = Is(float64(fixed.Mappings))
			}
			m.sessions(c, all.Peak)
			data.Memory = append(data.Memory, m)
			plot.Lines[i].Points = append(plot.Lines[i].Points, chart.Point{X: 100 * share, Y: stall})
			if share == .5 {
				at50[i] = stall
			}
		}
	}
	r.Figures = append(r.Figures, Figure{"npu-memory", plot.SVG()})
	r.Findings = append(r.Findings, fmt.Sprintf("With half of the weights in memory a step stalls for %.0f ms with staging and for %.0f ms with paging alone (simulated).", at50[0], at50[1]))
	return nil
}

// sessions says how many sessions of the NPU hold what is mapped. The papers' runtime has one, and stages what
// its window does not hold: with more than one the row shows another phone software.
func (m *Memory) sessions(c sim.Costs, mapped int64) {
	n := (mapped + c.Window - 1) / c.Window
	m.Sessions = Is(float64(n))
	switch mib := c.Window >> 20; {
	case n > int64(c.Sessions):
		m.Note = fmt.Sprintf("cannot be mapped: the chip has %d sessions of %d MiB", c.Sessions, mib)
	case n > 1:
		m.Note = fmt.Sprintf("beyond one session's window of %d MiB: needs weights spread over %d sessions; with one, at most %d MiB are mapped and the rest is staged", mib, n, mib)
	}
}

// Weights are the objects that a model's products read, in order, with what the NPU computes from one to
// the next. Products of one input may change places.
func Weights(c sim.Costs, s sim.Shape, rows, context int) (sizes []int64, uses []memory.Use) {
	group := 0
	for _, g := range s.Blocks(rows, false) {
		input := npu.Value(-1)
		first := len(uses)
		var products time.Duration
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if n.Op != npu.OpMatMul {
				continue
			}
			if n.Args[0] != input {
				input, group = n.Args[0], group+1
			}
			b := c.WeightBytes(n.Weight)
			t := c.Product(g.Chunk, n.Weight.Cols, n.Weight.Rows, b)
			uses = append(uses, memory.Use{Object: len(sizes), Compute: t, Group: group})
			sizes = append(sizes, b)
			products += t
		}
		// What the block does beside products lies between them.
		rest := (c.Graph(g, context).Time() - products) / time.Duration(max(1, len(uses)-first))
		for i := range uses[first:] {
			uses[first+i].Compute += max(0, rest)
		}
	}
	return sizes, uses
}

// nativeBudgets are the shares of the weights that are held on this machine.
var nativeBudgets = []float64{.1, .25, .5, .75, 1}

// native runs a model that is larger than its budgets on this machine.
func (x NPU) native(ctx context.Context, r *Result, data *NPUData) error {
	defer func() { r.Tables = append(r.Tables, memoryTable(data.Memory)) }()
	if x.Native == nil {
		return nil
	}
	free, err := x.Native(ctx, 0, false)
	if err != nil {
		return err
	}
	all, half := true, [2]Memory{}
	for _, share := range nativeBudgets {
		for i, runtime := range []string{"native", "native paging"} {
			run, err := x.Native(ctx, share, i == 1)
			if err != nil {
				return fmt.Errorf("with %.0f %% of the weights in memory: %w", 100*share, err)
			}
			m := run.row(share, runtime, slices.Equal(free.Tokens, run.Tokens))
			if all = all && *m.Same; share == .5 {
				half[i] = m
			}
			data.Memory = append(data.Memory, m)
		}
	}
	text := "the same text"
	if !all {
		text = "ANOTHER text"
	}
	r.Findings = append(r.Findings, fmt.Sprintf("On this machine (not simulated) a model of twice its memory budget gives %s as without a bound: at most %.1f MB mapped of %.1f MB; a step stalls for %.2f ms with staging and for %.2f ms with paging alone.",
		text, half[0].Mapped.Value, float64(free.Weights)/1e6, half[0].Stall.Value, half[1].Stall.Value))
	return nil
}

// row is what the run gives to the table.
func (n NativeRun) row(share float64, runtime string, same bool) Memory {
	c, steps := n.Counters, float64(max(1, n.Counters.Steps))
	return Memory{Model: "on this machine", Budget: Is(share), BudgetMB: Is(share * float64(n.Weights) / 1e6), Runtime: runtime,
		Mapped: Is(float64(c.Peak) / 1e6), Mappings: Is(float64(c.Mappings) / steps), Stall: Is(msOf(c.Stall) / steps), Step: Is(msOf(n.Took) / steps), Same: &same,
		Note: fmt.Sprintf("measured, not simulated: %d tokens in %d steps", len(n.Tokens), c.Steps)}
}

func memoryTable(rows []Memory) Table {
	t := Table{Name: "npu-memory", Title: "Memory runtime (simulated, but for native rows)",
		Columns: []string{"model", "budget", "budget_mb", "runtime", "mapped_mb", "sessions", "mappings_once", "mappings_per_step", "stall_ms", "step_ms", "identical_text", "note"}}
	for _, m := range rows {
		same := ""
		if m.Same != nil {
			same = strconv.FormatBool(*m.Same)
		}
		t.Rows = append(t.Rows, []string{m.Model, m.Budget.brief(), m.BudgetMB.brief(), m.Runtime, m.Mapped.brief(), m.Sessions.brief(), m.Once.brief(), m.Mappings.brief(), m.Stall.brief(), m.Step.brief(), same, m.Note})
	}
	return t
}

// validate sets the simulator beside published figures, and says where its parameters come from.
func (x NPU) validate(_ context.Context, r *Result, data *NPUData) error {
	figures, err := Validate(data.Accept)
	if err != nil {
		return err
	}
	data.Validation, data.Summary = figures, Summarise(figures)
	if data.Parameters, err = chipOrigins(); err != nil {
		return err
	}
	r.Tables = append(r.Tables, summaryTable(data.Summary), originsTable(data.Parameters), validationTable(figures))
	all := data.Summary[len(data.Summary)-1]
	r.Findings = append(r.Findings,
		fmt.Sprintf("Of %d published figures that the simulator predicts and was not fitted to, it meets %d within 10 %% and %d within 25 %%; half of the errors are below %.0f %%, the worst is %.0f %%. Not among them: %d that parameters were fitted to, %d that its rules or parameters say anyway, %d that repeat another, %d that drafting measured here stands beside, %d that it cannot predict.",
			all.Compared, all.Within10, all.Within25, 100*all.Median.Value, 100*all.Worst.Value, all.Fitted, all.Given, all.Repeated, all.Measured, all.Open),
		bySource(data.Summary),
		"Many of these figures are of one measurement: eight use cases of one table, ranges of the same cells. The sources' medians say more than their sum.",
		brokenBounds(all, figures), wrongSide(figures), parametersFinding(data.Parameters))
	r.Findings = append(r.Findings, ablationFindings(figures)...)
	return nil
}

// validationTable is one row for each figure.
func validationTable(figures []PublishedFigure) Table {
	t := Table{Name: "npu-validation", Title: "The simulator beside published figures", Columns: []string{"figure", "unit", "kind", "published", "predicted", "error", "fitted", "note"}}
	for _, f := range figures {
		published, e := f.Published.brief(), ""
		switch {
		case f.Upper.Known:
			published += " to " + f.Upper.brief()
		case f.Side != "":
			published = f.Side + " " + published
		}
		switch {
		case f.Error.Known:
			e = fmt.Sprintf("%+.1f %%", 100*f.Error.Value)
		case f.Holds != nil && *f.Holds:
			e = "holds"
		case f.Holds != nil:
			e = "CONTRADICTED"
		}
		t.Rows = append(t.Rows, []string{f.Figure, f.Unit, string(f.Kind), published, f.Predicted.brief(), e, strconv.FormatBool(f.Fitted), f.Note})
	}
	return t
}

// summaryTable is one row for each source.
func summaryTable(sums []SourceErrors) Table {
	t := Table{Name: "npu-validation-summary", Title: "Errors of the simulator by source",
		Columns: []string{"source", "compared", "within_10_percent", "within_25_percent", "median_error", "worst_error", "fitted", "bounds", "bounds_broken", "given", "repeated", "measured", "open"}}
	for _, s := range sums {
		row := []string{s.Source}
		for _, n := range []int{s.Compared, s.Within10, s.Within25} {
			row = append(row, strconv.Itoa(n))
		}
		row = append(row, s.Median.brief(), s.Worst.brief())
		for _, n := range []int{s.Fitted, s.Bounds, s.Broken, s.Given, s.Repeated, s.Measured, s.Open} {
			row = append(row, strconv.Itoa(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// bySource gives each source's errors.
func bySource(sums []SourceErrors) string {
	var parts []string
	for _, s := range sums[:len(sums)-1] {
		if s.Compared == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d figures, %d within 10 %%, %d within 25 %%, median %.0f %%, worst %.0f %%", s.Source, s.Compared, s.Within10, s.Within25, 100*s.Median.Value, 100*s.Worst.Value))
	}
	return "Errors by source: " + strings.Join(parts, "; ") + "."
}

// brokenBounds names the statements that the simulator contradicts.
func brokenBounds(all SourceErrors, figures []PublishedFigure) string {
	var broken []string
	for _, f := range figures {
		if f.Holds != nil && !*f.Holds {
			broken = append(broken, fmt.Sprintf("%s (%s %s, predicted %.3g)", f.Figure, f.Side, f.Published.brief(), f.Predicted.Value))
		}
	}
	text := fmt.Sprintf("Of %d statements that bound a figure on one side, which count as no error, the simulator contradicts %d", all.Bounds, all.Broken)
	if len(broken) == 0 {
		return text + "."
	}
	return text + ": " + strings.Join(broken, "; ") + "."
}

// wrongSide counts what is published as an advantage and comes out as none.
func wrongSide(figures []PublishedFigure) string {
	n, all := 0, 0
	for _, f := range figures {
		if f.Kind == Compared && f.Unit == "×" && f.Published.Value > 1 {
			if all++; f.Predicted.Value <= 1 {
				n++
			}
		}
	}
	return fmt.Sprintf("Of %d published factors above 1 (times faster, times less energy) the simulator puts %d at 1 or below: it should not be asked whether a technique pays.", all, n)
}

// ChipOrigins says where the values of one chip's parameter file come from.
type ChipOrigins struct {
	SoC string `json:"soc"` // or "all"
	sim.Origins
}

// chipOrigins counts each chip's values, and all in the last.
func chipOrigins() (out []ChipOrigins, err error) {
	all := ChipOrigins{SoC: "all"}
	for _, name := range sim.Names() {
		s, err := sim.Open(name)
		if err != nil {
			return nil, err
		}
		out = append(out, ChipOrigins{name, s.Origins()})
		all.Origins = all.Plus(s.Origins())
	}
	return append(out, all), nil
}

// originsTable is one row for each chip.
func originsTable(chips []ChipOrigins) Table {
	t := Table{Name: "npu-parameters", Title: "Where the chips' parameters come from", Columns: []string{"soc", "values", "sourced", "fitted", "carried", "carried_from_fits"}}
	for _, c := range chips {
		t.Rows = append(t.Rows, []string{c.SoC, strconv.Itoa(c.Sum()), strconv.Itoa(c.Sourced), strconv.Itoa(c.Fitted), strconv.Itoa(c.Carried), strconv.Itoa(c.OfFits)})
	}
	return t
}

// parametersFinding gives the shares.
func parametersFinding(chips []ChipOrigins) string {
	all := chips[len(chips)-1]
	share := func(n int) float64 { return 100 * float64(n) / float64(all.Sum()) }
	return fmt.Sprintf("Of the %d values of the chips' parameters %d (%.0f %%) have a source or say how a stack works, %d (%.0f %%) were fitted to published figures and %d (%.0f %%) are carried over from another chip or stack with the reason, %d of these from a fit.",
		all.Sum(), all.Sourced, share(all.Sourced), all.Fitted, share(all.Fitted), all.Carried, share(all.Carried), all.OfFits)
}
