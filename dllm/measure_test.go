package dllm

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/phone"
)

func TestMeasure(t *testing.T) {
	if got, want := interpolate([]int{1, 3, 5}, []float64{1, 3, 2}), []float64{1, 2, 3, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	m := peaked(t, "llada", 1)
	costs, err := Measure(t.Context(), m, 50, 0, nil)
	if err != nil || len(costs) != 50 || !slices.IsSorted(costs) || costs[0] <= 0 {
		t.Errorf("%v, %v", costs, err)
	}
}

// Where the memory of the device ends, so do the times, and what is measured leaves room for the text.
func TestMeasureWithinMemory(t *testing.T) {
	data := tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Type: npu.Q8_0, Dim: 256, FF: 1024, Layers: 8, Seed: 3, Gain: 3, Context: 512})
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := phone.Open(phone.Options{Threads: 1, Memory: 7 << 19, Caches: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(path, d)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	costs, err := Measure(t.Context(), m, 400, 0, nil)
	if err != nil || len(costs) < 32 || len(costs) == 400 {
		t.Fatalf("%d times, %v", len(costs), err)
	}
	if text, _ := generate(t, m, prompt(10), Options{Method: Full(), MaxTokens: 40, IgnoreEnd: true, Costs: costs}); len(text) != 40 {
		t.Errorf("%d tokens", len(text))
	}
}
