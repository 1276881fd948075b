//go:build !race

package model

import (
	"context"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/npu"
)

// In steady state, Forward allocates twice per token: the logits and the slice of them, which the caller keeps.
// ForwardInto reuses the caller's memory and does not allocate.
func TestTokensAllocateOnlyTheirLogits(t *testing.T) {
	for _, typ := range npu.DTypes {
		file := tinymodel.GGUF(tinymodel.Spec{Type: typ, Dim: 256, FF: 2048})
		for _, threads := range []int{1, 2} {
			m := opened(t, file, threads, []int{1, 8})
			s := m.NewSeq()
			forward(t, m, Input{Seq: s, Tokens: pattern(5)})
			row := []Input{{Seq: s, Tokens: pattern(1)}}
			got := testing.AllocsPerRun(200, func() {
				if _, err := m.Forward(context.Background(), row); err != nil {
					t.Fatal(err)
				}
				s.Truncate(5)
			})
			if got > 2 {
				t.Errorf("%v, %d threads: Forward allocates %v times, want 2", typ, threads, got)
			}
			var memory Logits
			got = testing.AllocsPerRun(200, func() {
				if _, err := m.ForwardInto(context.Background(), row, &memory); err != nil {
					t.Fatal(err)
				}
				s.Truncate(5)
			})
			if got > 0 {
				t.Errorf("%v, %d threads: ForwardInto allocates %v times, want 0", typ, threads, got)
			}
		}
	}
}
