package phone

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/npu/phone/sim"
)

var update = flag.Bool("update", false, "write fitted values into npu/phone/sim/soc")

type fit struct{ param, figure string }

// fits are the fitted values, each with the figure that determines it when the others are given.
var fits = []fit{
	{"sm8650/qnn/op", "Samsung Table 10: generation, what scalar folding saves"},
	{"sm8650/qnn/vector", "Samsung Table 10: first token, what scalar folding saves"},
	{"sm8650/qnn/stream", "Samsung Table 10: generation, scalar folding"},
	{"sm8650/qnn/matrix", "PowerServe 8 Gen 3: SmallThinker-3B, prefill"},
	{"sm8650/qnn/load", "Samsung Tables 5 and 6: initialisation of the 3B model for Correction less loading of the 1B model"},
	{"sm8750/qnn/stream", "Samsung Table 6, Correction: token without DS2D"},
	{"sm8750/qnn/matrix", "PowerServe 8 Elite: SmallThinker-3B, prefill"},
	{"sm8850/hexagon/op", "llama.cpp pull request 22334, Hexagon v81: Llama-3.2-1B Q4_0, generation"},
	{"sm8850/hexagon/stream", "llama.cpp pull request 22334, Hexagon v81: Llama-3.1-8B Q4_0, generation"},
	{"sm8850/hexagon/matrix", "llama.cpp pull request 22334, Hexagon v81: Llama-3.2-1B Q4_0, prompt 256"},
	{"sm8750/hexagon/stream", "llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, generation 64"},
	{"sm8750/hexagon/matrix", "llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, prompt 128"},
	{"sm8750/hexagon/load", "llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, load"},
	{"sm8750/cpu", "MNN pull request 4633, SM8750: Qwen3-0.6B on the CPU, prompt 512"},
	{"sm8750/cpu_stream", "MNN pull request 4633, SM8750: Qwen3-0.6B on the CPU, generation 128"},
	{"sm8550/mllm/launch", "sd.npu Table 3: Qwen2.5-1.5B, +G"},
	{"sm8550/mllm/load", "sd.npu Table 3: Qwen2.5-1.5B, NPU"},
	{"sm8750/mllm/row", "CoordGen §2.1: prefill on the OnePlus 13, more than"},
	{"sm8650/mllm/launch", "CoordGen §2.3, Figure 6: draft of 1, Redmi K70 Pro"},
	{"sm8650/mllm/row", "CoordGen §2.3, Figure 6: draft of 32, Redmi K70 Pro"},
	{"sm8550/npu_power", "sd.npu §5.2: energy of a request, Redmi K60 Pro"},
	{"sm8750/npu_power", "sd.npu §5.2: energy of a request, OnePlus 13"},
}

// atNone are values whose fit, to the difference of two figures, would be negative. They are 0, and the figures count
// as predictions.
var atNone = []struct{ param, figure, less string }{
	{"sm8550/mllm/load_fixed", "sd.npu Table 3: Qwen2.5-0.5B, NPU", "sd.npu Table 3: Qwen2.5-0.5B, +G"},
}

// misses returns how far each figure is from the published one, as the logarithm of the ratio.
func misses(files sim.Files) ([]float64, error) {
	v := validator{files: files}
	if err := v.addAll(v.ablation, v.draftLengths, v.energy, v.samsung, v.samsungScaled, v.engines, v.mnn); err != nil {
		return nil, err
	}
	out := make([]float64, len(fits))
	for i, f := range fits {
		p := figure(v.figures, f.figure)
		out[i] = math.Log(p.Predicted.Value / p.Published.Value) // NaN if the figure is missing
	}
	return out, nil
}

// figure returns the figure with the given name.
func figure(figures []PublishedFigure, name string) PublishedFigure {
	if at := slices.IndexFunc(figures, func(p PublishedFigure) bool { return p.Figure == name }); at >= 0 {
		return figures[at]
	}
	return PublishedFigure{}
}

// solve fits all values together by Newton's method on their logarithms.
func solve(files sim.Files) (sim.Files, error) {
	set := func(files sim.Files, i int, by float64) (sim.Files, error) {
		p, _ := files.Raw(fits[i].param)
		return files.With(fits[i].param, p.Value*math.Exp(by))
	}
	const step, most = 1e-2, 0.4 // costs are whole nanoseconds, so smaller steps are lost in rounding
	for range 40 {
		miss, err := misses(files)
		if err != nil {
			return nil, err
		}
		rows := make([][]float64, len(fits)) // derivatives and misses
		for i := range rows {
			rows[i] = append(make([]float64, len(fits)), -miss[i])
		}
		for j := range fits {
			moved, err := set(files, j, step)
			if err != nil {
				return nil, err
			}
			other, err := misses(moved)
			if err != nil {
				return nil, err
			}
			for i := range rows {
				rows[i][j] = (other[i] - miss[i]) / step
			}
		}
		farthest := 0.0
		for j, by := range eliminate(rows) {
			farthest = max(farthest, math.Abs(by))
			if files, err = set(files, j, max(-most, min(most, by))); err != nil {
				return nil, err
			}
		}
		if math.IsNaN(farthest) {
			return nil, fmt.Errorf("a figure that a value is fitted to is missing")
		}
		if farthest < 2e-3 {
			return files, nil
		}
	}
	return nil, fmt.Errorf("the fits do not settle")
}

// eliminate solves n linear equations. Each is a row of n factors and the right side.
func eliminate(rows [][]float64) []float64 {
	n := len(rows)
	for c := range n {
		best := c
		for r := c; r < n; r++ {
			if math.Abs(rows[r][c]) > math.Abs(rows[best][c]) {
				best = r
			}
		}
		rows[c], rows[best] = rows[best], rows[c]
		for r := range n {
			if r == c {
				continue
			}
			f := rows[r][c] / rows[c][c]
			for k := c; k <= n; k++ {
				rows[r][k] -= f * rows[c][k]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = rows[i][n] / rows[i][i]
	}
	return x
}

// Fitting again gives every fitted value, and the files call no other value fitted. With -update the new values are
// written to the files.
func TestFits(t *testing.T) {
	files := sim.Default()
	solved, err := solve(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fits {
		is, _ := files.Raw(f.param)
		want, _ := solved.Raw(f.param)
		switch off := math.Abs(is.Value/want.Value - 1); {
		case is.Fitted == "":
			t.Errorf("%s is not called fitted", f.param)
		case *update:
			if err := writeFit(f.param, want.Value); err != nil {
				t.Fatal(err)
			}
		case !(off <= .005):
			t.Errorf("%s is %v, but %s makes it %.5g (go test ./lab/phone -run TestFits -update)", f.param, is.Value, f.figure, want.Value)
		}
	}

	figures, err := validate(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	called := fitted(files)
	for _, f := range atNone {
		p, _ := files.Raw(f.param)
		a, b := figure(figures, f.figure), figure(figures, f.less)
		if !called[f.param] || p.Value != 0 || a.Predicted.Value-b.Predicted.Value < a.Published.Value-b.Published.Value {
			t.Errorf("%s is %v, but %s and %s make it positive", f.param, p.Value, f.figure, f.less)
		}
		delete(called, f.param)
	}
	for _, f := range figures {
		if f.Kind == FittedTo && !slices.ContainsFunc(fits, func(of fit) bool { return of.figure == f.Figure }) {
			t.Errorf("%s: nothing is fitted to it", f.Figure)
		}
	}
	for at := range called {
		if !slices.ContainsFunc(fits, func(of fit) bool { return of.param == at }) {
			t.Errorf("%s: called fitted, but no figure makes it", at)
		}
	}
}

// fitted returns the values that the files call fitted.
func fitted(files sim.Files) map[string]bool {
	out := map[string]bool{}
	add := func(at string, params map[string]sim.Param) {
		for name, p := range params {
			if p.Fitted != "" {
				out[at+"/"+name] = true
			}
		}
	}
	for name, s := range files {
		add(name, s.Chip)
		for stack, st := range s.Stacks {
			add(name+"/"+stack, st.Params)
		}
	}
	return out
}

// writeFit writes a fitted value with five digits into its file, where each value has its own line.
func writeFit(param string, value float64) error {
	parts := strings.Split(param, "/")
	file := "../../npu/phone/sim/soc/" + parts[0] + ".json"
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from := 0
	if len(parts) == 3 {
		from = strings.Index(string(text), strconv.Quote(parts[1])+": {\n")
	}
	name := regexp.MustCompile(`("` + parts[len(parts)-1] + `": \{"value": )[^,]+`)
	place := name.FindSubmatchIndex(text[from:])
	if place == nil {
		return fmt.Errorf("%s is not in %s", param, file)
	}
	digits := strconv.FormatFloat(value, 'g', 5, 64)
	if short, err := strconv.ParseFloat(digits, 64); err == nil {
		digits = strconv.FormatFloat(short, 'f', -1, 64)
	}
	text = slices.Concat(text[:from+place[3]], []byte(digits), text[from+place[1]:])
	return os.WriteFile(file, text, 0o644)
}
