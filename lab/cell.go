package lab

import (
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/node"
)

// cell collects the answers of one cell of an experiment. The first token counts apart from the times between tokens.
type cell struct {
	gaps, first []float64 // ms
	received    []float64 // bytes, in an answer
	accepted    [2]float64
	together    float64
	handovers   []float64
	texts       []string
	alone       int           // tokens that the device decided alone
	until       time.Duration // when the last live answer ended, from the beginning of a recorded network
}

// add counts a live answer.
func (c *cell) add(a node.Answer) {
	if a.Traffic.BytesReceived > 0 {
		c.received = append(c.received, float64(a.Traffic.BytesReceived))
	}
	var ids []tandem.Token
	last := time.Duration(0)
	for i, t := range a.Tokens {
		ids = append(ids, t.ID)
		if gap := (t.At - last).Seconds() * 1000; i == 0 {
			c.first = append(c.first, gap)
		} else {
			c.gaps = append(c.gaps, gap)
		}
		last = t.At
	}
	c.count(ids, a.Pair.Together, a.Pair.Accepted, a.Pair.Handovers, a.Pair.Alone)
}

// addWhole counts a live answer whose tokens all come at once, after both sides have written theirs. The time after reading
// is divided equally among its tokens.
func (c *cell) addWhole(a node.Answer) {
	n := len(a.Tokens)
	if n == 0 {
		return
	}
	var ids []tandem.Token
	took := (a.Tokens[n-1].At - a.Prefill[tandem.Device]).Seconds() * 1000
	for i, t := range a.Tokens {
		if ids = append(ids, t.ID); i > 0 {
			c.gaps = append(c.gaps, took/float64(n))
		}
	}
	c.first = append(c.first, a.Tokens[0].At.Seconds()*1000)
	c.texts = append(c.texts, textHash(ids))
}

// addSimulated counts a simulated answer.
func (c *cell) addSimulated(o sim.Outcome) {
	for i, g := range o.Gaps(0) {
		if g := g.Seconds() * 1000; i == 0 {
			c.first = append(c.first, g)
		} else {
			c.gaps = append(c.gaps, g)
		}
	}
	d := o.Pair[tandem.Device]
	c.count(o.IDs(), d.Together, d.Accepted, d.Handovers+o.Pair[tandem.Cloud].Handovers, d.Alone)
}

func (c *cell) count(ids []tandem.Token, together int, accepted [2]int, handovers, alone int) {
	c.texts = append(c.texts, textHash(ids))
	c.together += float64(together)
	for s := range accepted {
		c.accepted[s] += float64(accepted[s])
	}
	c.handovers = append(c.handovers, float64(handovers))
	c.alone += alone
}

// result sums up a cell.
func (c *cell) result() report.Result {
	result := report.Result{PerToken: report.Is(mean(c.gaps)), P99: report.Is(report.Quantile(c.gaps, 0.99))}
	if c.alone == 0 || c.together == 0 { // otherwise timing decided which tokens the device chose alone
		result.Text = joinHashes(c.texts)
	}
	if len(c.first) > 0 {
		result.TTFT = report.Is(mean(c.first))
	}
	if c.together > 0 {
		result.AcceptDevice, result.AcceptCloud = report.Is(c.accepted[0]/c.together), report.Is(c.accepted[1]/c.together)
		result.Handovers = report.Is(mean(c.handovers))
	}
	return result
}

// mean returns the mean of xs, 0 for none.
func mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// summarize is the result of simulated answers.
func summarize(outcomes []sim.Outcome) report.Result {
	var c cell
	for _, o := range outcomes {
		c.addSimulated(o)
	}
	result := c.result()
	result.Simulated = true
	return result
}
