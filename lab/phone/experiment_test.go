package phone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/lab/report"
	"tandem/lab/spec"
	"tandem/npu"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
	"tandem/specdec"
)

// Figures that parameters were fitted to are predicted as published, no other counts as fitted, and every figure has the
// fields of its kind.
func TestFittedFigures(t *testing.T) {
	figures, err := validate(sim.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range figures {
		if seen[f.Figure] {
			t.Errorf("%s: twice", f.Figure)
		}
		seen[f.Figure] = true
		if !slices.ContainsFunc(Sources, func(s string) bool { return strings.HasPrefix(f.Figure, s) }) {
			t.Errorf("%s: of no known source", f.Figure)
		}
		if f.Predicted.Known && (math.IsNaN(f.Predicted.Value) || f.Predicted.Value < 0) {
			t.Errorf("%s: predicted %v", f.Figure, f.Predicted)
		}
		if f.Predicted.Known != (f.Kind != Open) || f.Error.Known != (f.Kind == Compared || f.Kind == Repeated || f.Kind == Measured) ||
			(f.Holds != nil) != (f.Kind == Bound) || f.Fitted != (f.Kind == FittedTo) {
			t.Errorf("%s is %s: %+v", f.Figure, f.Kind, f)
		}
		if (f.Kind == Open || f.Kind == Given) && f.Note == "" {
			t.Errorf("%s: %s, without a reason", f.Figure, f.Kind)
		}
		if f.Kind != FittedTo && f.Kind != Given {
			continue
		}
		if e := f.Predicted.Value/f.Published.Value - 1; math.Abs(e) > 0.01 {
			t.Errorf("%s: %s, but %v is not %v", f.Figure, f.Kind, f.Predicted, f.Published)
		}
	}
}

// Errors are relative, and zero within a published range. Bounds and figures that follow from the rules have none.
func TestFigureErrors(t *testing.T) {
	var v validator
	v.predicted("sd.npu a", "", 10, 12, "")
	v.predictedRange("sd.npu b", "", 5, 8, 7, "")
	v.predictedRange("sd.npu c", "", 5, 8, 4, "")
	v.predictedRange("sd.npu d", "", 5, 8, 10, "")
	v.open("sd.npu e", "", 3, "why")
	v.bound("llada.cpp f", "", "above", 1, 1, "")
	v.bound("llada.cpp g", "", "above", 1, 2, "")
	v.bound("llada.cpp h", "", "below", 1, .5, "")
	v.addOne(Given, "llada.cpp i", "", 1, 1, "a rule")
	v.addOne(Measured, "sd.npu j", "", 2, 3, "")
	v.repeated("sd.npu l", "", 1, 9, "")
	v.predictedEnds("CoordGen k", "", 2, 8, []float64{5, 6, 3}, "")
	want := []report.Number{report.Is(.2), report.Is(0), report.Is(-.2), report.Is(.25), {}, {}, {}, {}, {}, report.Is(.5), report.Is(8), report.Is(.5), report.Is(-.25)}
	if len(v.figures) != len(want) {
		t.Fatalf("%d figures, want %d", len(v.figures), len(want))
	}
	for i, f := range v.figures {
		if f.Error != want[i] {
			t.Errorf("%s: error %v, want %v", f.Figure, f.Error, want[i])
		}
	}
	for i, holds := range []bool{false, true, true} {
		if f := v.figures[5+i]; f.Holds == nil || *f.Holds != holds {
			t.Errorf("%s: %v, want %v", f.Figure, f.Holds, holds)
		}
	}
	sums := summarise(v.figures)
	if got, want := sums[0], (SourceErrors{Source: "sd.npu", Compared: 4, Within10: 1, Within25: 4, Median: report.Is(.2), Worst: report.Is(.25), Repeated: 1, Measured: 1, Open: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := sums[3], (SourceErrors{Source: "llada.cpp", Bounds: 3, Broken: 1, Given: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if all := sums[len(sums)-1]; all.Source != "all" || all.Compared != 6 || all.Worst != report.Is(.5) || all.Broken != 1 {
		t.Errorf("%+v", all)
	}
}

// Published figures are listed as the papers state them, whether the simulator agrees or not.
func TestPublishedAsPublished(t *testing.T) {
	figures, err := validate(sim.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		figure    string // a part of its name
		kind      FigureKind
		published float64
		side      string
	}{
		{"128 tokens, SM8650", Bound, 1, "above"}, // llada.cpp §5.2: still slower than Llama
		{"128 tokens, SM8750, up to", Compared, 3.9, ""},
		{"Llama-3-8B, 128 tokens, SM8850", Bound, 1, "below"},
		{"a product of 32 rows over one of 4", Given, 1, ""},
		{"sd.npu §3.1, Figure 3:", Compared, 8, ""},
		{"context of 1 to 2 thousand", Compared, 2, ""},
		{"drafts of 8 over that of 64", Compared, .5, ""},
		{"peak memory of sd.npu", Compared, 3.14, ""},
		{"faster over mllm(NPU), highest", Compared, 3.81, ""},
		{"less energy than mllm(CPU), lowest", Compared, 1.11, ""},
		{"rows of a pass that are wasted", Open, 22, ""},
		{"drafts below 32 tokens", Open, 90, ""},
		{"Samsung Table 5: total", Compared, 2.85, ""},
		{"Correction: token with DS2D", Compared, 22.3, ""},
		{"Correction: token without DS2D", FittedTo, 50.17, ""},
		{"Natural Language: token with DS2D", Repeated, 23.64, ""}, // the first case's number again
		{"Natural Language: token without DS2D", Repeated, 51.87, ""},
		{"AI Brief: peak memory", Repeated, 2484.68, ""},
		{"AI Brief: best rate", Repeated, 36.46, ""},
		{"Natural Language: rate with DS2D", Repeated, 42.30, ""},
		{"AI Brief: rate without DS2D", Repeated, 18.92, ""},
		{"generation, LoRA-B composite", Compared, 19.385, ""},
		{"first token, K transposed", Repeated, 45.8, ""},
		{"gemma4", Open, 1438, ""},
		{"speculative (1B draft)", Open, 22.83, ""},
	} {
		i := slices.IndexFunc(figures, func(f PublishedFigure) bool { return strings.Contains(f.Figure, want.figure) })
		if i < 0 {
			t.Errorf("no %q", want.figure)
			continue
		}
		if f := figures[i]; f.Kind != want.kind || f.Published != report.Is(want.published) || f.Side != want.side {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

// docs/phone-figures.md states the current errors.
func TestDocumentedErrors(t *testing.T) {
	figures, err := validate(sim.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/phone-figures.md")
	if err != nil {
		t.Fatal(err)
	}
	sums := summarise(figures)
	for _, s := range sums[:len(sums)-1] {
		if s.Compared == 0 {
			continue
		}
		row := fmt.Sprintf("| %s | %d | %d | %d | %.0f %% | %.0f %% |", s.Source, s.Compared, s.Within10, s.Within25, 100*s.Median.Value, 100*s.Worst.Value)
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/phone-figures.md lacks %s", row)
		}
	}
	chips, err := chipOrigins()
	if err != nil {
		t.Fatal(err)
	}
	o := chips[len(chips)-1]
	if shares := fmt.Sprintf("Of the %d parameters, %d have a source or state how a stack works, %d were fitted, and %d are carried over", o.Sum(), o.Sourced, o.Fitted, o.Carried); !strings.Contains(strings.Join(strings.Fields(string(text)), " "), shares) {
		t.Errorf("docs/phone-figures.md lacks %q", shares)
	}
}

// A figure that names no phone counts for the phone with the largest error.
func TestFarthestPhone(t *testing.T) {
	v := validator{files: sim.Default()}
	by := map[string]float64{"sm8550": 1.1, "sm8650": 1, "sm8750": .7}
	v.anywhere("sd.npu x", "", 1, "why", func(q request) float64 { return by[q.c.SoC] })
	if f := v.figures[0]; v.err != nil || f.Predicted != report.Is(.7) || f.Error != report.Is(-.3) || !strings.Contains(f.Note, "Redmi K70 Pro 1,") {
		t.Errorf("%+v, %v", f, v.err)
	}
}

// Measured drafting is listed next to the papers' numbers and does not count as the simulator's.
func TestMeasuredDrafting(t *testing.T) {
	with, err := validate(sim.Default(), &AcceptLengths{Task: "summary", Of: "m", Inputs: 2, SAM: 3.6, All: 5, PLD: 2, Wasted: .1, Underutilised: .8, Reusable: .385})
	if err != nil {
		t.Fatal(err)
	}
	without, err := validate(sim.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := summarise(with), summarise(without)
	if a[0].Measured != 6 || b[0].Measured != 0 || a[0].Open != b[0].Open-6 {
		t.Errorf("%+v and %+v", a[0], b[0])
	}
	a[0].Measured, a[0].Open = b[0].Measured, b[0].Open
	if a[0] != b[0] {
		t.Errorf("measured drafting changed the simulator's errors: %+v and %+v", a[0], b[0])
	}
	i := slices.IndexFunc(with, func(f PublishedFigure) bool {
		return strings.HasPrefix(f.Figure, "sd.npu §3.2, Figure 6: rows of a pass that")
	})
	if i < 0 || math.Abs(with[i].Predicted.Value-10) > 1e-9 || !strings.Contains(with[i].Note, "2 summaries") {
		t.Errorf("no wasted rows: %d", i)
	}
}

// Switching hides what can be hidden and is near the optimum. With half the memory, staging stalls at most a third as long as
// paging. Native runs are compared. All of it reaches the files, the page and the data for programs.
func TestExperiment(t *testing.T) {
	x := Experiment{SoCs: []string{"sm8650/mllm", "sm8550/mllm"}, MemorySoC: "sm8750/llada", Chunk: 256, Small: 32, Blocks: []int{2, 6}, Chunks: 4, Nodes: 200_000,
		Native: func(_ context.Context, share float64, _ Runtime) (NativeRun, error) {
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
		t.Fatalf("%d results, want %d", len(data.Switching), want)
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
	for _, f := range []string{"npu-switching.csv", "npu-memory.csv", "npu-validation.csv", "npu-validation-summary.csv", "npu-parameters.csv", "npu-gantt.svg", "npu-ablation.svg", "npu.result.json"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Error(err)
		}
	}
	html, _, err := report.Page(dir, "test")
	if err != nil || !strings.Contains(string(html), "sd.npu Table 3") || !strings.Contains(string(html), ">simulated<") || !strings.Contains(string(html), "carried over from another chip or stack with the reason") {
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
		"switching":          {"blocks", "chunks", "strategy", "total_ms", "bound_ms", "optimum_ms"},
		"memory":             {"budget", "runtime", "mapped_mb", "mappings_per_step", "stall_ms"},
		"validation":         {"figure", "kind", "published", "predicted", "fitted", "holds"},
		"validation_summary": {"source", "compared", "within_10_percent", "within_25_percent", "median_error", "worst_error"},
		"parameters":         {"soc", "sourced", "fitted", "carried"},
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

// sd.npu Table 3: the more drafts are accepted, the cheaper are tokens; graph switching saves the same time with drafts and
// without; every cell has its published number, and fitted cells are marked.
func TestSdnpu_Table3(t *testing.T) {
	if len(Table3) != 15 {
		t.Fatalf("%d cells", len(Table3))
	}
	for i := 0; i < len(Table3); i += len(ablationVariants) {
		ms := map[string]float64{}
		for _, a := range Table3[i:][:len(ablationVariants)] {
			var err error
			if ms[a.Variant], err = a.Simulate(acceptPair{4, 5}.by(a.Variant)); err != nil {
				t.Fatal(err)
			}
			if (a.fitted() != "") != (a.Model == "Qwen2.5-1.5B" && (a.Variant == "NPU" || a.Variant == "+G")) {
				t.Errorf("%s, %s: fitted to it: %q", a.Model, a.Variant, a.fitted())
			}
			// 2 ms for each of 1500 tokens read, over 100 written.
			if c := a.calibration(); (c == 30) != (a.Variant == "all") {
				t.Errorf("%s, %s: calibration takes %v ms a token", a.Model, a.Variant, c)
			}
			if _, err := a.Simulate(.5); err == nil {
				t.Error("half a token a pass is taken")
			}
		}
		hidden, hiddenWithDrafts := ms["NPU"]-ms["+G"], ms["+SD"]-ms["+G+SD"]
		if !(ms["+G"] < ms["NPU"] && ms["+SD"] < ms["NPU"] && ms["+G+SD"] < ms["+G"] && ms["all"]-30 < ms["+G+SD"]) || math.Abs(hidden-hiddenWithDrafts) > 1e-9 {
			t.Errorf("%s: %v", Table3[i].Model, ms)
		}
	}
}

// AcceptLengthsOf finds the lengths in what spec.Experiment measured, and fails if one is missing.
func TestAcceptLengthsOf(t *testing.T) {
	rows := []spec.Result{{Task: "rag", Method: "sam", AcceptLength: 9}, {Task: "summary", Method: "sam", AcceptLength: 2, Inputs: 3},
		{Task: "summary", Method: "pld", AcceptLength: 1.5, Wasted: .2, Underutilised: .7},
		{Task: "summary", Method: "all", AcceptLength: 2.5, Cases: specdec.Cases{Missing: 1, Synonym: 2, Redundant: 9}}}
	got, err := AcceptLengthsOf(rows, "summary", "m")
	if want := (AcceptLengths{Task: "summary", Of: "m", Inputs: 3, SAM: 2, All: 2.5, PLD: 1.5, Wasted: .2, Underutilised: .7, Reusable: .25}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := AcceptLengthsOf(rows[:2], "summary", "m"); !errors.Is(err, ErrNotMeasured) || !strings.Contains(err.Error(), "sam and all") {
		t.Errorf("without the method all: %v", err)
	}
}

// Where more is mapped than one session's window holds, the line counts several sessions. No mapping spans two.
func TestMemoryCountsSessions(t *testing.T) {
	c, err := sim.Find("sm8750/llada")
	if err != nil {
		t.Fatal(err)
	}
	var data Data
	if err := (Experiment{MemorySoC: "sm8750/llada"}).memory(t.Context(), &report.Report{}, &data); err != nil {
		t.Fatal(err)
	}
	beyond := 0
	for _, m := range data.Memory {
		windows := m.Mapped.Value * 1e6 / float64(c.Window)
		if m.Sessions.Value != math.Ceil(windows) || (m.Note != "") != (windows > 1) || m.Runtime == "staging" && m.Once.Value < m.Sessions.Value {
			t.Errorf("%.1f windows: %+v", windows, m)
		}
		if windows > 1 {
			beyond++
		}
	}
	if beyond == 0 {
		t.Error("nothing lies beyond a window: nothing was tested")
	}
	c.Sessions = 1
	var m Memory
	if m.sessions(c, c.Window+1); !strings.Contains(m.Note, "cannot be mapped") {
		t.Errorf("beyond the chip: %+v", m)
	}
}

// At the rows of llada.cpp's Table 7, paging only leaves no addresses for weights, and staging completes.
func TestBoundaryRuns(t *testing.T) {
	var data Data
	if err := (Experiment{MemorySoC: "sm8750/llada"}).boundaries(t.Context(), &report.Report{}, &data); err != nil {
		t.Fatal(err)
	}
	for _, b := range data.Boundaries {
		t.Logf("%+v", b)
		if want := b.Runtime == "staging" || b.Rows < 256; b.Completes != want {
			t.Errorf("%+v: completes should be %v", b, want)
		}
		if b.Completes && b.Step.Value <= b.Stall.Value {
			t.Errorf("%+v: nothing is computed", b)
		}
	}
}

// A block's times are those of its layers. Decoding's head is loaded with the last block; prefill's head is in no chunk.
func TestSwitchProblem(t *testing.T) {
	c, err := sim.Find("sm8650/mllm")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.FindShape("Qwen2.5-0.5B")
	if err != nil {
		t.Fatal(err)
	}
	one, two := s.Blocks(256, 1), s.Blocks(32, 32)
	layer := func(g *npu.Graph) time.Duration { return c.Graph(g, 256).Time() }
	p := problemOf(c, s, 5, 2, 256, 32) // 24 layers in 4, 5, 5, 5 and 5
	for j, layers := range []int{4, 5, 5, 5, 5} {
		n := time.Duration(layers)
		bytes := int64(layers) * c.Bytes(two[0])
		if j == 4 {
			bytes += c.Bytes(two[24])
		}
		b := p.Blocks[j]
		if b.Large != n*layer(one[0]) || b.Small != n*layer(two[0]) || b.Load != c.LoadTime(1, bytes) {
			t.Errorf("block %d of %d layers: %+v", j, layers, b)
		}
	}
	if !slices.Equal(p.Runs, []int{8, 8}) {
		t.Errorf("runs %v", p.Runs)
	}
}

// The papers' rule from the first chunk on loses to synchronous loading where G² is slow and the prompt is long, and the
// finding says so. With G² of a quarter of a chunk, which CoordGen §3.2 names, it does not lose.
func TestRuleFinding(t *testing.T) {
	for _, soc := range []string{"sm8550/mllm", "sm8650/mllm", "sm8750/mllm"} {
		c, err := sim.Find(soc)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Experiment{Chunk: 256, Small: 32, Blocks: []int{2}, Chunks: 8}.ruleFinding(c)
		if err != nil || strings.Contains(got, " in 0 of 24 prefills with G² of 32 rows") || !strings.Contains(got, " in 0 of 24 prefills with G² of 64 rows") {
			t.Errorf("%q, %v", got, err)
		}
		for _, model := range switchingShapes { // the papers' setting: two blocks, 1500 tokens
			p, err := switchingProblem(c, model, 2, 6, 256, 32)
			if err != nil {
				t.Fatal(err)
			}
			rule, synchronous := p.Simulate(p.Plan(plan.Greedy)), p.Simulate(p.Plan(plan.Synchronous))
			if rule.Hidden() <= synchronous.Hidden() || rule.Total() <= synchronous.Total() {
				t.Errorf("%s on %s: %v with %.2f hidden, synchronous %v", model, soc, rule.Total(), rule.Hidden(), synchronous.Total())
			}
		}
	}
}
