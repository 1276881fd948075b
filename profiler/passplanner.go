package profiler

import (
	"math"
	"time"

	"tandem"
)

// Ranks is how many ranks in a side's own draw are told apart: the draft, the runner-up, and so on.
const Ranks = 6

// PassPlanner decides how many places a side decodes in a pass in addition to the one it needs. There are three kinds. Hedges
// follow the runners-up of the side's own draws. Checks follow the drafts that the other side has sent for the next steps.
// Guesses follow what the side itself will probably draft next. PassPlanner weighs the measured time that a place costs
// against the time that it saves if it turns out to be needed. The zero value has no measurements, and chooses no additional
// places before it has observed a pass.
type PassPlanner struct {
	passes [tandem.MaxRows + 1]Average // seconds, by rows
	last   [tandem.MaxRows + 1]int     // the number of the last pass, by rows
	count  int                         // of passes
	costs  []float64                   // the same from 1 row on (SetCosts), which count instead of passes; empty if there are none
	ranks  [Ranks][gaps]Average        // share of targets that had this rank in the side's draw, by how close it came
	peer   Average                     // share of targets that were the other side's draft
	guess  Average                     // share of guesses that were right
}

// plannerWindow is how many observations an average is over, about.
const plannerWindow = 32

// ranksPrior, peerPrior and guessPrior are worth 8 observations.
var ranksPrior = [Ranks][gaps]float64{
	{.95, .9, .85, .75, .6},
	{.01, .03, .08, .17, .3},
	{.01, .02, .04, .08, .15},
	{.01, .01, .02, .04, .1},
	{.01, .01, .02, .03, .08},
	{.01, .01, .02, .03, .06},
}

// Closeness says how close the first tokens of a draw came to being the draft (aggregator.Runner); 0 where there is none.
type Closeness [Ranks]float64

// gaps is the number of intervals into which closeness is divided.
const gaps = 5

// gap returns the interval of a token's closeness. The draft has that of the runner-up.
func (c Closeness) gap(rank int) int {
	switch x := c[max(1, rank)]; {
	case x < .1:
		return 0
	case x < .25:
		return 1
	case x < .5:
		return 2
	case x < .75:
		return 3
	}
	return 4
}

const (
	peerPrior  = 0.8
	guessPrior = 0.5
)

// A pause of the process, or a device that is not ready yet, makes a single pass far too slow. Such a pass must not
// decide for long.
const (
	maxSlowdown = 4   // a pass counts for at most this many times the mean
	maxExcess   = 2   // a mean this many times above the time of a pass of as many rows or more is wrong: more rows never cost less
	forgetAfter = 512 // passes after which the time of a larger one is forgotten, which may be why there was none
)

// ObservePass records the time of a pass that computed the given number of rows.
func (p *PassPlanner) ObservePass(rows int, took time.Duration) {
	if rows < 1 || rows > tandem.MaxRows || took <= 0 {
		return
	}
	p.count++
	p.last[rows] = p.count
	seconds := took.Seconds()
	for n := range p.passes {
		a := &p.passes[n]
		switch {
		case !a.observed():
		case n <= rows && a.Value > maxExcess*seconds: // passes of fewer rows will soon show whether they take more than their share
			*a = Average{Value: seconds * float64(n) / float64(rows), Count: 1}
		case n > rows && p.count-p.last[n] > forgetAfter:
			*a = Average{}
		}
	}
	if a := &p.passes[rows]; a.observed() {
		seconds = min(seconds, maxSlowdown*a.Value)
	}
	p.passes[rows].Observe(seconds, plannerWindow)
}

// SetCosts sets the times of passes over 1, 2, … rows, in seconds. While there are any, they replace what ObservePass records,
// and a pass has no more rows than they say.
func (p *PassPlanner) SetCosts(costs []float64) { p.costs = costs }

// The smallest assumed cost of each row beyond the largest pass seen, as a share of the time of a pass of one row. It is low
// up to twice that size, so that passes grow quickly on a device where more rows cost nothing, and higher beyond.
const (
	nearRow = 0.02
	farRow  = 0.15
)

// Costs returns the times of passes over 1 to n rows, in seconds, fewer if SetCosts has fewer, and nil if none was
// seen. Between numbers of rows that were seen it interpolates; more rows never cost less. Beyond them it assumes that
// each row costs something, so that a pass grows only with guesses that are likely.
func (p *PassPlanner) Costs(n int) []float64 {
	if len(p.costs) > 0 {
		return p.costs[:min(n, len(p.costs))]
	}
	var out []float64
	last := 0
	for rows := 1; rows <= tandem.MaxRows; rows++ {
		if !p.passes[rows].observed() {
			continue
		}
		now := p.passes[rows].Value
		if last == 0 { // fewer rows cost as much
			for len(out) < rows {
				out = append(out, now)
			}
		} else {
			now = max(now, out[last-1])
			for k := last + 1; k <= rows; k++ {
				out = append(out, out[last-1]+(now-out[last-1])*float64(k-last)/float64(rows-last))
			}
		}
		last = rows
	}
	if last == 0 {
		return nil
	}
	seen := 0.0 // a row's cost so far
	if last > 1 {
		seen = (out[last-1] - out[0]) / float64(last-1)
	}
	for len(out) < n {
		least := farRow * out[0]
		if len(out) < 2*last {
			least = nearRow * out[0]
		}
		out = append(out, out[len(out)-1]+max(seen, least))
	}
	return out[:n]
}

// GuessRate returns the share of guesses that were right.
func (p *PassPlanner) GuessRate() float64 { return valueOr(p.guess, guessPrior) }

// RankChance returns the probability that a target has a rank in this side's draw: 0 for the draft, 1 for the runner-up.
func (p *PassPlanner) RankChance(rank int, c Closeness) float64 {
	g := c.gap(rank)
	return valueOr(p.ranks[rank][g], ranksPrior[rank][g])
}

// MaxRunnerUp returns the highest probability of any rank other than the draft's to be the target.
func (p *PassPlanner) MaxRunnerUp() (most float64) {
	for rank := 1; rank < Ranks; rank++ {
		for g, r := range p.ranks[rank] {
			most = max(most, valueOr(r, ranksPrior[rank][g]))
		}
	}
	return most
}

// MinChance returns the smallest probability of being needed at which a place is worth a row, in a pass of up to n
// rows at the size where a row is cheapest.
func (p *PassPlanner) MinChance(n int) float64 {
	least, costs := math.Inf(1), p.Costs(n)
	for i := 1; i < len(costs); i++ {
		least = min(least, (costs[i]-costs[0])/float64(i)/costs[0])
	}
	return least
}

// DraftsRight returns the probability that n drafts of the other side are all right.
func (p *PassPlanner) DraftsRight(n int) float64 {
	return math.Pow(valueOr(p.peer, peerPrior), float64(n))
}

// ObserveTarget records the rank that a target had in this side's draw: 0 for the draft, 1 for the runner-up, -1 if it
// was not among the first Ranks.
func (p *PassPlanner) ObserveTarget(rank int, c Closeness) {
	for i := range p.ranks {
		if i > 0 && c[i] == 0 {
			break // the draw had no more tokens
		}
		g := c.gap(i)
		observe(&p.ranks[i][g], ranksPrior[i][g], i == rank)
	}
}

// ObserveCheck records whether a target was the other side's draft.
func (p *PassPlanner) ObserveCheck(right bool) { observe(&p.peer, peerPrior, right) }

// ObserveGuess records whether a requested guess was made and was right.
func (p *PassPlanner) ObserveGuess(right bool) { observe(&p.guess, guessPrior, right) }

func observe(a *Average, prior float64, right bool) {
	if a.Count == 0 {
		*a = Average{Value: prior, Count: 8}
	}
	x := 0.0
	if right {
		x = 1
	}
	a.Observe(x, plannerWindow)
}

// valueOr returns the average, or the prior if nothing was observed.
func valueOr(a Average, prior float64) float64 {
	if a.observed() {
		return a.Value
	}
	return prior
}

// passTime returns the time of a pass of n places, in seconds: the longest time known for up to n places.
func (p *PassPlanner) passTime(n int) float64 {
	if len(p.costs) > 0 {
		return p.costs[min(n, len(p.costs))-1]
	}
	most := 0.0
	for i := 1; i <= n; i++ {
		if p.passes[i].observed() {
			most = max(most, p.passes[i].Value)
		}
	}
	return most
}

// Offer is what a pass could decode in addition to the place that is needed.
type Offer struct {
	Places int     // most places of the pass, including the one that is needed
	Hedges []Hedge // each after those that it needs
	Drafts int     // drafts of the other side, for the following steps
	Room   int     // how many of the following steps may be decoded at all
}

// Hedge is a place on a branch of the answer.
type Hedge struct {
	Chance float64 // that its distribution will be needed
	Rows   int     // that it adds to a pass which has the hedges before it
}

// Choose returns how many hedges, checks and guesses a pass takes. Each saves one pass if it turns out to be needed. That
// includes hedges: a hedge lets the other side continue by one step while the rejection and the next draft are on their way.
// Checks come before guesses, and each of them is needed only if all before it are.
func (p *PassPlanner) Choose(o Offer) (hedges, checks, guesses int) {
	most := min(o.Places, tandem.MaxRows)
	one, peer, guess, costs := p.passTime(1), valueOr(p.peer, peerPrior), valueOr(p.guess, guessPrior), p.Costs(max(0, most))
	if costs == nil {
		return 0, 0, 0
	}
	most = min(most, len(costs))
	chance := 1.0
	for n := 1; n < most; {
		next := 0.0
		check := checks < o.Drafts
		switch {
		case checks+guesses >= o.Room:
		case check:
			next = chance * peer
		default:
			next = chance * guess
		}
		more, rows, each := bestHedges(o.Hedges[hedges:], one, costs[n-1:])
		switch pays := one*next > p.passTime(n+1)-p.passTime(n); {
		case more > 0 && (each >= next || !pays):
			hedges, n = hedges+more, n+rows
			continue
		case !pays:
			return hedges, checks, guesses
		case check:
			checks, chance = checks+1, next
		default:
			guesses, chance = guesses+1, next
		}
		n++
	}
	return hedges, checks, guesses
}

// bestHedges returns the number n of leading hedges that together save the most time, how many rows they take, and how many passes
// each row saves. one is the time of a pass of one row. costs[i] is the time of a pass with i rows more than are already taken.
func bestHedges(hedges []Hedge, one float64, costs []float64) (n, rows int, each float64) {
	most, saved, all := 0.0, 0.0, 0
	for i, h := range hedges {
		if all += h.Rows; all >= len(costs) {
			break
		}
		saved += h.Chance
		if gain := one*saved - (costs[all] - costs[0]); gain > most {
			most, n, rows, each = gain, i+1, all, saved/float64(all)
		}
	}
	return n, rows, each
}
