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
		for _, by := range runtimes {
			data.Boundaries = append(data.Boundaries, boundary(c, s, rows, by))
		}
	}
	r.Tables = append(r.Tables, boundaryTable(data.Boundaries))
	fails := func(by Runtime) (list []int) {
		for _, b := range data.Boundaries {
			if b.Runtime == string(by) && !b.Completes {
				list = append(list, b.Rows)
			}
		}
		return list
	}
	r.Findings = append(r.Findings, fmt.Sprintf("In one session's window, LLaDA-8B cannot run steps of %v rows with paging only, and of %v rows with staging (simulated); published are 256 and 512, and none.", fails(Paging), fails(Staging)))
	return nil
}

// boundary plays steps of the given number of rows, if the window has room for the weights.
func boundary(c sim.Costs, s sim.Shape, rows int, by Runtime) Boundary {
	activations := packedBytes(s.Blocks(rows, rows))
	if by == Paging {
		activations = separateBytes(s.Blocks(rows, rows))
	}
	caches := int64(boundaryPrompt+rows) * 2 * int64(s.Layers*s.KVHeads*s.HeadDim) * 2 // 16 bits
	left := c.Window - activations - caches
	b := Boundary{Model: s.Name, Rows: rows, Runtime: string(by),
		Activations: report.Is(float64(activations) / 1e6), Caches: report.Is(float64(caches) / 1e6), Left: report.Is(float64(left) / 1e6)}
	w := weightsOf(c, s, rows, boundaryPrompt+rows)
	p, err := w.player(by, max(0, left))
	if err != nil || left <= 0 || by == Paging && left < slices.Max(w.sizes) {
		return b
	}
	const steps = 4
	d, _ := p.steady(steps)
	b.Completes, b.Stall, b.Step = true, report.Is(msOf(d.Stall)/steps), report.Is(msOf(d.Time)/steps)
	return b
}

// packedBytes returns the memory for the values of graphs that run one after the other, where values of a graph share memory by
// their lifetimes, and all graphs share the same memory.
func packedBytes(graphs []*npu.Graph) (most int64) {
	for _, g := range graphs {
		_, packed := memory.Pack(memory.Lifetimes(g))
		most = max(most, packed)
	}
	return most
}

// separateBytes returns the memory for the values of graphs where each value has its own.
func separateBytes(graphs []*npu.Graph) (total int64) {
	for _, g := range graphs {
		for _, l := range memory.Lifetimes(g) {
			total += l.Bytes
		}
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
