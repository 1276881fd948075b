package span

import (
	"strings"
	"testing"

	"tandem/npu/native"
)

const museum = "The harbour museum opens at 9:40 on weekdays and closes at 17:20. On Sundays it stays shut. Tickets cost $4.50 for adults. "

// BenchmarkRead times a question about a passage of about 100 words on one core.
func BenchmarkRead(b *testing.B) {
	r, err := New(shipped(b), native.New(1), 1)
	if err != nil {
		b.Fatal(err)
	}
	passage := strings.Repeat(museum, 4)
	b.Run("passage", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.passage(passage); err != nil {
				b.Fatal(err)
			}
		}
	})
	p, err := r.Passage(passage)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("question", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.Read("When does the harbour museum open?", []*Passage{p}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
