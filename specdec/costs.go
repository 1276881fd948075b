package specdec

import (
	"maps"
	"slices"
	"time"

	"tandem/npu"
)

// Costs says how long a pass takes: entry i is that of i+1 rows. Times are in seconds. They are measured on a
// device (Measure), or a staircase on an NPU, whose graph has a fixed number of rows (sd.npu §3.2).
type Costs []float64

// At returns the time of a pass of so many rows; beyond the last entry it grows in proportion.
func (c Costs) At(rows int) float64 {
	switch {
	case len(c) == 0 || rows <= 0:
		return float64(rows)
	case rows <= len(c):
		return c[rows-1]
	}
	return c[len(c)-1] * float64(rows) / float64(len(c))
}

// Staircase is the cost of graphs of a fixed number of rows: base for each started one.
func Staircase(tile int, base float64, n int) Costs {
	c := make(Costs, n)
	for i := range c {
		c[i] = base * float64(i/tile+1)
	}
	return c
}

// Interpolate fills in what was not measured: times holds some numbers of rows. Between two of them the time
// grows evenly, and it never falls.
func Interpolate(times map[int]time.Duration, n int) Costs {
	var rows []int
	for r := range times {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	c := make(Costs, n)
	for i := range c {
		j, ok := slices.BinarySearch(rows, i+1)
		switch {
		case len(rows) == 0:
			c[i] = float64(i + 1)
		case ok || j == 0:
			c[i] = times[rows[j]].Seconds()
		case j == len(rows):
			c[i] = times[rows[j-1]].Seconds() * float64(i+1) / float64(rows[j-1])
		default:
			a, b := rows[j-1], rows[j]
			c[i] = times[a].Seconds() + (times[b]-times[a]).Seconds()*float64(i+1-a)/float64(b-a)
		}
	}
	for i := len(c) - 2; i >= 0; i-- {
		c[i] = min(c[i], c[i+1])
	}
	return c
}

// Chooser picks how many rows of a draft to verify, so that speculation gains where it can and never costs
// more than Loss of plain decoding's time: that is a bound, not an aim. It keeps an account of what drafts
// saved and cost so far, and stakes no more than it holds. Without rows to spare it still learns, from what
// comes (Acceptance), and goes on when guesses have become good enough: a probe that costs no row.
type Chooser struct {
	Costs Costs
	Loss  float64 // [0.01 of plain decoding's time; measured times vary by as much again]

	// Learn makes Costs out of the passes themselves (Observe) instead of taking them as given: nothing need be
	// measured before. It begins with passes of one row.
	Learn bool
	times map[int]time.Duration // the fastest pass of so many rows

	account float64 // time saved against plain decoding
	plain   float64 // time that plain decoding would have taken
}

// unseenRow is what a row more than were ever tried is taken to cost at least, as a share of a pass of one.
const unseenRow = 0.15

// Observe takes the time of a pass.
func (c *Chooser) Observe(rows int, took time.Duration) {
	if old, ok := c.times[rows]; !c.Learn || rows < 1 || took <= 0 || ok && old <= took {
		return
	}
	if c.times == nil {
		c.times = map[int]time.Duration{}
	}
	c.times[rows] = took
	one, most := c.times[1], 0
	if one == 0 {
		return
	}
	for r := range c.times {
		most = max(most, r)
	}
	times := map[int]time.Duration{}
	maps.Copy(times, c.times)
	if last := npu.MaxTree; most < last {
		row := unseenRow * float64(one)
		if most > 1 {
			row = max(row, float64(times[most]-one)/float64(most-1))
		}
		times[last] = times[most] + time.Duration(row*float64(last-most))
	}
	c.Costs = Interpolate(times, npu.MaxTree)
}

// credit is how many plain steps ahead the account may borrow from: an answer is at least that long.
const credit = 12

// stake is what the account can lose.
func (c *Chooser) stake() float64 {
	loss := c.Loss
	if loss == 0 {
		loss = 0.01
	}
	return c.account + loss*(c.plain+credit*c.Costs.At(1))
}

// Afford reports whether a draft that takes so long is worth making: whether it and the pass of one row more that
// it asks for can be lost. A draft that could not be tried would cost for nothing.
func (c *Chooser) Afford(drafting float64) bool {
	return drafting+c.Costs.At(2)-c.Costs.At(1) <= c.stake()
}

// Rows returns how many nodes to verify beside the one row of plain decoding, given the chances of nodes from
// the highest down, and the time that a draft costs.
func (c *Chooser) Rows(chances []float64, drafting float64) int {
	one, stake := c.Costs.At(1), c.stake()
	best, rate := 0, 1/one
	tokens := 1.0
	for i, p := range chances {
		tokens += p
		t := c.Costs.At(i + 2)
		if t+drafting-one > stake {
			break
		}
		if r := tokens / (t + drafting); r > rate {
			best, rate = i+1, r
		}
	}
	if rate*one < 1.01 { // less than the noise of the estimate
		return 0
	}
	return best
}

// Settle books a pass: rows beside the first, tokens that it gave, the time of drafting.
func (c *Chooser) Settle(rows, tokens int, drafting float64) {
	one := c.Costs.At(1)
	c.plain += float64(tokens) * one
	c.account += float64(tokens)*one - c.Costs.At(rows+1) - drafting
}

// Reset begins a new answer with an account of its own.
func (c *Chooser) Reset() { c.account, c.plain = 0, 0 }
