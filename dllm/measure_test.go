package dllm

import (
	"slices"
	"testing"
)

func TestMeasure(t *testing.T) {
	if got, want := interpolate([]int{1, 3, 5}, []float64{1, 3, 2}), []float64{1, 2, 3, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	m := peaked(t, "llada", 1)
	costs, err := Measure(t.Context(), m, 50, 0)
	if err != nil || len(costs) != 50 || !slices.IsSorted(costs) || costs[0] <= 0 {
		t.Errorf("%v, %v", costs, err)
	}
}
