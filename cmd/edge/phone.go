package main

import (
	"context"
	"fmt"
	"time"

	"tandem"
	"tandem/internal/meter"
	"tandem/model"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
	"tandem/pair"
)

// phoneFlags simulate a phone, or measure this machine's battery.
type phoneFlags struct {
	SoC         string `name:"soc" help:"Answer at the simulated pace of a phone's NPU: sm8550, sm8650, sm8750 or sm8850, with /qnn (default), /mllm, /hexagon or /llada for the software that drives it. The cloud inside this process keeps its own pace." placeholder:"CHIP" hidden:""`
	Switching   string `help:"With --soc, how the graphs for decoding replace those for prompts: progressive (the default: during the prompt, as lab npu plan shows), greedy, asynchronous, synchronous (after the prompt), or resident (both stay loaded)." placeholder:"STRATEGY" hidden:""`
	Energy      bool   `help:"Measure the battery's power before and during the answer, and print the energy above idle." hidden:""`
	PowerSupply string `help:"Folder in which the kernel lists batteries." default:"/sys/class/power_supply" type:"path" placeholder:"DIR" hidden:""`
}

// strategies returns the names that --switching takes.
func strategies() (names []string) {
	for _, s := range plan.Strategies {
		names = append(names, s.String())
	}
	return names
}

// idleTime is how long the idle power is measured before an answer.
const idleTime = 2 * time.Second

// costJSON is the cost of an answer in time and energy, in ask --json.
type costJSON struct {
	Phone  *phoneJSON  `json:"phone,omitempty"`
	Energy *energyJSON `json:"energy,omitempty"`
}

// phoneJSON is the work of a simulated phone's NPU.
type phoneJSON struct {
	Simulated bool        `json:"simulated"` // always true
	Chip      string      `json:"chip"`
	Runs      int         `json:"runs"`
	Switching string      `json:"switching,omitempty"` // the strategy
	Switches  int         `json:"graph_loads"`
	Busy      float64     `json:"busy_ms"`
	NPU       float64     `json:"npu_ms"`
	CPU       float64     `json:"cpu_ms"`
	Loading   float64     `json:"loading_ms"`
	Waiting   float64     `json:"loading_wait_ms"` // the part of loading during which nothing computed
	Staging   float64     `json:"staging_ms"`
	Late      float64     `json:"late_ms"` // how much this machine was slower than the phone
	Graphs    []graphJSON `json:"graphs"`
	MappedMB  float64     `json:"mapped_mb"`
	Joules    float64     `json:"joules_estimate"` // power times time, above idle
}

// graphJSON says how full the graphs of a size were, as shares of their rows. Rows of prompts are valid, on whatever graph they
// ran; decoded rows are valid if their token came into the text, else wasted. Underutilised rows held no token.
type graphJSON struct {
	Rows          int     `json:"rows"` // of the graph
	Runs          int     `json:"runs"` // of layers
	Valid         float64 `json:"valid"`
	Wasted        float64 `json:"wasted"`
	Underutilised float64 `json:"underutilised"`
}

// graphs returns how full the graphs were. right is the share of the decoded rows whose token came into the text.
func graphs(list []sim.GraphRows, right float64) (out []graphJSON) {
	for _, g := range list {
		all := float64(g.Runs * g.Size)
		used, valid := float64(g.Rows)/all, (float64(g.Prompt)+right*float64(g.Rows-g.Prompt))/all
		out = append(out, graphJSON{g.Size, g.Runs, valid, used - valid, 1 - used})
	}
	return out
}

// energyJSON is the energy measured at the battery.
type energyJSON struct {
	Battery   string  `json:"battery"`
	Joules    float64 `json:"joules"` // above idle
	Watts     float64 `json:"watts"`
	IdleWatts float64 `json:"idle_watts"`
	Seconds   float64 `json:"seconds"`
	Samples   int     `json:"samples"`
}

// costing is the measurement of one answer.
type costing struct {
	s       *session
	before  sim.Stats
	pair    pair.Stats // of the answer
	battery *meter.Battery
	idle    meter.Reading
	stop    func() meter.Reading
}

// beginCost starts the measurement of an answer.
func (s *session) beginCost() (*costing, error) {
	c := &costing{s: s}
	c.before, _ = s.phone.Stats()
	if !s.flags.Energy {
		return c, nil
	}
	a := s.app
	var err error
	if c.battery, err = meter.FindBattery(s.flags.PowerSupply); err != nil {
		return nil, fmt.Errorf("--energy: %w", err)
	}
	if c.battery.Charging() {
		a.Remark("The battery is charging, so its power is not what this machine draws. Unplug it and ask again.")
	}
	a.Progress("measuring the idle power for %v", idleTime)
	idle, cancel := context.WithTimeout(a, idleTime)
	c.idle = c.battery.Measure(idle, meter.Every)
	cancel()
	a.Clear()
	if err := a.Err(); err != nil {
		return nil, err
	}
	c.stop = c.battery.Start(a, meter.Every)
	return c, nil
}

// end stops the measurement and returns the cost.
func (c *costing) end() costJSON {
	var out costJSON
	if c.stop != nil {
		r := c.stop()
		if r.Err != nil {
			c.s.app.Remark("%v", r.Err)
		}
		out.Energy = &energyJSON{Battery: c.battery.Name(), Joules: r.Above(c.idle), Watts: r.Watts, IdleWatts: c.idle.Watts,
			Seconds: r.Took.Seconds(), Samples: r.Samples}
	}
	if after, ok := c.s.phone.Stats(); ok {
		d := after.Sub(c.before)
		out.Phone = &phoneJSON{Simulated: true, Chip: c.s.flags.SoC, Switching: c.s.phone.Switching(), Runs: d.Runs, Switches: d.Switches, Busy: tandem.Milliseconds(d.Busy), NPU: tandem.Milliseconds(d.NPU),
			CPU: tandem.Milliseconds(d.CPU), Loading: tandem.Milliseconds(d.Loading), Waiting: tandem.Milliseconds(d.Waiting), Staging: tandem.Milliseconds(d.Staging), Late: tandem.Milliseconds(d.Late), MappedMB: float64(d.Mapped) / 1e6, Joules: d.Joules}
		valid, _, _ := c.pair.Rows()
		out.Phone.Graphs = graphs(d.Graphs, float64(valid)/float64(max(1, c.pair.Places)))
	}
	return out
}

// parts returns the cost as phrases for the summary.
func (c costJSON) parts() (parts []string) {
	if p := c.Phone; p != nil {
		text := fmt.Sprintf("simulated %s: busy %.0f ms, %.0f of them waiting for %d graph loads of %.0f", p.Chip, p.Busy, p.Waiting, p.Switches, p.Loading)
		if p.Switching != "" {
			text += " (" + p.Switching + ")"
		}
		text += fmt.Sprintf(", about %.2g J", p.Joules)
		for _, g := range p.Graphs {
			text += fmt.Sprintf(", graphs of %d rows: %.0f %% valid, %.0f %% wasted, %.0f %% underutilised", g.Rows, 100*g.Valid, 100*g.Wasted, 100*g.Underutilised)
		}
		if p.Late > 1 {
			text += fmt.Sprintf(", this machine %.0f ms behind", p.Late)
		}
		parts = append(parts, text)
	}
	if e := c.Energy; e != nil {
		parts = append(parts, fmt.Sprintf("%.3g J above idling at %.2g W (battery %s)", e.Joules, e.IdleWatts, e.Battery))
	}
	return parts
}

// peakMemory returns the peak memory of this process, in megabytes.
func peakMemory() float64 {
	n, _ := meter.PeakMemory()
	return float64(n) / 1e6
}

// cloudModel returns the model of the cloud inside this process: the device's own, or a second one if the device is paced
// like a phone.
func (s *session) cloudModel() (*model.Model, error) {
	if s.flags.SoC == "" {
		return s.model, nil
	}
	plain := s.flags.ModelFlags
	plain.Chip, plain.Switching = "", ""
	m, err := plain.Open(s.app)
	if err != nil {
		return nil, err
	}
	s.closers.add(m)
	return m, nil
}
