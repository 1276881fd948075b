package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// SoC is a chip's parameters.
type SoC struct {
	SoC    string           `json:"soc"`  // "sm8750"
	Name   string           `json:"name"` // "Snapdragon 8 Elite"
	NPU    string           `json:"npu"`  // "Hexagon v79"
	Phones string           `json:"phones,omitempty"`
	Chip   map[string]Param `json:"chip"`
	Stacks map[string]Stack `json:"stacks"`
}

// Stack is software that drives the NPU, with the parameters that it reaches on the chip.
type Stack struct {
	About  string           `json:"about,omitempty"`
	Params map[string]Param `json:"params"`
}

// Param is one value. One of three fields says where it comes from: Source, where it was published; Fitted, the
// published figure that it was fitted to; or As, the value that it is carried over from, with the reason in Source.
type Param struct {
	Value  float64 `json:"value"` // computed if it is carried over
	Unit   string  `json:"unit"`
	Source string  `json:"source,omitempty"`
	Fitted string  `json:"fitted,omitempty"`
	As     string  `json:"as,omitempty"`    // "sm8650/qnn/matrix", "sm8750/cpu_stream", "same/qnn/matrix" for the chip's own
	Times  float64 `json:"times,omitempty"` // the factor of a value that is carried over; 0 for 1

	Root       string `json:"-"` // the first value in the chain, if this one is carried over
	RootFitted bool   `json:"-"` // Root was fitted
}

// check refuses a value without a clear origin.
func (p Param) check() error {
	switch {
	case strings.Contains(strings.ToLower(p.Source), "assumed"):
		return errors.New(`needs a source, a fit or another value that it is carried over from; "assumed" is no source`)
	case p.As != "" && (p.Source == "" || p.Fitted != ""):
		return errors.New("is carried over: it needs the reason as its source, and no fit")
	case p.As == "" && (p.Source == "") == (p.Fitted == ""):
		return errors.New("needs either a source or a fit")
	}
	return nil
}

// Origins counts where a chip's values come from.
type Origins struct {
	Sourced  int `json:"sourced"` // published, or by a stack's design
	Fitted   int `json:"fitted"`  // to a published figure
	Carried  int `json:"carried"` // over from another chip, stack or parameter
	FromFits int `json:"carried_from_fits"`
}

// Sum is the number of values.
func (o Origins) Sum() int { return o.Sourced + o.Fitted + o.Carried }

// Plus adds two counts.
func (o Origins) Plus(p Origins) Origins {
	return Origins{o.Sourced + p.Sourced, o.Fitted + p.Fitted, o.Carried + p.Carried, o.FromFits + p.FromFits}
}

// Origins counts the values of the chip and of all its stacks.
func (s SoC) Origins() (o Origins) {
	count := func(params map[string]Param) {
		for _, p := range params {
			switch {
			case p.Fitted != "":
				o.Fitted++
			case p.As == "":
				o.Sourced++
			default:
				if o.Carried++; p.RootFitted {
					o.FromFits++
				}
			}
		}
	}
	count(s.Chip)
	for _, st := range s.Stacks {
		count(st.Params)
	}
	return o
}

// defaultStack is the stack of a chip unless another is named. It runs static graphs, as this project does.
const defaultStack = "qnn"

// Costs are a chip's and a stack's parameters in SI units.
type Costs struct {
	SoC, Name, Stack string

	Tile       int           // rows that the matrix unit takes at once
	Matrix     float64       // operations a second that it reaches, not its peak; two for each multiplication
	Stream     float64       // bytes of weights and KV caches a second
	Vector     float64       // elements a second in element-by-element operators
	Op         time.Duration // starting one operator within a graph
	Launch     time.Duration // one call of the NPU
	Calls      float64       // calls for each graph that attends
	Row        time.Duration // the host's work for each row of such a graph
	CPUAttends bool          // attention runs on the CPU
	CPUOps     float64       // the CPU's operations a second
	CPUStream  float64       // the CPU's bytes a second
	WeightBits float64       // bits of a weight on this stack; 0 for those of the tensor

	Load      float64       // bytes a second from a stored graph to one that runs
	LoadFixed time.Duration // each graph
	Map       time.Duration // one mapping into the NPU's address space
	MapRate   float64       // bytes a second mapped
	Stage     float64       // bytes a second copied into a staging slot
	Window    int64         // bytes that a session can map
	Sessions  int           // sessions at most
	Resident  int           // graphs of one block that fit at a time

	NPUWatts float64 // above idle, while the NPU computes
	CPUWatts float64 // above idle, while the CPU does
}

// Costs returns the chip's costs with the stack.
func (s SoC) Costs(stack string) (Costs, error) {
	st, ok := s.Stacks[stack]
	if !ok {
		return Costs{}, fmt.Errorf("%s: no stack %q: use one of %s", s.SoC, stack, strings.Join(slices.Sorted(maps.Keys(s.Stacks)), ", "))
	}
	r := paramReader{where: s.SoC + "/" + stack, params: maps.Clone(s.Chip)}
	maps.Copy(r.params, st.Params)
	const giga, tera = 1e9, 1e12
	c := Costs{
		SoC: s.SoC, Name: s.Name, Stack: stack,
		Tile:       int(r.value("tile", "rows", 1, 1024)),
		Matrix:     tera * r.value("matrix", "TOPS", 1e-3, 1e3),
		Stream:     giga * r.value("stream", "GB/s", 0.1, 1e4),
		Vector:     giga * r.value("vector", "G/s", 0.01, 1e5),
		Op:         r.micros("op", 1e6),
		Launch:     r.micros("launch", 1e6),
		Calls:      r.value("calls", "", 0, 100),
		Row:        r.micros("row", 1e6),
		CPUAttends: r.value("cpu_attends", "", 0, 1) == 1,
		CPUOps:     giga * r.value("cpu", "GOPS", 0.1, 1e5),
		CPUStream:  giga * r.value("cpu_stream", "GB/s", 0.1, 1e4),
		WeightBits: r.value("weight_bits", "bits", 0, 32),
		Load:       giga * r.value("load", "GB/s", 1e-3, 1e3),
		LoadFixed:  r.micros("load_fixed", 1e7),
		Map:        r.micros("map", 1e6),
		MapRate:    giga * r.value("map_rate", "GB/s", 1e-3, 1e4),
		Stage:      giga * r.value("stage", "GB/s", 1e-3, 1e4),
		Window:     int64(r.value("window", "MiB", 1, 1<<20)) << 20,
		Sessions:   int(r.value("sessions", "", 1, 64)),
		Resident:   int(r.value("resident", "", 1, 64)),
		NPUWatts:   r.value("npu_power", "W", 0, 100),
		CPUWatts:   r.value("cpu_power", "W", 0, 100),
	}
	if r.err == nil {
		for name := range r.params {
			if !r.used[name] {
				r.err = fmt.Errorf("%s: unknown parameter %s", r.where, name)
			}
		}
	}
	return c, r.err
}

// paramReader reads values and keeps the first error.
type paramReader struct {
	where  string
	params map[string]Param
	used   map[string]bool
	err    error
}

func (r *paramReader) value(name, unit string, low, high float64) float64 {
	p, ok := r.params[name]
	if r.used == nil {
		r.used = map[string]bool{}
	}
	r.used[name] = true
	switch {
	case r.err != nil:
	case !ok:
		r.err = fmt.Errorf("%s: parameter %s is missing", r.where, name)
	case p.Unit != unit:
		r.err = fmt.Errorf("%s: %s is in %q, want %q", r.where, name, p.Unit, unit)
	case !(p.Value >= low && p.Value <= high):
		r.err = fmt.Errorf("%s: %s is %v, want %v to %v", r.where, name, p.Value, low, high)
	default:
		if err := p.check(); err != nil {
			r.err = fmt.Errorf("%s: %s %w", r.where, name, err)
		}
	}
	return p.Value
}

func (r *paramReader) micros(name string, high float64) time.Duration {
	return time.Duration(r.value(name, "µs", 0, high) * float64(time.Microsecond))
}
