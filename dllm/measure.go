package dllm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem/model"
	"tandem/npu"
)

// Measure returns the times in seconds of passes of 1 to maxRows rows, all with logits, for Config.Costs: the latency
// staircase of the device (llada.cpp §3.2). It times several numbers of rows in turns, each at least once and all together
// for about budget, and takes the fastest pass of each, because other work on the machine only makes passes slower. It
// interpolates between the numbers, and more rows never cost less. If the device has no memory for more rows
// (npu.ErrMemory), the result is shorter.
//
// clock is the clock of a simulated device, or nil. With a clock, two rounds suffice, the first of which loads graphs:
// simulated times do not vary.
func Measure(ctx context.Context, m *model.Model, maxRows int, budget time.Duration, clock func() time.Duration) ([]float64, error) {
	begun := time.Now()
	more := func(round int) bool { return round < 1 || round < 8 && time.Since(begun) < budget }
	if clock != nil {
		more = func(round int) bool { return round < 2 }
	} else {
		clock = func() time.Duration { return time.Since(begun) }
	}
	maxRows = min(maxRows, m.Config().Context)
	var sizes []int
	for n := 1; n < maxRows; n += 16 { // both sides of the edges of tiles of 16 and 32
		if sizes = append(sizes, n); n > 1 {
			sizes = slices.Insert(sizes, len(sizes)-1, n-1)
		}
	}
	sizes = append(sizes, maxRows)
	best := make([]float64, len(sizes))
	e := newEngine(m, 0, 0, false)
	for round := 0; more(round); round++ {
		for i, n := range sizes {
			rows := make([]Row, n)
			for p := range rows {
				rows[p] = Row{Position: p, Token: m.Config().Mask, Sees: n, Logits: true}
			}
			at := clock()
			_, err := e.Compute(ctx, rows)
			if errors.Is(err, npu.ErrMemory) && i > 0 {
				sizes, best = sizes[:i], best[:i]
				break
			}
			if err != nil {
				return nil, fmt.Errorf("measure passes: %w", err)
			}
			if took := (clock() - at).Seconds(); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return interpolate(sizes, best), nil
}

// interpolate returns the times of 1 to the last of sizes rows, from those of some sizes, the first of which is 1.
func interpolate(sizes []int, times []float64) (costs []float64) {
	for i, n := range sizes {
		if i > 0 {
			times[i] = max(times[i], times[i-1])
			for from, at := sizes[i-1], sizes[i-1]+1; at < n; at++ {
				share := float64(at-from) / float64(n-from)
				costs = append(costs, min(times[i], times[i-1]+(times[i]-times[i-1])*share)) // never falls by rounding
			}
		}
		costs = append(costs, times[i])
	}
	return costs
}
