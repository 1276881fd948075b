package span

import (
	"strings"
	"testing"

	"tandem/decoder/kvstore"
	"tandem/npu/native"
)

const museum = "The harbour museum opens at 9:40 on weekdays and closes at 17:20. On Sundays it stays shut. Tickets cost $4.50 for adults. "

// BenchmarkRead times a question about eight passages of about 100 words each on one core: passages that were not read before,
// those that another process has stored on disk, and passages that are kept.
func BenchmarkRead(b *testing.B) {
	const n = 8
	r, err := New(shipped(b), native.New(1), 1)
	if err != nil {
		b.Fatal(err)
	}
	passages := func() (ps []*Passage) {
		for i := range n {
			ps = append(ps, r.passage(strings.Repeat(museum, 4)[i:]))
		}
		return ps
	}
	store, err := kvstore.Open(b.TempDir(), 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	with := func(s Store) func() []*Passage {
		return func() []*Passage { r.Keep(s); return passages() }
	}
	kept := passages()
	for _, c := range []struct {
		name     string
		passages func() []*Passage
	}{{"cold", with(nil)}, {"stored", with(store.Disk())}, {"warm", func() []*Passage { return kept }}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Read(b.Context(), "When does the harbour museum open?", c.passages()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/n/float64(b.N), "ms/passage")
		})
	}
}
