package engine

import (
	"testing"

	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/native"
)

// The measurement runs through on a small model, and what does not depend on time is right.
func TestMeasureAdapters(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0}), native.New(1))
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
		// q, k, v and output of two layers, [4 × 64] and [4 × 64 or 32]: in 16 bits, or as inputs in 8 with a scale for
		// 32 numbers, the first padded to 16 ranks and the second's scales to 8.
		want := int64(x.Tasks) * 2 * 2 * 4 * (2*128 + 2*96)
		if x.Approach == "inputs" {
			want = int64(x.Tasks) * 2 * (4*16*2*34 + (2+1+1+2)*(2*8+4*32))
		}
		if x.Bytes != want {
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
