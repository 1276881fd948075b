package engine

import (
	"testing"

	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
)

// The measurement runs through on a small model, and what does not depend on time is right.
func TestMeasureAdapters(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	o := AdapterOptions{Rank: 4, Tasks: []int{1, 3}, Runs: 1, Steps: 2, Prompt: 3, Threads: 1, Progress: func(string, ...any) {}}
	r, err := MeasureAdapters(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Costs) != 4 || len(r.Mounts) != 6 {
		t.Fatalf("%d costs, %d mounts", len(r.Costs), len(r.Mounts))
	}
	for _, x := range r.Mounts {
		// q, k, v and output of two layers, in 16 bits: [4 × 64] and [4 × 64 or 32].
		if want := int64(x.Tasks) * 2 * 2 * 4 * (2*128 + 2*96); x.Bytes != want {
			t.Errorf("%d tasks, %s: %d bytes, want %d", x.Tasks, x.Approach, x.Bytes, want)
		}
		if want := map[bool]int{true: x.Tasks, false: 1}[x.Approach == "graphs"]; x.Passes != want {
			t.Errorf("%d tasks, %s: %d passes, want %d", x.Tasks, x.Approach, x.Passes, want)
		}
	}
	o.Rank = 0
	if _, err := MeasureAdapters(t.Context(), m, o); err == nil {
		t.Error("rank 0 is accepted")
	}
}
