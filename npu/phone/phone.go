// Package phone runs models as a phone does: on an NPU that has little memory and must load graphs before it runs them.
// Another device simulates the NPU, at the phone's speed (package sim), and its memory for weights may be limited (package
// memory).
//
// The packages below this one are its parts. Package plan decides when graphs for decoding replace those for prompts (CoordGen
// §3.2), and executor carries out the plan. Package memory stages weights that do not fit (llada.cpp §3.4). Package pass
// rewrites graphs for NPUs (Samsung §3.3). Package programs measures compiled programs.
package phone

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"tandem/npu"
	"tandem/npu/ggml"
	"tandem/npu/native"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// Options say how a device computes.
type Options struct {
	// Device computes: "native", or empty; "ggml:cpu", "ggml:cuda0" and the like, as ggml.Probe lists them; "auto",
	// the first GPU or NPU of ggml that has room for Weights, or else native.
	Device  string
	Inner   npu.Device // computes instead of Device, if not nil
	Threads int        // of a processor; 0 for one on each core
	Weights uint64     // bytes of the model's weights, for "auto"

	// Chip is the phone's chip whose NPU is simulated, such as "sm8750" (see sim.Find); empty for none.
	Chip string
	// StandIn is the model whose costs the simulated phone charges in place of those of the model that runs; nil for the
	// model's own.
	StandIn *sim.StandIn
	// Chunk is the number of rows of the graph for prompts, if that is more than models have by themselves.
	Chunk int
	// Unpaced says that the phone's time is only counted (see Stats); otherwise runs take that time (see sim.Options.Paced).
	Unpaced bool
	// Switching is the strategy by which the simulated NPU changes from graphs for prompts to those for decoding
	// (see plan.Strategies); empty for progressive.
	Switching string

	// Memory is how many bytes of the weights the device may hold. It brings the others from the model's file while
	// it computes. 0 for no bound.
	Memory int64
	Caches bool // with Memory: the bound holds KV caches and activations, too
	Paging bool // with Memory: plain paging instead, the baseline
}

// Device is a device with the phone's limits that its Options specify.
type Device struct {
	npu.Device
	sim      *sim.Device    // nil without a chip
	memory   *memory.Device // nil without a bound
	strategy plan.Strategy
	chunk    int // rows of the graph for prompts; 0 for the model's choice

	layerChoice, headChoice programChoice // of passes whose rows attend both ways

	mu            sync.Mutex
	draftPrograms *npu.Programs // that passes with drafts use, since the last prompt; nil for none
}

// Open opens a device. The model that is opened on it closes it.
func Open(opt Options) (*Device, error) {
	strategy, err := opt.strategy()
	if err != nil {
		return nil, err
	}
	inner := opt.Inner
	if inner == nil {
		if inner, err = openDevice(opt.Device, opt.Threads, opt.Weights); err != nil {
			return nil, err
		}
	}
	d := &Device{Device: inner, strategy: strategy, headChoice: programChoice{ofHeads: true}, chunk: opt.Chunk}
	if opt.Chip != "" {
		costs, err := sim.Find(opt.Chip)
		if err != nil {
			inner.Close()
			return nil, err
		}
		if strategy == plan.Resident {
			costs.Resident = math.MaxInt
		}
		d.sim = sim.Wrap(d.Device, costs, sim.Options{Paced: !opt.Unpaced, StandIn: opt.StandIn})
		d.Device = d.sim
	}
	if opt.Memory != 0 {
		d.memory, err = memory.New(d.Device, memory.Options{Budget: opt.Memory, Caches: opt.Caches, Paging: opt.Paging})
		if err != nil {
			d.Close()
			return nil, err
		}
		d.Device = d.memory
	}
	return d, nil
}

// strategy returns how the phone changes its graphs. Staged weights are no part of a graph, so with bounded memory
// there is next to nothing to load, and nothing to plan.
func (o Options) strategy() (plan.Strategy, error) {
	if o.Switching == "" {
		return plan.Progressive, nil
	}
	s, err := plan.ParseStrategy(o.Switching)
	switch {
	case err != nil:
		return s, err
	case s == plan.Optimal:
		return s, fmt.Errorf("strategy %v may search for hours: use one of %v", s, plan.Strategies)
	case o.Chip == "" || o.Memory > 0:
		return s, fmt.Errorf("strategy %v needs a simulated phone without a memory limit for weights", s)
	}
	return s, nil
}

// openDevice opens the device that computes.
func openDevice(name string, threads int, weights uint64) (npu.Device, error) {
	switch kind, which, _ := strings.Cut(strings.ToLower(name), ":"); {
	case threads < 0:
		return nil, fmt.Errorf("%d threads: use 1 or more, or 0 for one on each core", threads)
	case kind == "" || name == "native":
		return native.New(threads), nil
	case name == "auto":
		return openAutomatic(threads, weights), nil
	case kind == "ggml" && which != "":
		d, err := ggml.Open(which, threads)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", name, err)
		}
		return d, nil
	}
	return nil, fmt.Errorf("unknown device %q: use native, auto, ggml:cpu or another that doctor lists", name)
}

// openAutomatic opens the first GPU or NPU that has room for the weights and a quarter more to work in, or else native.
func openAutomatic(threads int, weights uint64) npu.Device {
	report, err := ggml.Probe()
	if err == nil {
		for _, info := range report.Devices {
			if !info.GPU() || info.Free != 0 && info.Free < weights+weights/4 {
				continue
			}
			if d, err := ggml.Open(info.Name, threads); err == nil {
				return d
			}
		}
	}
	return native.New(threads)
}

// Traits implements npu.Device. A simulated phone schedules its graphs.
func (d *Device) Traits() npu.Traits {
	t := d.Device.Traits()
	if d.sim != nil {
		t.Scheduler, t.RowsAtOnce = d, d.chunk
	}
	return t
}

// Stats returns what the simulated NPU did so far; ok is false if none is simulated.
func (d *Device) Stats() (s sim.Stats, ok bool) {
	if d.sim == nil {
		return s, false
	}
	return d.sim.Stats(), true
}

// Memory returns what the bounded memory did so far; ok is false without a bound.
func (d *Device) Memory() (c memory.Counters, ok bool) {
	if d.memory == nil {
		return c, false
	}
	return d.memory.Counters(), true
}

// Switching names the strategy by which the simulated phone changes its graphs; it is empty if nothing is planned.
func (d *Device) Switching() string {
	if !d.plansSwitching() {
		return ""
	}
	return d.strategy.String()
}

// plansSwitching reports whether the device plans its changes of graphs.
func (d *Device) plansSwitching() bool { return d.sim != nil && d.memory == nil }
