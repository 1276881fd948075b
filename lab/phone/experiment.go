package phone

import (
	"context"
	"fmt"

	"tandem/lab/report"
	"tandem/npu/phone/sim"
)

// Experiment plays graph switching and the memory runtime on a simulated phone, and compares the simulator with
// published figures. The planner and the memory runtime are those that a phone would run (npu/phone/plan,
// npu/phone/memory). Only time is simulated.
type Experiment struct {
	SoCs         []string // chips with stacks, for the switching experiment; the first has pictures
	MemorySoC    string   // for the memory experiment
	Chunk, Small int      // rows of G¹ and G²
	Blocks       []int
	Chunks       int // 1 to this many
	Nodes        int // bound of the exact search
	// Native runs a prompt on this machine with a share of the weights in memory, 0 for no bound. If it is nil, Run leaves that
	// out.
	Native func(ctx context.Context, share float64, by Runtime) (NativeRun, error)
	// Accept measures accept lengths, to compare them with sd.npu's Table 4. If it is nil, Run leaves that out.
	Accept func(ctx context.Context) (AcceptLengths, error)

	files sim.Files // parameters; nil for those of package sim
}

// chip returns a chip's costs.
func (x Experiment) chip(name string) (sim.Costs, error) {
	if x.files == nil {
		return sim.Find(name)
	}
	return x.files.Find(name)
}

// Data is the outcome of an Experiment for programs.
type Data struct {
	Simulated  bool              `json:"simulated"` // all but the runtimes "native" and "native paging"
	Switching  []Switching       `json:"switching"`
	Memory     []Memory          `json:"memory"`
	Boundaries []Boundary        `json:"boundaries"`
	Accept     *AcceptLengths    `json:"accept_lengths,omitempty"`
	Validation []PublishedFigure `json:"validation"`
	Summary    []SourceErrors    `json:"validation_summary"` // the last is for all sources
	Parameters []ChipOrigins     `json:"parameters"`         // the last is for all chips
}

// Run plays everything.
func (x Experiment) Run(ctx context.Context, progress report.Progress) (report.Report, Data, error) {
	data := Data{Simulated: true}
	r := report.Report{Name: "npu", Title: "A phone's NPU: switching graphs, little memory, and how far to trust this", Simulated: true}
	if progress == nil {
		progress = func(int, int) {}
	}
	steps := []func(context.Context, *report.Report, *Data) error{x.switching, x.gantt, x.memory, x.native, x.boundaries, x.ablation, x.validate}
	for i, step := range steps {
		if err := ctx.Err(); err != nil {
			return r, data, err
		}
		progress(i, len(steps))
		if err := step(ctx, &r, &data); err != nil {
			return r, data, err
		}
	}
	r.About = fmt.Sprintf("Prefill in chunks of %d on graph G¹, decoding on G² of %d rows, on simulated chips; the planner is the one that a phone would run. Weights beyond a memory budget pass through two staging slots on a simulated %s. The last table compares the simulator with the numbers in the papers' text and those of three engines, whether they fit or not, and lists what it cannot predict.", x.Chunk, x.Small, x.MemorySoC)
	return r, data, nil
}
