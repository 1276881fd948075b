package phone

import (
	"context"
	"fmt"
	"slices"

	"tandem/lab/report"
	"tandem/npu"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/sim"
)

// Boundary is a run of block diffusion at the limit of an NPU's addresses (llada.cpp §5.6, Table 7): a step takes as many rows at
// once as the answer may have tokens.
type Boundary struct {
	Model       string        `json:"model"`
	Runtime     string        `json:"runtime"` // staging, or paging only
	Rows        int           `json:"rows"`    // of a step, and tokens of the answer
	Activations report.Number `json:"activations_mb"`
	Caches      report.Number `json:"caches_mb"` // keys and values of prompt and answer
	Left        report.Number `json:"left_mb"`   // of one session's window, for weights
	Completes   bool          `json:"completes"`
	Stall       report.Number `json:"stall_ms"` // of a step
	Step        report.Number `json:"step_ms"`
}

// boundaryPrompt is the length of the prompt, in tokens.
const boundaryPrompt = 128

// boundaries plays LLaDA-8B at the rows of the table and below. Both runtimes have one session's window for everything: weights,
// keys and values, activations and logits. Staging takes lifetimes from the graph: values that do not live at once share memory,
// and weights keep a place or pass through slots. Paging only gives each value of the graph a mapping of its own, which stays as
// long as the graph is loaded, and replaces weights in what is left, the least recently used first.
func (x Experiment) boundaries(_ context.Context, r *report.Report, data *Data) error {
	c, err := x.chip(x.MemorySoC)
	if err != nil {
		return err
	}
	s, err := shapeIn("LLaDA-8B", npu.Q4_0)
	if err != nil {
		return err
	}
	for _, rows := range []int{64, 128, 256, 512} {
		for _, runtime := range []string{"staging", "paging"} {
			b, err := boundary(c, s, rows, runtime == "paging")
			if err != nil {
				return err
			}
			data.Boundaries = append(data.Boundaries, b)
		}
	}
	r.Tables = append(r.Tables, boundaryTable(data.Boundaries))
	fails := func(runtime string) (list []int) {
		for _, b := range data.Boundaries {
			if b.Runtime == runtime && !b.Completes {
				list = append(list, b.Rows)
			}
		}
		return list
	}
	r.Findings = append(r.Findings, fmt.Sprintf("In one session's window, LLaDA-8B cannot run steps of %v rows with paging only, and of %v rows with staging (simulated); published are 256 and 512, and none.", fails("paging"), fails("staging")))
	return nil
}

func boundary(c sim.Costs, s sim.Shape, rows int, paging bool) (Boundary, error) {
	b := Boundary{Model: s.Name, Rows: rows, Runtime: "staging"}
	if paging {
		b.Runtime = "paging"
	}
	activations := activationBytes(s.Blocks(rows, rows), paging)
	caches := int64(boundaryPrompt+rows) * 2 * int64(s.Layers*s.KVHeads*s.HeadDim) * 2 // 16 bits
	left := c.Window - activations - caches
	b.Activations, b.Caches, b.Left = report.Is(float64(activations)/1e6), report.Is(float64(caches)/1e6), report.Is(float64(left)/1e6)
	sizes, uses := weightsOf(c, s, rows, boundaryPrompt+rows)
	costs := memory.Costs{PerByte: 1e9 / c.Stage, PerMapping: c.Map, MapPerByte: 1e9 / c.MapRate}
	play := func(steps int) memory.Counters { return memory.Counters{} }
	if paging {
		if b.Completes = left >= slices.Max(sizes); b.Completes {
			play = func(steps int) memory.Counters {
				return memory.Replay(memory.NewLRU(func(o int) int64 { return sizes[o] }, left), sizes, uses, costs, steps, memory.Counters{})
			}
		}
	} else if p, err := memory.Place(sizes, uses, costs, max(0, left)); err == nil && left > 0 {
		b.Completes = true
		order, p := memory.Reorder(sizes, uses, p, costs)
		fixed := p.Fixed(sizes, c.Window)
		play = func(steps int) memory.Counters {
			return memory.Replay(memory.NewStaging(p), sizes, order, costs, steps, fixed)
		}
	}
	if b.Completes {
		const warm, steps = 2, 4
		d := play(warm + steps).Sub(play(warm))
		b.Stall, b.Step = report.Is(msOf(d.Stall)/steps), report.Is(msOf(d.Time)/steps)
	}
	return b, nil
}

// activationBytes returns the memory for the values of graphs that run one after the other. If alone, each value has memory of
// its own; otherwise values of a graph share memory by their lifetimes, and all graphs share the same memory.
func activationBytes(graphs []*npu.Graph, alone bool) (total int64) {
	for _, g := range graphs {
		lives := memory.Lifetimes(g)
		if alone {
			for _, l := range lives {
				total += l.Bytes
			}
			continue
		}
		_, packed := memory.Pack(lives)
		total = max(total, packed)
	}
	return total
}

func boundaryTable(list []Boundary) report.Table {
	t := report.Table{Name: "npu-boundary", Title: "Runs at the limit of the address window (simulated; llada.cpp, Table 7)",
		Columns: []string{"model", "runtime", "rows", "activations_mb", "caches_mb", "left_mb", "completes", "stall_ms", "step_ms"}}
	for _, b := range list {
		stall, step := "", ""
		if b.Completes {
			stall, step = b.Stall.Brief(), b.Step.Brief()
		}
		t.Rows = append(t.Rows, []string{b.Model, b.Runtime, fmt.Sprint(b.Rows), b.Activations.Brief(), b.Caches.Brief(), b.Left.Brief(), fmt.Sprint(b.Completes), stall, step})
	}
	return t
}
