package phone

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tandem/lab/report"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// weak are values that no figure constrains well, with other values to try: by default half and double.
var weak = []struct {
	param  string
	values []float64
}{
	{param: "common/map"},
	{param: "common/map_rate"},
	{"common/map_rate", []float64{20}}, // 4 KiB pages at 0.2 µs each
	{param: "common/stage"},
	{param: "common/qnn/launch"},
	{param: "common/hexagon/launch"},
	{param: "sm8550/mllm/launch"},
	{"sm8550/mllm/load_fixed", []float64{10_000}},
	{param: "sm8750/cpu"},
	{param: "sm8750/cpu_stream"},
	{param: "sm8750/cpu_power"},
}

// outcome returns the experiment's claims and the simulator's errors as a line of a table.
func outcome(t *testing.T, files sim.Files) string {
	t.Helper()
	x := Experiment{SoCs: []string{"sm8550/mllm", "sm8650/mllm", "sm8750/mllm"}, MemorySoC: "sm8750/llada", Chunk: 256, Small: 32, Blocks: []int{6}, Chunks: 4, Nodes: 50_000, files: files}
	var r report.Report
	var data Data
	if err := x.switching(t.Context(), &r, &data); err != nil {
		t.Fatal(err)
	}
	if err := x.memory(t.Context(), &r, &data); err != nil {
		t.Fatal(err)
	}
	figures, err := validate(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	hidden, farthest, holds := 1.0, 0.0, 0
	for _, s := range data.Switching {
		if s.Strategy != plan.Progressive.String() {
			continue
		}
		if s.Condition {
			hidden, holds = min(hidden, s.Hidden.Value), holds+1
		}
		if s.Optimum.Known {
			farthest = max(farthest, s.Total.Value/s.Optimum.Value-1)
		}
	}
	stalls := map[string]float64{}
	for _, m := range data.Memory {
		if m.Budget.Value == .5 {
			stalls[m.Runtime] = m.Stall.Value
		}
	}
	sums := summarise(figures)
	medians := ""
	for _, s := range sums {
		if s.Source == "sd.npu" || s.Source == "all" {
			medians += fmt.Sprintf(" | %.0f %%", 100*s.Median.Value)
		}
	}
	return fmt.Sprintf("%.1f %% of %d | %.1f %% | %.0f and %.0f ms%s", 100*hidden, holds, 100*math.Abs(farthest), stalls["staging"], stalls["paging"], medians)
}

// docs/phone-figures.md states how the claims depend on values that no figure constrains well.
func TestDocumentedSensitivity(t *testing.T) {
	text, err := os.ReadFile("../../docs/phone-figures.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(what string, files sim.Files) {
		line := fmt.Sprintf("| %s | %s |", what, outcome(t, files))
		t.Log(line)
		if !strings.Contains(string(text), line) {
			t.Errorf("docs/phone-figures.md lacks %s", line)
		}
	}
	files := sim.Default()
	row("as they are", files)
	for _, w := range weak {
		p, _ := files.Raw(w.param)
		values := w.values
		if values == nil {
			values = []float64{p.Value / 2, 2 * p.Value}
		}
		for _, v := range values {
			other, err := files.With(w.param, v)
			if err != nil {
				t.Fatal(err)
			}
			row(fmt.Sprintf("`%s` %.4g %s", w.param, v, p.Unit), other)
		}
	}
}
