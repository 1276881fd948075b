package sim_test

import (
	"context"
	"testing"
	"time"

	"tandem/lab/sim"
	"tandem/node/batch"
	"tandem/specdec"
)

// Everybody is answered, with a batch and without. Where rows cost nothing in a pass a batch brings as many times the answers as
// answers share a pass; where each costs the same it brings none more.
func TestCrowd(t *testing.T) {
	flat := specdec.Interpolate(map[int]time.Duration{1: 10 * time.Millisecond, 1024: 10 * time.Millisecond}, 1024)
	steep := specdec.Interpolate(map[int]time.Duration{1: time.Millisecond, 1024: 1024 * time.Millisecond}, 1024)
	for _, c := range []struct {
		name        string
		costs       specdec.Costs
		least, most float64
	}{{"flat", flat, 12, 17}, {"steep", steep, .95, 1.05}} {
		play := func(together bool) sim.CrowdOutcome {
			o, err := sim.Crowd{
				Devices: 16, Each: 3, Places: 16, Batch: together, Config: batch.Config{MaxRows: 512}, Costs: c.costs,
				Contexts: 4, Question: 20, Tokens: 24, RTT: time.Millisecond,
			}.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if o.Answers != 48 || o.Tokens != 48*24 || len(o.First) != 48 || len(o.Gaps) != 48*23 {
				t.Fatalf("%d answers of %d tokens, %d first and %d others", o.Answers, o.Tokens, len(o.First), len(o.Gaps))
			}
			if o.Rows < 48*4*(20+23) {
				t.Errorf("%d rows are too few", o.Rows)
			}
			if least := time.Duration(o.Rows) * time.Millisecond; c.name == "steep" && (o.Took < least || o.Took > least*11/10) {
				t.Errorf("%d rows of 1 ms took %v", o.Rows, o.Took)
			}
			return o
		}
		if ratio := float64(play(false).Took) / float64(play(true).Took); ratio < c.least || ratio > c.most {
			t.Errorf("%s costs: a batch is %.2f times as fast, want %v to %v", c.name, ratio, c.least, c.most)
		}
	}
}
