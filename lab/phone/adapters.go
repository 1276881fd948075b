package phone

import (
	"fmt"
	"regexp"
	"slices"

	"tandem/npu/phone/sim"
)

// AdapterFigure is a simulated phone with adapters by one of the paper's approaches (Samsung §3.2, Tables 1 and 2).
type AdapterFigure struct {
	Chip      string  `json:"chip"`
	Shape     string  `json:"shape"`
	Approach  string  `json:"approach"`
	Tasks     int     `json:"tasks"`
	Rank      int     `json:"rank"`
	Graphs    float64 `json:"graphs_mb"`   // of all graphs, whose weights they share
	Stored    float64 `json:"stored_mb"`   // and of adapters outside of them
	First     float64 `json:"first_ms"`    // the first chunk of a prompt
	Token     float64 `json:"token_ms"`    // a step
	OverFirst float64 `json:"first_ratio"` // to the base's
	OverToken float64 `json:"token_ratio"`
	Switch    float64 `json:"switch_ms"` // until another adapter can compute
	Simulated bool    `json:"simulated"` // always true
}

// AdapterFigures simulates both of the paper's phones with the given numbers of tasks. Adapters change q, k, v and o.
func AdapterFigures(rank int, tasks []int) ([]AdapterFigure, error) {
	three, err := sim.FindShape("Llama-3.2-3B")
	if err != nil {
		return nil, err
	}
	one := samsungShape()
	three.Type, three.HeadType = one.Type, one.HeadType
	var list []AdapterFigure
	for _, chip := range []string{"sm8650/qnn", "sm8750/qnn"} {
		costs, err := sim.Find(chip)
		if err != nil {
			return nil, err
		}
		for _, shape := range []sim.Shape{one, three} {
			for _, n := range tasks {
				list = append(list, adapterFigures(samsungModel{costs}, chip, shape, rank, n)...)
			}
		}
	}
	return list, nil
}

func adapterFigures(m samsungModel, chip string, s sim.Shape, rank, tasks int) (list []AdapterFigure) {
	with := func(n int) sim.Shape {
		t := s
		t.LoRA, t.Adapters = rank, n
		return t
	}
	each := m.size(with(1)) - m.size(s)
	add := func(approach string, computes sim.Shape, graphs, stored, change float64) {
		f := AdapterFigure{Chip: chip, Shape: s.Name, Approach: approach, Tasks: tasks, Rank: rank, Graphs: graphs, Stored: graphs + stored,
			First: m.first(computes), Token: m.token(computes, 1), Switch: change, Simulated: true}
		f.OverFirst, f.OverToken = f.First/m.first(s), f.Token/m.token(s, 1)
		list = append(list, f)
	}
	all := float64(tasks) * each
	// The NPU holds one task's graphs: those of another are loaded, weights and all, as its runtime does.
	add("graphs", with(1), m.size(s)+all, 0, msOf(m.c.LoadTime(2, int64(1e6*m.size(with(1))))))
	add("masked", with(tasks), m.size(s)+all, 0, 0)
	add("inputs", with(1), m.size(s), all, 0)
	return list
}

func (f AdapterFigure) String() string {
	return fmt.Sprintf("%-11s %-13s %-7s %5d %8.0f %8.0f %7.1f %6.2f %7.2f %6.2f %9.1f", f.Chip, f.Shape, f.Approach, f.Tasks, f.Graphs, f.Stored,
		f.First, f.OverFirst, f.Token, f.OverToken, f.Switch)
}

// samsungTables matches the figures of SamsungTables.
var samsungTables = regexp.MustCompile(`^Samsung Tables? (1|2|3|6|7|10)\b`)

// SamsungTables returns the figures of Samsung's Tables 1, 2, 3, 6, 7 and 10, published and simulated: ways to hold adapters,
// streams, drafts by forecasts, and rewritten graphs.
func SamsungTables() ([]PublishedFigure, error) {
	list, err := validate(sim.Default(), nil)
	return slices.DeleteFunc(list, func(f PublishedFigure) bool { return !samsungTables.MatchString(f.Figure) }), err
}
