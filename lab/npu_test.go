package lab

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/npu/memory"
	"tandem/npu/sim"
)

// What parameters were fitted to comes out as published, and nothing else counts as fitted.
func TestFittedFigures(t *testing.T) {
	figures, err := Validate()
	if err != nil {
		t.Fatal(err)
	}
	fits := 0
	for _, f := range figures {
		if f.Predicted.Known && (math.IsNaN(f.Predicted.Value) || f.Predicted.Value < 0) {
			t.Errorf("%s: predicted %v", f.Figure, f.Predicted)
		}
		if !f.Predicted.Known && f.Note == "" {
			t.Errorf("%s: not predicted, without a word why", f.Figure)
		}
		if !f.Fitted {
			if f.Error.Known != f.Predicted.Known {
				t.Errorf("%s: predicted %v, error %v", f.Figure, f.Predicted, f.Error)
			}
			continue
		}
		fits++
		if e := f.Predicted.Value/f.Published.Value - 1; math.Abs(e) > 0.01 {
			t.Errorf("%s: fitted, but %v is not %v", f.Figure, f.Predicted, f.Published)
		}
	}
	// As many figures as parameters say that they were fitted.
	params := 0
	for _, name := range sim.Names() {
		s, err := sim.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		sets := []map[string]sim.Param{s.Chip}
		for stack, st := range s.Stacks {
			if stack != "llada" { // hexagon's again
				sets = append(sets, st.Params)
			}
		}
		for _, set := range sets {
			for _, p := range set {
				if p.Fitted != "" {
					params++
				}
			}
		}
	}
	if fits != params {
		t.Errorf("%d figures are called fitted, %d parameters", fits, params)
	}
}

// Errors are relative, and zero within a published range.
func TestFigureErrors(t *testing.T) {
	var v validator
	v.is("a", "", 10, 12, "")
	v.within("b", "", 5, 8, 7, "")
	v.within("c", "", 5, 8, 4, "")
	v.within("d", "", 5, 8, 10, "")
	v.open("e", "", 3, "why")
	want := []Number{Is(.2), Is(0), Is(-.2), Is(.25), {}}
	for i, f := range v.figures {
		if f.Error != want[i] {
			t.Errorf("%s: error %v, want %v", f.Figure, f.Error, want[i])
		}
	}
}

// The figures that the experiment is about: switching hides what can be hidden and comes near the optimum;
// half the memory costs a third of paging's stalls or less; what is native is compared; all of it reaches
// files, the report and programs.
func TestNPU(t *testing.T) {
	x := NPU{SoCs: []string{"sm8650/mllm", "sm8550/mllm"}, MemorySoC: "sm8750/llada", Chunk: 256, Small: 32, Blocks: []int{2, 6}, Chunks: 4, Nodes: 200_000,
		Native: func(_ context.Context, share float64, _ bool) (NativeRun, error) {
			return NativeRun{Tokens: []int{1, 2}, Weights: 100, Counters: memory.Counters{Steps: 2, Peak: int64(100 * share)}}, nil
		},
		Accept: func(context.Context) (AcceptLengths, error) {
			return AcceptLengths{Task: "summary", Of: "test", Inputs: 2, SAM: 3, All: 4}, nil
		}}
	r, data, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 3 * 2 * 4 * len(switchingStrategies); len(data.Switching) != want {
		t.Fatalf("%d rows, want %d", len(data.Switching), want)
	}
	conditions := 0
	for i := 0; i < len(data.Switching); i += len(switchingStrategies) {
		by := map[string]Switching{}
		for _, s := range data.Switching[i:][:len(switchingStrategies)] {
			by[s.Strategy] = s
			if s.Strategy != "resident" && (s.Total.Value < s.Bound.Value-1e-6 || s.Optimum.Known && s.Total.Value < s.Optimum.Value-1e-6) {
				t.Errorf("%+v beats its bounds", s)
			}
		}
		p := by["progressive"]
		if p.Total.Value > by["asynchronous"].Total.Value || p.Total.Value > by["greedy"].Total.Value || by["asynchronous"].Total.Value > by["synchronous"].Total.Value {
			t.Errorf("%s, %d blocks, %d chunks: out of order", p.Model, p.Blocks, p.Chunks)
		}
		if !p.Optimum.Known || p.Total.Value > 1.05*p.Optimum.Value {
			t.Errorf("%s %s, %d blocks, %d chunks: %v, optimum %v", p.SoC, p.Model, p.Blocks, p.Chunks, p.Total, p.Optimum)
		}
		if p.Condition {
			if conditions++; p.Hidden.Value < 0.95 {
				t.Errorf("%s %s, %d blocks, %d chunks: %v hidden", p.SoC, p.Model, p.Blocks, p.Chunks, p.Hidden)
			}
		}
	}
	if conditions == 0 {
		t.Error("the papers' condition holds nowhere: nothing was tested")
	}

	stalls := map[string]map[float64]Memory{}
	for _, m := range data.Memory {
		if stalls[m.Runtime] == nil {
			stalls[m.Runtime] = map[float64]Memory{}
		}
		stalls[m.Runtime][m.Budget.Value] = m
	}
	for _, b := range budgets {
		s, p := stalls["staging"][b], stalls["paging"][b]
		if s.Stall.Value > p.Stall.Value || s.Mapped.Value > s.BudgetMB.Value+1 || s.Mappings.Value != 0 {
			t.Errorf("at %v: staging %+v, paging %+v", b, s, p)
		}
	}
	if s, p := stalls["staging"][.5], stalls["paging"][.5]; 3*s.Stall.Value > p.Stall.Value {
		t.Errorf("at half the memory staging stalls for %v ms, paging for %v", s.Stall, p.Stall)
	}
	if n := stalls["native"][.5]; n.Same == nil || !*n.Same {
		t.Errorf("native: %+v", n)
	}

	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"npu-switching.csv", "npu-memory.csv", "npu-validation.csv", "npu-gantt.svg", "npu-ablation.svg", "npu-ablation.csv", "npu.result.json"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Error(err)
		}
	}
	page := filepath.Join(dir, "report.html")
	if _, err := Report(dir, page, "test"); err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "sd.npu Table 3") || !strings.Contains(string(html), ">simulated<") {
		t.Errorf("the report lacks its tables: %v", err)
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	back := map[string][]map[string]any{}
	for key, names := range map[string][]string{
		"switching":  {"blocks", "chunks", "strategy", "total_ms", "bound_ms", "optimum_ms"},
		"memory":     {"budget", "runtime", "mapped_mb", "mappings_per_step", "stall_ms"},
		"validation": {"figure", "published", "predicted", "fitted"},
		"ablation":   {"model", "row", "published_ms", "accept_length", "simulated_ms"},
	} {
		var list []map[string]any
		if err := json.Unmarshal(all[key], &list); err != nil {
			t.Fatal(err)
		}
		back[key] = list
		for _, name := range names {
			if len(back[key]) == 0 || !slices.ContainsFunc(back[key], func(row map[string]any) bool { _, ok := row[name]; return ok }) {
				t.Errorf("no %s in %s", name, key)
			}
		}
	}
}

// sd.npu Table 3: drafts make tokens cheaper the more of them are accepted, graph switching hides what it
// hides with drafts and without, and every cell has its published number.
func TestSdnpu_Table3(t *testing.T) {
	if len(Table3) != 15 {
		t.Fatalf("%d cells", len(Table3))
	}
	lengths := AcceptLengths{Task: "summary", Of: "test", Inputs: 1, SAM: 3, All: 4}
	rows, err := lengths.Ablate()
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(rows); i += len(ablationRows) {
		by := map[string]Ablated{}
		for j, r := range rows[i:][:len(ablationRows)] {
			by[r.Row] = r
			if r.Published.Value != Table3[i+j].Ms || r.Model != Table3[i+j].Model {
				t.Errorf("%+v is not %+v", r, Table3[i+j])
			}
		}
		ms := func(row string) float64 { return by[row].Simulated.Value }
		hidden, hiddenWithDrafts := ms("NPU")-ms("+G"), ms("+SD")-ms("+G+SD")
		if !(ms("+G") < ms("NPU") && ms("+SD") < ms("NPU") && ms("+G+SD") < ms("+G") && ms("all") < ms("+G+SD")) || math.Abs(hidden-hiddenWithDrafts) > 1e-9 {
			t.Errorf("%s: %+v", rows[i].Model, by)
		}
		if r := by["all"]; r.Accept.Value != 4 || math.Abs(r.Gain.Value-ms("NPU")/ms("all")) > 1e-9 {
			t.Errorf("%+v", r)
		}
	}
	if _, err := Table3[2].Simulate(0.5); err == nil {
		t.Error("half a token a pass is simulated")
	}
}

// Accept lengths are picked out of what Spec measured, and of nothing less.
func TestAcceptLengthsOf(t *testing.T) {
	rows := []SpecRow{{Task: "rag", Method: "sam", AcceptLength: 9}, {Task: "summary", Method: "sam", AcceptLength: 2, Inputs: 3}, {Task: "summary", Method: "all", AcceptLength: 2.5}}
	got, err := AcceptLengthsOf(rows, "summary", "m")
	if want := (AcceptLengths{Task: "summary", Of: "m", Inputs: 3, SAM: 2, All: 2.5}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := AcceptLengthsOf(rows[:2], "summary", "m"); !errors.Is(err, ErrNotMeasured) || !strings.Contains(err.Error(), "sam and all") {
		t.Errorf("without the method all: %v", err)
	}
}
