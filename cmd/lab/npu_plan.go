package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	npuphone "tandem/npu/phone"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/chart"
	"tandem/lab/phone"
	"tandem/model"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

type npuPlan struct {
	modelcmd.ModelFlags `group:"Model:"`
	SoC                 string `name:"soc" help:"Simulate a chip: sm8550, sm8650, sm8750 or sm8850, alone or with a stack, such as sm8650/mllm. Default: measure and execute every plan on this machine." placeholder:"NAME"`
	Blocks              int    `help:"Number of blocks of layers." default:"6"`
	Chunks              int    `help:"Number of chunks of the prompt." default:"2"`
	Large               int    `help:"Tokens of a chunk: the rows of the graph for prompts, G¹." default:"256"`
	Small               int    `help:"Rows of the graph for decoding, G²." default:"32"`
	Output              string `short:"o" help:"Draw the plans as a Gantt chart (SVG)." type:"path" placeholder:"FILE"`
}

func (c *npuPlan) Help() string {
	return `Examples:
  lab npu plan --model qwen2.5-1.5b-instruct-q4_0.gguf --soc sm8650 --blocks 6 --chunks 2 -o plan.svg
  lab npu plan --soc sm8750 --blocks 2 --chunks 4 --json
  lab npu plan --blocks 3 --large 64 --small 8      # this machine, really executed

"hidden" is the share of the loading time during which something computes. No plan that switches graphs can beat the bound, which is the time of all computation on the faster graph or of all loading, whichever is longer. The strategy resident keeps both graphs loaded, which takes twice the memory, and can be faster. The optimum is shown if the search for it ends in time.`
}

// planRow is a strategy's plan with its times.
type planRow struct {
	Strategy string  `json:"strategy"`
	Total    float64 `json:"total_ms"`
	Stall    float64 `json:"stall_ms"`
	Hidden   float64 `json:"hidden"`
	Switch   []int   `json:"switch"`
	Measured float64 `json:"measured_ms,omitempty"` // when it was executed

	line plan.Timeline
}

// exactNodes limits the search for the optimum to some seconds.
const exactNodes = 20_000_000

func (c *npuPlan) Run(a *cli.App) (err error) {
	if c.Chunks < 1 || c.Chunks > 1000 || c.Large < 1 || c.Small < 1 || c.Small > c.Large {
		return fmt.Errorf("--chunks %d --large %d --small %d: want at least one chunk, and --small at most --large", c.Chunks, c.Large, c.Small)
	}
	m, device, err := c.OpenWithDevice(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	where := "this machine"
	var p plan.Problem
	var s *npuphone.Switcher
	if c.SoC == "" {
		where += ", " + m.Device()
		p, s, err = c.measured(a, m, device)
	} else {
		p, where, err = c.simulated(m)
	}
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return err
	}
	a.Progress("searching the optimum")
	best, exact := p.Exact(exactNodes)
	a.Clear()
	var rows []planRow
	for _, strategy := range plan.Strategies {
		rows = append(rows, newPlanRow(p, p.Plan(strategy)))
	}
	if exact {
		rows = append(rows, newPlanRow(p, best))
	}
	if s != nil {
		if err := c.execute(a, m, s, rows); err != nil {
			return err
		}
	}
	if c.Output != "" {
		if err := a.WriteOutput(c.Output, gantt(where, p, rows), 0o644); err != nil {
			return err
		}
	}
	return c.print(a, where, p, rows)
}

// newPlanRow simulates a plan.
func newPlanRow(p plan.Problem, pl plan.Plan) planRow {
	line := p.Simulate(pl)
	return planRow{Strategy: pl.Strategy.String(), Total: tandem.Milliseconds(line.Total()), Stall: tandem.Milliseconds(line.Stall), Hidden: line.Hidden(), Switch: pl.Switch, line: line}
}

// measured measures the blocks on this machine.
func (c *npuPlan) measured(a *cli.App, m *model.Model, device *npuphone.Device) (plan.Problem, *npuphone.Switcher, error) {
	if need := c.Chunks * c.Large; need > m.Config().Context {
		return plan.Problem{}, nil, fmt.Errorf("%d chunks of %d tokens exceed the model's context of %d: lower --chunks or --large", c.Chunks, c.Large, m.Config().Context)
	}
	if c.Memory > 0 {
		return plan.Problem{}, nil, errors.New("with --npu-memory the weights are staged already: leave it out to switch graphs")
	}
	s, err := npuphone.NewSwitcher(device, m.Graphs(c.Large), m.Graphs(c.Small), c.Blocks)
	if err != nil {
		return plan.Problem{}, nil, err
	}
	a.Progress("measuring the blocks")
	defer a.Clear()
	p, err := s.Problem(a, c.Chunks*c.Large)
	return p, s, err
}

// simulated takes the times of the blocks from the simulator of a chip.
func (c *npuPlan) simulated(m *model.Model) (plan.Problem, string, error) {
	costs, err := sim.Find(c.SoC)
	if err != nil {
		return plan.Problem{}, "", fmt.Errorf("--soc: %w", err)
	}
	if c.Blocks < 1 || c.Blocks > m.Config().Layers {
		return plan.Problem{}, "", fmt.Errorf("--blocks %d: the model has %d layers", c.Blocks, m.Config().Layers)
	}
	one, two := m.Graphs(c.Large), m.Graphs(c.Small) // the embedding, the layers, the head
	last := len(one) - 1
	p := phone.SwitchProblem(costs, one[1:last], two[1:last], two[last], c.Blocks, c.Chunks)
	return p, fmt.Sprintf("simulated %s (%s, %s)", costs.Name, costs.SoC, costs.Stack), nil
}

// execute executes every plan and checks that all give the same logits, bit for bit.
func (c *npuPlan) execute(a *cli.App, m *model.Model, s *npuphone.Switcher, rows []planRow) error {
	tokens := make([]tandem.Token, c.Chunks*c.Large)
	for i := range tokens {
		tokens[i] = tandem.Token(i * 31 % m.Config().Vocab)
	}
	want, err := m.Forward(a, []model.Input{{Seq: m.NewSeq(), Tokens: tokens}})
	if err != nil {
		return err
	}
	p, err := s.Problem(context.Background(), len(tokens))
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		a.Progress("executing: %s", r.Strategy)
		strategy, err := plan.ParseStrategy(r.Strategy)
		if err != nil {
			return err
		}
		logits, line, err := s.Prefill(a, s.NewCache(), tokens, p.Plan(strategy))
		if err != nil {
			return err
		}
		if !slices.Equal(logits, want[0]) {
			return fmt.Errorf("%s: the logits differ from those of plain prefill", r.Strategy)
		}
		r.line, r.Measured = line, tandem.Milliseconds(line.Total()) // the chart shows what happened
	}
	a.Clear()
	return nil
}

func (c *npuPlan) print(a *cli.App, where string, p plan.Problem, rows []planRow) error {
	if a.Globals.JSON {
		return a.JSON(struct {
			Where string    `json:"where"`
			Bound float64   `json:"bound_ms"`
			Loads float64   `json:"loads_ms"`
			Plans []planRow `json:"plans"`
		}{where, tandem.Milliseconds(p.Bound()), tandem.Milliseconds(p.Loads()), rows})
	}
	fmt.Fprintf(a.Out, "%s: %d blocks, %d chunks of %d tokens on G¹, %d on G²; all loads %.1f ms, bound %.1f ms\n",
		where, len(p.Blocks), len(p.Runs), c.Large, c.Small, tandem.Milliseconds(p.Loads()), tandem.Milliseconds(p.Bound()))
	fmt.Fprintf(a.Out, "%-13s %10s %10s %8s  %s\n", "strategy", "total ms", "stall ms", "hidden", "first chunk on G², by block")
	for _, r := range rows {
		measured := ""
		if r.Measured > 0 {
			measured = fmt.Sprintf("  executed in %.1f ms", r.Measured)
		}
		fmt.Fprintf(a.Out, "%-13s %10.1f %10.1f %7.0f%%  %s%s\n", r.Strategy, r.Total, r.Stall, 100*r.Hidden,
			strings.Trim(fmt.Sprint(r.Switch), "[]"), measured)
	}
	if slower := ruleLoses(p, rows); slower != "" {
		fmt.Fprintln(a.Out, slower)
	}
	if c.Output != "" {
		fmt.Fprintln(a.Out, c.Output)
	}
	return nil
}

// ruleLoses explains why the papers' rule is slower than synchronous loading. It returns "" if it is not.
func ruleLoses(p plan.Problem, rows []planRow) string {
	total := func(s plan.Strategy) float64 {
		return rows[slices.IndexFunc(rows, func(r planRow) bool { return r.Strategy == s.String() })].Total
	}
	if total(plan.Greedy) <= total(plan.Synchronous) {
		return ""
	}
	return fmt.Sprintf("greedy, the papers' rule from the first chunk on, is slower than synchronous loading: a block that has changed takes %.2f times as long for each later chunk.",
		float64(p.Compute(0, 0, true))/float64(p.Compute(0, 0, false)))
}

// gantt draws the plans one below the other, each with a lane for computing and one for loading.
func gantt(where string, p plan.Problem, rows []planRow) []byte {
	t := chart.Timeline{Title: "Changing graphs during prefill: " + where, X: "ms",
		Legend: []chart.Line{{Name: "G¹ computes", Color: 0}, {Name: "G² computes", Color: 2}, {Name: "G² loads", Color: 1}},
		Note:   "Numbers are blocks."}
	for _, r := range rows {
		computes, loads := chart.Lane{Name: r.Strategy}, chart.Lane{Name: "loader"}
		for _, s := range r.line.Spans {
			span := chart.Span{From: tandem.Milliseconds(s.Start), To: tandem.Milliseconds(s.End), Text: fmt.Sprint(s.Block + 1)}
			switch {
			case s.Load:
				span.Color, span.Title = 1, fmt.Sprintf("load G² of block %d: %.1f ms", s.Block+1, tandem.Milliseconds(s.End-s.Start))
				loads.Spans = append(loads.Spans, span)
				continue
			case s.Small:
				span.Color = 2
			}
			span.Title = fmt.Sprintf("block %d, chunk %d: %.1f ms", s.Block+1, s.Chunk+1, tandem.Milliseconds(s.End-s.Start))
			computes.Spans = append(computes.Spans, span)
		}
		t.To = max(t.To, tandem.Milliseconds(r.line.Total()))
		t.Lanes = append(t.Lanes, computes, loads)
	}
	return t.SVG()
}
