package batch

import (
	"math/bits"
	"sort"
	"time"

	"tandem/specdec"
)

// costs measures the times of passes.
type costs struct {
	limit int                   // rows that matter
	times map[int]time.Duration // means, in which the latest count most, by rows rounded up
	table specdec.Costs         // of up to most rows
	mean  time.Duration         // the mean of all passes; 0 before the first
}

// recent is the weight that the latest pass has in a mean: about the last ten count.
const recent = 8

// observe records the time of a pass.
func (c *costs) observe(rows int, took time.Duration) {
	if rows < 1 || took < 0 {
		return
	}
	if c.times == nil {
		c.times = map[int]time.Duration{}
	}
	at := roundUp(rows)
	mean, seen := c.times[at]
	if !seen {
		mean = took
	}
	c.times[at] = mean + (took-mean)/recent
	if c.mean == 0 {
		c.mean = took
	}
	c.mean += (took - c.mean) / recent
	c.table = specdec.Interpolate(c.times, c.limit)
}

// roundUp rounds to numbers of rows that have one time: four to a power of two.
func roundUp(rows int) int {
	step := max(1, 1<<bits.Len(uint(rows-1))/8)
	return (rows + step - 1) / step * step
}

// maxRows returns how many rows a pass may have in some time, in seconds.
func (c *costs) maxRows(seconds float64) int {
	const rounding = 1 + 1e-9
	if len(c.table) == 0 {
		return int(min(seconds*rounding, float64(c.limit))) // each row costs as much as it does for Costs.At
	}
	return sort.Search(len(c.table), func(i int) bool { return c.table[i] > seconds*rounding })
}
