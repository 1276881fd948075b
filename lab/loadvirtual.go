package lab

import (
	"context"
	"fmt"
	"time"

	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/node/batch"
	"tandem/specdec"
)

// VirtualLoad is Load in virtual time, with machines that are no more than the times of their passes.
type VirtualLoad struct {
	Machines []string // keys of VirtualMachines
	Devices  []int
	PerEach  int
	Tokens   int            // of an answer
	Places   map[string]int // as in Load
}

// VirtualMachine is what a machine takes for a pass of a model in the shape of Qwen2.5-0.5B.
type VirtualMachine struct {
	AtOnce int                   // passes of a batch at the same time
	Times  map[int]time.Duration // by rows; in between they are interpolated
}

// VirtualMachines are a machine as measured, and one on which many rows cost little more than few.
var VirtualMachines = map[string]VirtualMachine{
	// Two cores: 115 tokens/s with one row, 643 with eight, 1109 in prompts (docs/engine.md, 0.5B q4_0).
	"cores": {2, map[int]time.Duration{1: 8696 * time.Microsecond, 8: 12442 * time.Microsecond, 512: 461677 * time.Microsecond}},
	// Made up: it reads the weights in 9 ms, and computes a row in 0.1 ms.
	"accelerator": {1, map[int]time.Duration{1: 9100 * time.Microsecond, 512: 60200 * time.Microsecond}},
}

// What a simulated answer reads and writes.
const (
	virtualContexts = 4  // passages
	virtualQuestion = 32 // tokens of the question and what the template adds, in each context
	virtualRTT      = time.Millisecond
)

// Run plays each machine with each number of devices and each way to compute.
func (x VirtualLoad) Run(ctx context.Context) (results []LoadResult, err error) {
	for _, name := range x.Machines {
		m, ok := VirtualMachines[name]
		if !ok {
			return nil, fmt.Errorf("no simulated machine is called %q", name)
		}
		costs := specdec.Interpolate(m.Times, 512)
		for _, n := range x.Devices {
			for _, method := range []string{LoadAlone, LoadBatch} {
				if x.Places[method] < 1 {
					continue
				}
				o, err := sim.Crowd{
					Devices: n, Each: x.PerEach, Places: x.Places[method], Batch: method == LoadBatch, Config: batch.Config{AtOnce: m.AtOnce}, Costs: costs,
					Contexts: virtualContexts, Question: virtualQuestion, Tokens: x.Tokens, RTT: virtualRTT,
				}.Run(ctx)
				if err != nil {
					return results, err
				}
				results = append(results, virtualResult(name, method, x.Places[method], n, o))
			}
		}
	}
	return results, nil
}

func virtualResult(machine, method string, places, devices int, o sim.CrowdOutcome) LoadResult {
	s := o.Took.Seconds()
	first, gaps := milliseconds(o.First), milliseconds(o.Gaps)
	r := LoadResult{
		Simulated: machine, Method: method, Devices: devices, Places: places, Answers: o.Answers, Seconds: s,
		PerSecond: float64(o.Answers) / s, Tokens: float64(o.Tokens) / s,
		First: report.Quantile(first, .5), First99: report.Quantile(first, .99), Gap: report.Quantile(gaps, .5), Gap99: report.Quantile(gaps, .99),
	}
	if method == LoadBatch {
		r.Rows = float64(o.Rows) / float64(o.Passes)
	}
	return r
}

func milliseconds(times []time.Duration) (ms []float64) {
	for _, d := range times {
		ms = append(ms, float64(d)/float64(time.Millisecond))
	}
	return ms
}
