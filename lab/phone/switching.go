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
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// Switching is one prefill with its switch of graphs.
type Switching struct {
	SoC       string        `json:"soc"`
	Model     string        `json:"model"`
	Blocks    int           `json:"blocks"`
	Chunks    int           `json:"chunks"`
	Strategy  string        `json:"strategy"`
	Total     report.Number `json:"total_ms"`
	Prefill   report.Number `json:"prefill_ms"` // on G¹ alone
	Bound     report.Number `json:"bound_ms"`   // max(compute, load): no switch is faster; resident, which switches nothing, may be
	Optimum   report.Number `json:"optimum_ms"` // of a switch, by branch and bound; null where not searched
	Hidden    report.Number `json:"hidden"`     // share of the load during which something computed
	Condition bool          `json:"condition"`  // the papers' condition allows to hide every load: see coverable
}

// switchingShapes are the models of sd.npu's evaluation.
var switchingShapes = []string{"Qwen2.5-0.5B", "Qwen2.5-1.5B", "Llama-3.2-3B"}

// switchingStrategies are the papers' four and the plain rule of their Eq. 2, which progressive improves on.
var switchingStrategies = []plan.Strategy{plan.Synchronous, plan.Asynchronous, plan.Resident, plan.Progressive, plan.Greedy}

// coverable reports whether the papers' condition (CoordGen Eq. 1) holds for every block at once: the other blocks' time
// for one chunk covers the block's load, and the prefill has room for all loads one after the other.
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
	// The first block that changes computes its last chunk on G¹ first, or changes before the first chunk.
	return p.Loads() <= p.Prefill()-least
}

// switchingProblem is a model's prefill and switch with 8-bit weights, as the papers have them.
func switchingProblem(c sim.Costs, model string, blocks, chunks, large, small int) (plan.Problem, error) {
	s, err := shapeIn(model, npu.Q8_0)
	if err != nil {
		return plan.Problem{}, err
	}
	p := problemOf(c, s, blocks, chunks, large, small)
	if err := p.Check(); err != nil {
		return p, fmt.Errorf("%s: %w", model, err)
	}
	return p, nil
}

// switching plays every strategy on every chip.
func (x Experiment) switching(ctx context.Context, r *report.Report, data *Data) error {
	for i, soc := range x.SoCs {
		c, err := x.chip(soc)
		if err != nil {
			return err
		}
		from := len(data.Switching)
		for _, model := range switchingShapes {
			for _, n := range x.Blocks {
				cells, err := x.cut(ctx, c, model, n)
				if err != nil {
					return err
				}
				data.Switching = append(data.Switching, cells...)
				if i == 0 {
					r.Figures = append(r.Figures, report.Figure{Name: fmt.Sprintf("npu-switching-%s-%d", model, n), SVG: drawSwitching(cells)})
				}
			}
		}
		r.Findings = append(r.Findings, switchingFinding(soc, data.Switching[from:]))
		rule, err := x.ruleFinding(c)
		if err != nil {
			return err
		}
		r.Findings = append(r.Findings, rule)
	}
	r.Tables = append(r.Tables, switchingTable(data.Switching))
	return nil
}

// cut plays a model in n blocks with 1 to x.Chunks chunks, by all strategies.
func (x Experiment) cut(ctx context.Context, c sim.Costs, model string, n int) (cells []Switching, err error) {
	for chunks := 1; chunks <= x.Chunks; chunks++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := switchingProblem(c, model, n, chunks, x.Chunk, x.Small)
		if err != nil {
			return nil, err
		}
		var optimum report.Number
		if n <= 8 && chunks <= 4 {
			if pl, ok := p.Exact(x.Nodes); ok {
				optimum = report.Ms(p.Simulate(pl).Total())
			}
		}
		for _, st := range switchingStrategies {
			t := p.Simulate(p.Plan(st))
			cells = append(cells, Switching{SoC: c.SoC + "/" + c.Stack, Model: model, Blocks: n, Chunks: chunks, Strategy: st.String(), Total: report.Ms(t.Total()),
				Prefill: report.Ms(p.Prefill()), Bound: report.Ms(p.Bound()), Optimum: optimum, Hidden: report.Is(t.Hidden()), Condition: coverable(p)})
		}
	}
	return cells, nil
}

// switchingFinding says how progressive switching does.
func switchingFinding(soc string, cells []Switching) string {
	hidden, allowed, farthest, searched := 1.0, 0, 0.0, 0
	for _, s := range cells {
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

// ruleFinding says where the papers' rule (CoordGen Eq. 2, plan.Greedy) is slower than synchronous loading. The rule starts
// with the first chunk, as CoordGen's Figure 8 does, and hides every load it can. But the blocks that have changed take all
// later chunks on G², so whether that pays depends on how much slower G² is: on its rows and on the chunks to come. The
// papers take G² of 32 rows for chunks of 256, and say that it should have a half or a quarter of a chunk.
func (x Experiment) ruleFinding(c sim.Costs) (string, error) {
	text := fmt.Sprintf("%s/%s (simulated): the papers' rule from the first chunk on (greedy) is slower than synchronous loading", c.SoC, c.Stack)
	sizes := []int{x.Small}
	if quarter := x.Chunk / 4; quarter > x.Small {
		sizes = append(sizes, quarter)
	}
	for i, small := range sizes {
		slower, all, least, most := 0, 0, math.Inf(1), 0.0
		for _, model := range switchingShapes {
			for _, n := range x.Blocks {
				for chunks := 1; chunks <= x.Chunks; chunks++ {
					p, err := switchingProblem(c, model, n, chunks, x.Chunk, small)
					if err != nil {
						return "", err
					}
					total := func(s plan.Strategy) time.Duration { return p.Simulate(p.Plan(s)).Total() }
					if all++; total(plan.Greedy) > total(plan.Synchronous) {
						slower++
					}
					ratio := float64(p.Small(0, 0)) / float64(p.Blocks[0].Large)
					least, most = min(least, ratio), max(most, ratio)
				}
			}
		}
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" in %d of %d prefills with G² of %d rows, where a chunk of %d takes %.2f to %.2f times as long as on G¹", slower, all, small, x.Chunk, least, most)
	}
	return text + ".", nil
}

// drawSwitching draws a line over the chunks for each strategy.
func drawSwitching(cells []Switching) []byte {
	first := cells[0]
	plot := chart.Plot{Title: fmt.Sprintf("%s in %d blocks on %s (simulated)", first.Model, first.Blocks, first.SoC), X: "chunks of the prompt", Y: "prefill and switch (s)"}
	for i, st := range switchingStrategies {
		plot.Lines = append(plot.Lines, chart.Line{Name: st.String(), Color: i})
	}
	bound := chart.Line{Name: "lower bound of a switch", Color: len(switchingStrategies), Dashed: true}
	for i, s := range cells {
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

func switchingTable(cells []Switching) report.Table {
	t := report.Table{Name: "npu-switching", Title: "Prefill and switch (simulated)",
		Columns: []string{"soc", "model", "blocks", "chunks", "strategy", "total_ms", "prefill_ms", "bound_ms", "optimum_ms", "hidden", "condition"}}
	for _, s := range cells {
		t.Rows = append(t.Rows, []string{s.SoC, s.Model, strconv.Itoa(s.Blocks), strconv.Itoa(s.Chunks), s.Strategy, s.Total.Brief(), s.Prefill.Brief(),
			s.Bound.Brief(), s.Optimum.Brief(), s.Hidden.Brief(), strconv.FormatBool(s.Condition)})
	}
	return t
}

// gantt draws one prefill by three strategies, after CoordGen's Figure 8.
func (x Experiment) gantt(_ context.Context, r *report.Report, _ *Data) error {
	if len(x.SoCs) == 0 {
		return nil
	}
	c, err := x.chip(x.SoCs[0])
	if err != nil {
		return err
	}
	p, err := switchingProblem(c, "Qwen2.5-1.5B", 6, 2, x.Chunk, x.Small)
	if err != nil {
		return err
	}
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
	r.Figures = append(r.Figures, report.Figure{Name: "npu-gantt", SVG: picture.SVG()})
	return nil
}

// problemOf is a model's prefill and switch for the planner: see SwitchProblem.
func problemOf(c sim.Costs, s sim.Shape, blocks, chunks, large, small int) plan.Problem {
	layers := s.Layers
	s.Layers = 1 // they are alike
	one, two := s.Blocks(large, 1), s.Blocks(small, small)
	return SwitchProblem(c, slices.Repeat(one[:1], layers), slices.Repeat(two[:1], layers), two[1], blocks, chunks)
}

// SwitchProblem cuts a model's layers into blocks of about equal numbers, as phone.NewSwitcher does. one and two are the layers'
// graphs G¹ and G². A block is loaded as one graph.
//
// Decoding's head, which computes every row, is loaded with the last block. Prefill's head computes the last row after all
// chunks, whatever the plan, so no chunk includes it.
func SwitchProblem(c sim.Costs, one, two []*npu.Graph, head *npu.Graph, blocks, chunks int) plan.Problem {
	large, small := one[0].Chunk, two[0].Chunk
	p := plan.Uniform(blocks, chunks, (large+small-1)/small, plan.Block{})
	context := large * chunks / 2 // on average
	for j := range p.Blocks {
		from, to := j*len(one)/blocks, (j+1)*len(one)/blocks
		graphs := two[from:to:to]
		b := &p.Blocks[j]
		b.Large, b.Small = c.Graphs(one[from:to], context).Time(), c.Graphs(graphs, context).Time()
		if j == blocks-1 {
			graphs = append(graphs, head)
		}
		var bytes int64
		for _, g := range graphs {
			bytes += c.Bytes(g)
		}
		b.Load = c.LoadTime(1, bytes)
	}
	return p
}
