package batch

import (
	"slices"
	"testing"
)

// Each job gets the logits that it requested, however many there are.
func TestKeep(t *testing.T) {
	for _, vocab := range []int{3, 100_000} {
		var jobs []*job
		var list []logitsCopy
		var out [][]float32
		for i := range 12 {
			out = append(out, slices.Repeat([]float32{float32(i)}, vocab))
		}
		rest := out
		for range 6 { // two rows each, of which the second was requested
			j := &job{logits: [][]float32{make([]float32, vocab)}}
			var some []logitsCopy
			some, rest = part{job: j, wanted: []bool{false, true}}.copies(rest)
			jobs, list = append(jobs, j), append(list, some...)
		}
		if copyAll(list); len(rest) != 0 || len(list) != len(jobs) {
			t.Fatalf("%d of %d logits kept, %d left", len(list), len(jobs), len(rest))
		}
		for i, j := range jobs {
			if !slices.Equal(j.logits[0], out[2*i+1]) || j.filled != 1 {
				t.Errorf("vocabulary %d: job %d has the logits of another row", vocab, i)
			}
		}
	}
	copyAll(nil)
}
