package phone

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/npu"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/sim"
)

// NativeRun is a text generated with bounded memory.
type NativeRun struct {
	Tokens   []int
	Weights  int64 // of the model
	Counters memory.Counters
	Took     time.Duration
}

// Memory is a runtime with a budget.
type Memory struct {
	Model    string        `json:"model"`
	Budget   report.Number `json:"budget"` // share of the weights
	BudgetMB report.Number `json:"budget_mb"`
	Runtime  string        `json:"runtime"`       // staging, paging (LRU, the baseline), both simulated; native, native paging: on this machine
	Mapped   report.Number `json:"mapped_mb"`     // at most
	Sessions report.Number `json:"sessions"`      // simulated: the fewest sessions of the NPU, each of which maps no more than its address window
	Once     report.Number `json:"mappings_once"` // made at the start; none spans two sessions
	Mappings report.Number `json:"mappings_per_step"`
	Stall    report.Number `json:"stall_ms"` // of a step
	Step     report.Number `json:"step_ms"`
	Same     *bool         `json:"identical_text,omitempty"` // native: the text is that without a bound
	Note     string        `json:"note,omitempty"`
}

// budgets of the memory experiment, as shares of the weights.
var budgets = []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1}

// memory plays steps of block diffusion as llada.cpp runs them: 64 rows at once through LLaDA-8B.
func (x Experiment) memory(_ context.Context, r *report.Report, data *Data) error {
	c, err := x.chip(x.MemorySoC)
	if err != nil {
		return err
	}
	s, err := shapeIn("LLaDA-8B", npu.Q4_0)
	if err != nil {
		return err
	}
	w := weightsOf(c, s, 64, 256)
	plot := chart.Plot{Title: "LLaDA-8B, 64 rows a step on " + x.MemorySoC + " (simulated)", X: "budget (% of the weights)", Y: "stall of a step (ms)"}
	plot.Lines = []chart.Line{{Name: "staging, placed by the profile", Color: 0}, {Name: "paging only (LRU)", Color: 1}}
	at50 := [2]float64{}
	for _, share := range budgets {
		for i, by := range runtimes {
			m, peak, err := w.bounded(share, by)
			if err != nil {
				return err
			}
			m.Model = s.Name
			m.sessions(c, peak)
			data.Memory = append(data.Memory, m)
			plot.Lines[i].Points = append(plot.Lines[i].Points, chart.Point{X: 100 * share, Y: m.Stall.Value})
			if share == .5 {
				at50[i] = m.Stall.Value
			}
		}
	}
	r.Figures = append(r.Figures, report.Figure{Name: "npu-memory", SVG: plot.SVG()})
	r.Findings = append(r.Findings, fmt.Sprintf("With half of the weights in memory a step stalls for %.0f ms with staging and for %.0f ms with paging alone (simulated).", at50[0], at50[1]))
	return nil
}

// bounded plays steps with a share of the weights mapped. It returns the line of the table, and the most bytes that were mapped.
func (w weights) bounded(share float64, by Runtime) (m Memory, peak int64, err error) {
	var total int64
	for _, b := range w.sizes {
		total += b
	}
	budget := int64(math.Ceil(share * float64(total)))
	if share == 1 {
		budget = math.MaxInt64 / 2 // alignment included
	}
	p, err := w.player(by, budget)
	if err != nil {
		return m, 0, err
	}
	const steps = 4
	d, all := p.steady(steps)
	return Memory{
		Budget: report.Is(share), BudgetMB: report.Is(math.Round(share * float64(total) / 1e6)), Runtime: string(by),
		Mapped: report.Is(float64(all.Peak) / 1e6), Once: report.Is(float64(p.once.Mappings)), Mappings: report.Is(float64(d.Mappings) / steps),
		Stall: report.Is(msOf(d.Stall) / steps), Step: report.Is(msOf(d.Time) / steps),
	}, all.Peak, nil
}

// sessions sets how many sessions of the NPU hold what is mapped. The papers' runtime has one, and stages what its window
// does not hold. A line with more sessions shows other software.
func (m *Memory) sessions(c sim.Costs, mapped int64) {
	n := (mapped + c.Window - 1) / c.Window
	m.Sessions = report.Is(float64(n))
	switch mib := c.Window >> 20; {
	case n > int64(c.Sessions):
		m.Note = fmt.Sprintf("cannot be mapped: the chip has %d sessions of %d MiB", c.Sessions, mib)
	case n > 1:
		m.Note = fmt.Sprintf("beyond one session's window of %d MiB: needs weights spread over %d sessions; with one, at most %d MiB are mapped and the rest is staged", mib, n, mib)
	}
}

// nativeBudgets are the shares of the weights in memory for runs on this machine.
var nativeBudgets = []float64{.1, .25, .5, .75, 1}

// native runs a model on this machine with budgets smaller than its weights.
func (x Experiment) native(ctx context.Context, r *report.Report, data *Data) error {
	defer func() { r.Tables = append(r.Tables, memoryTable(data.Memory)) }()
	if x.Native == nil {
		return nil
	}
	free, err := x.Native(ctx, 0, Staging)
	if err != nil {
		return err
	}
	all, half := true, [2]Memory{}
	for _, share := range nativeBudgets {
		for i, by := range runtimes {
			run, err := x.Native(ctx, share, by)
			if err != nil {
				return fmt.Errorf("with %.0f %% of the weights in memory: %w", 100*share, err)
			}
			m := run.memory(share, map[Runtime]string{Staging: "native", Paging: "native paging"}[by], slices.Equal(free.Tokens, run.Tokens))
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

// memory is the run's line of the table.
func (n NativeRun) memory(share float64, runtime string, same bool) Memory {
	c, steps := n.Counters, float64(max(1, n.Counters.Steps))
	return Memory{Model: "on this machine", Budget: report.Is(share), BudgetMB: report.Is(share * float64(n.Weights) / 1e6), Runtime: runtime,
		Mapped: report.Is(float64(c.Peak) / 1e6), Mappings: report.Is(float64(c.Mappings) / steps), Stall: report.Is(msOf(c.Stall) / steps), Step: report.Is(msOf(n.Took) / steps), Same: &same,
		Note: fmt.Sprintf("measured, not simulated: %d tokens in %d steps", len(n.Tokens), c.Steps)}
}

func memoryTable(rows []Memory) report.Table {
	t := report.Table{Name: "npu-memory", Title: "Memory runtime (simulated, but for native rows)",
		Columns: []string{"model", "budget", "budget_mb", "runtime", "mapped_mb", "sessions", "mappings_once", "mappings_per_step", "stall_ms", "step_ms", "identical_text", "note"}}
	for _, m := range rows {
		same := ""
		if m.Same != nil {
			same = strconv.FormatBool(*m.Same)
		}
		t.Rows = append(t.Rows, []string{m.Model, m.Budget.Brief(), m.BudgetMB.Brief(), m.Runtime, m.Mapped.Brief(), m.Sessions.Brief(), m.Once.Brief(), m.Mappings.Brief(), m.Stall.Brief(), m.Step.Brief(), same, m.Note})
	}
	return t
}
