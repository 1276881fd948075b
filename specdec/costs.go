package specdec

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"tandem/npu"
)

// Costs holds the times of forward passes in seconds: entry i is the time of a pass of i+1 rows. Measure measures them. On
// an NPU they form a staircase, because a graph computes a fixed number of rows (sd.npu §3.2).
type Costs []float64

// At returns the time of a pass with the given number of rows. Beyond the last entry it grows in proportion.
func (c Costs) At(rows int) float64 {
	switch {
	case len(c) == 0 || rows <= 0:
		return float64(rows)
	case rows <= len(c):
		return c[rows-1]
	}
	return c[len(c)-1] * float64(rows) / float64(len(c))
}

// Interpolate makes the Costs of up to n rows from the times of some numbers of rows. Between two measured numbers
// it interpolates linearly. More rows never cost less.
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

// A Chooser decides how many rows of a draft to verify. It limits the time that drafts may cost an answer by a budget with
// three parts: the net time that drafts have saved in this answer; the share Loss of the time of plain decoding; and half of
// the time that drafts in this and earlier answers have saved, or would have saved if they had been verified (proven). Guesses
// are scored whether or not they are verified. So drafts of unknown or declining quality are only observed until verifying them
// would pay off. The third part grows with the answer, because an answer that is unlike those before it may be short: such an
// answer loses at most a pass of one row and 15 % of its time by it (provenAtOnce, provenShare).
type Chooser struct {
	Costs Costs
	Loss  float64 // as a share of plain decoding's time; 0 means 0.02, +Inf that nothing bounds it
	// Chance is the probability that the text before a draft stays as it is; 0 means 1.
	Chance float64

	// Learn derives Costs from the passes themselves (see observe), so they need not be measured first. The first
	// pass has one row.
	Learn       bool
	times       map[int]time.Duration // the fastest pass of each number of rows
	mostRows    int                   // rows among them
	doubtedRows int                   // rows of a pass whose time was not believed, 0 for none

	overBudget bool // the last draft was worth rows, but the budget allowed none
	// proven is the time that drafts have recently saved, or would have saved if verified, in passes of one row: between
	// minProven and maxProven.
	proven  float64
	account float64 // time saved against plain decoding
	plain   float64 // time that plain decoding would have taken
}

// unseenRow is the smallest assumed cost of each row beyond the largest pass tried, as a share of the time of a pass of
// one row.
const unseenRow = 0.15

// maxSlowdown is how many times longer than expected the first pass of some rows may take. A pause of the process takes longer.
const maxSlowdown = 4

// observe records the time of a pass, if Learn is set.
func (c *Chooser) observe(rows int, took time.Duration) {
	old, seen := c.times[rows]
	if !c.Learn || rows < 1 || took <= 0 || seen && old <= took || !seen && c.doubts(rows, took) {
		return
	}
	if c.times == nil {
		c.times = map[int]time.Duration{}
	}
	c.times[rows] = took
	c.mostRows = max(c.mostRows, rows)
	one, most := c.times[1], c.mostRows
	if one == 0 {
		return
	}
	for _, t := range c.times { // more rows never cost less
		one = min(one, t)
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

// doubts reports whether the first pass of some rows took so long that a pause may be the cause. That many rows would
// not be tried again if its time counted. If the next pass of as many rows or more takes as long, they are that slow.
func (c *Chooser) doubts(rows int, took time.Duration) bool {
	slow := len(c.Costs) > 0 && took.Seconds() > maxSlowdown*c.Costs.At(rows)
	again := c.doubtedRows > 0 && rows >= c.doubtedRows
	switch {
	case again:
		c.doubtedRows = 0
	case slow:
		c.doubtedRows = rows
	}
	return slow && !again
}

// credit is the number of future steps of plain decoding that count for the budget in advance. It is small, because an
// answer may be short.
const credit = 10

// What earlier savings add to the budget of an answer at most: passes of one row from its beginning, and a share of the time of
// plain decoding so far. Greater ones cost answers up to a quarter of their time; smaller ones make drafts of answers that repeat
// their prompt begin too late.
const (
	provenAtOnce = 1
	provenShare  = 0.15
)

// budget returns how much time, in seconds, may be lost.
func (c *Chooser) budget() float64 {
	loss := c.Loss
	if loss == 0 {
		loss = 0.02
	}
	one := c.Costs.At(1)
	proven := min(max(0, c.proven)/2*one, provenAtOnce*one+provenShare*c.plain)
	return c.account + proven + loss*(c.plain+credit*one)
}

// afford reports whether the budget covers a draft that takes this long, together with one more row in the pass.
func (c *Chooser) afford(drafting float64) bool {
	return c.affordDraft(drafting + c.Costs.At(2) - c.Costs.At(1))
}

// affordDraft reports whether the budget covers the time of drafting alone: a draft improves the estimates even if no
// row of it is verified.
func (c *Chooser) affordDraft(drafting float64) bool { return drafting <= c.budget() }

// perToken returns the mean time of a token so far, in seconds.
func (c *Chooser) perToken() float64 {
	if c.plain == 0 {
		return c.Costs.At(1)
	}
	return c.Costs.At(1) * (c.plain - c.account) / c.plain
}

// saved reports whether drafts have proven to save the given time, or Loss is unbounded.
func (c *Chooser) saved(seconds float64) bool {
	return c.proven*c.Costs.At(1) > seconds || math.IsInf(c.Loss, 1)
}

// minChance returns the probability below which a node is not worth a row. A row costs the same time as some share of a token,
// at the number of rows where a row is cheapest; minChance is half of that share, because estimates may be off.
func (c *Chooser) minChance() float64 {
	row := math.Inf(1)
	for n := 1; n < len(c.Costs); n++ {
		row = min(row, (c.Costs.At(n+1)-c.Costs.At(1))/float64(n))
	}
	if math.IsInf(row, 1) {
		return 0
	}
	return row / c.perToken() / 2
}

// An offer is the expected number of tokens of a pass, and its time in seconds, drafting included.
type offer struct{ tokens, seconds float64 }

// savedOver returns the time in seconds that offer o saves over offer p for the tokens of o.
func (o offer) savedOver(p offer) float64 { return o.tokens*p.seconds/p.tokens - o.seconds }

// pass returns what a pass over these nodes of a tree offers.
func (c *Chooser) pass(t *Tree, nodes []int, drafting float64) offer {
	o := offer{1, c.Costs.At(1+len(nodes)) + drafting}
	for _, i := range nodes {
		o.tokens += t.Nodes[i].P * cmp.Or(c.Chance, 1)
	}
	return o
}

// choose returns how many nodes to verify, given the nodes' probabilities in descending order and the time of a
// draft. It maximises the expected number of tokens per second within the budget.
func (c *Chooser) choose(chances []float64, drafting float64) int {
	one, budget := c.Costs.At(1), c.budget()
	n := 0
	for n < len(chances) && c.Costs.At(n+2)-one+drafting <= budget && (!c.Learn || n+2 <= 2*c.mostRows) {
		n++ // within the budget, and not too far beyond the rows measured
	}
	rows := c.best(chances[:n], drafting)
	c.overBudget = rows == 0 && c.best(chances, drafting) > 0
	return rows
}

// best is choose without a budget.
func (c *Chooser) best(chances []float64, drafting float64) int {
	one := c.Costs.At(1)
	best, rate, tokens := 0, 1/one, 1.0
	for i, p := range chances {
		tokens += p * cmp.Or(c.Chance, 1)
		if r := tokens / (c.Costs.At(i+2) + drafting); r > rate {
			best, rate = i+1, r
		}
	}
	if rate*one < 1.01 { // a gain below the noise of the estimate
		return 0
	}
	return best
}

// settle adds a pass to the account: its rows beyond the first, the tokens that it generated, and the time of drafting.
func (c *Chooser) settle(rows, tokens int, drafting float64) {
	one := c.Costs.At(1)
	saved := float64(tokens)*one - c.Costs.At(rows+1) - drafting
	c.plain += float64(tokens) * one
	c.account += saved
	c.prove(saved / one)
}

// learnFromHeld records whether the likeliest first token of a draft that the budget held back was right.
func (c *Chooser) learnFromHeld(right bool) {
	saved := 1 - c.Costs.At(2)/c.Costs.At(1)
	if right {
		saved++
	}
	c.prove(saved)
}

// prove adds the time that a draft saved or would have saved, in passes of one row.
func (c *Chooser) prove(passes float64) { c.proven = max(minProven, min(maxProven, c.proven+passes)) }

// begin empties the account, for a new answer. proven is what was proven after the answer before; 0 if there was none.
func (c *Chooser) begin(proven float64) {
	c.account, c.plain, c.proven, c.overBudget = 0, 0, proven, false
}

// Bounds of what is proven.
const (
	minProven = -1
	maxProven = 16
)
