//go:build !race

package model

import (
	"context"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/npu"
)

// In steady state a token costs three allocations, which are the caller's to keep: the logits, the slice of
// them, and what Forward counts the sequences in.
func TestTokensAllocateOnlyTheirLogits(t *testing.T) {
	for _, threads := range []int{1, 2} {
		for _, typ := range []npu.DType{npu.Q8_0, npu.Q4_K, npu.F16} {
			m := variant(t, tinymodel.Spec{Type: typ, Dim: 256, FF: 2048}, threads, 1, 8)
			s := m.NewSeq()
			forward(t, m, Row{Seq: s, Tokens: pattern(5)})
			row := []Row{{Seq: s, Tokens: pattern(1)}}
			got := testing.AllocsPerRun(200, func() {
				if _, err := m.Forward(context.Background(), row); err != nil {
					t.Fatal(err)
				}
				s.Truncate(5)
			})
			if got > 3 {
				t.Errorf("%v, %d threads: %v allocations", typ, threads, got)
			}
		}
	}
}
