package specdec

import (
	"cmp"
	"slices"
	"time"

	"tandem"
)

// A Panel combines the drafters of one text. They draft one after the other, the cheapest first. A drafter that costs more time
// than it saves gives way: it does not draft, read the text or see verdicts until it is tried again. The Panel measures what
// drafters cost and decides from these measurements alone whether they pay (worth, Chooser).
type Panel struct {
	drafters     []Drafter
	acceptance   *Acceptance // keeps the worth of the drafters
	text         []tandem.Token
	promptLen    int                  // tokens of the text when it began
	read         []int                // how much of the text each drafter has
	drafted      []bool               // which of them were asked for the last draft
	lastDraftLen int                  // tokens of the text at the draft before it
	settleTime   [maxDrafters]float64 // seconds that the last verdict took of each
	tree         Tree
	chances      []float64
	now          func() time.Duration // times proposals
}

// WallTime is the time since the program began.
func WallTime() time.Duration { return time.Since(programStart) }

var programStart = time.Now()

// Begin starts a text with at most maxDrafters drafters. Those that have not given way read it. acceptance holds what the drafters
// cost and save, by the clock now.
func (p *Panel) Begin(drafters []Drafter, acceptance *Acceptance, text []tandem.Token, now func() time.Duration) {
	*p = Panel{drafters: drafters, acceptance: acceptance, text: slices.Clone(text), promptLen: len(text), read: make([]int, len(drafters)),
		drafted: make([]bool, len(drafters)), now: now}
	for i := range drafters {
		if i == 0 || !acceptance.worth[i].gaveWay() {
			p.catchUp(i)
		}
	}
}

// catchUp lets a drafter read the rest of the text. The first call passes the initial text, the prompt, alone
// (Drafter.Committed).
func (p *Panel) catchUp(i int) {
	d := p.drafters[i]
	if p.read[i] < p.promptLen {
		d.Committed(p.text[:p.promptLen])
		p.read[i] = p.promptLen
	}
	if p.read[i] < len(p.text) {
		d.Committed(p.text[p.read[i]:])
		p.read[i] = len(p.text)
	}
}

// anyDrafted reports whether any drafter was asked for the last draft.
func (p *Panel) anyDrafted() bool { return slices.Contains(p.drafted, true) }

// Text returns the text so far, valid until the next call.
func (p *Panel) Text() []tandem.Token { return p.text }

// Append appends tokens to the text.
func (p *Panel) Append(tokens []tandem.Token) { p.text = append(p.text, tokens...) }

// Rewind forgets all but the first n tokens of the text, which is at least as long as it began.
func (p *Panel) Rewind(n int) {
	p.text = p.text[:n]
	for i, d := range p.drafters {
		if p.read[i] > n {
			d.Rewind(n)
			p.read[i] = n
		}
	}
}

// Draft returns a tree of at most limit nodes, valid until the next call, and how many of its likeliest ones c chooses to verify,
// at most rows. The nodes' probabilities come from rate, or from the drafters if it is nil. If c is nil, all drafters draft and
// all nodes count.
func (p *Panel) Draft(limit, rows int, rate *Acceptance, c *Chooser) (t *Tree, chosen int) {
	p.tree.reset(limit, rate)
	if t = &p.tree; c != nil {
		t.Least = c.minChance()
	}
	spent := 0.0
	var verified []int // the nodes that a pass would verify so far
	step := len(p.text) - min(p.lastDraftLen, len(p.text))
	p.lastDraftLen = len(p.text)
	p.acceptance.steps++
	for i := range p.drafters {
		w := &p.acceptance.worth[i]
		p.drafted[i] = w.pays(c, i == 0, p.acceptance.steps, spent+w.expected(len(p.text)-p.read[i]-step))
		if !p.drafted[i] {
			continue
		}
		nodes := len(t.Nodes)
		took := p.propose(i, step)
		w.cost(took, len(t.Nodes) > nodes)
		if c != nil && len(c.Costs) > 0 {
			rows := c.best(p.likeliest(rows), spent)
			without := c.pass(t, verified, spent) // with the current probabilities
			verified = append(verified[:0], t.byChance()[:rows]...)
			w.learn(p.acceptance.steps, c.pass(t, verified, spent).savedOver(without))
		}
		spent += w.proposeTime
	}
	if chances := p.likeliest(rows); c != nil {
		return t, c.choose(chances, spent)
	}
	return t, min(rows, len(t.Nodes))
}

// propose lets a drafter catch up with the text and add to the tree. It returns the seconds that the drafter takes in a step
// of this many new tokens: to read them, to draft, and to process the last verdict. Reading tokens that the drafter had left
// unread in earlier steps does not count.
func (p *Panel) propose(i, step int) float64 {
	w, began, unread := &p.acceptance.worth[i], p.now(), len(p.text)-p.read[i]
	p.catchUp(i)
	read := p.now()
	w.read((read - began).Seconds(), unread)
	p.drafters[i].Propose(&p.tree)
	took := (p.now() - read).Seconds() + p.settleTime[i] + float64(step)*w.readTime
	p.settleTime[i] = 0
	return took
}

// likeliest returns the probabilities of the likeliest nodes, descending, at most n.
func (p *Panel) likeliest(n int) []float64 {
	p.chances = p.chances[:0]
	order := p.tree.byChance()
	for _, i := range order[:max(0, min(n, len(order)))] {
		p.chances = append(p.chances, p.tree.Nodes[i].P)
	}
	return p.chances
}

// Settle reports the result of verifying the last draft to the drafters that were asked for it, and returns how long that took.
func (p *Panel) Settle(v *Verdict) time.Duration {
	v.After = len(p.text)
	first := p.now()
	began := first
	for i, d := range p.drafters {
		if p.drafted[i] {
			d.Settle(v)
			now := p.now()
			p.settleTime[i], began = (now - began).Seconds(), now
		}
	}
	return began - first
}

// poolSize is how many guesses compete for the rows of a pass.
const poolSize = 160

// worth is what a drafter costs and saves, in seconds.
type worth struct {
	proposeTime float64 // smoothed, of a proposal
	readTime    float64 // of a token of a text left unread
	gain        float64 // smoothed, what a pass with its nodes saves over one with those of the drafters before it
	seen        float64 // how many proposals gain is the mean of, at most worthWindow
	lastTried   int     // the step of the last proposal
	failures    int     // how often it has been tried again in vain
}

const (
	maxDrafters  = 8
	assumedDraft = 2e-5 // assumed seconds of a proposal before one is measured
	worthWindow  = 24
	minWorthSeen = 4    // proposals before a drafter is judged
	assumedRead  = 1e-6 // assumed seconds to read a token before that is measured

	// retryAfter is the number of steps after which a drafter that gave way or is too expensive is tried again. It is
	// doubled after each failure, up to 32 times as many.
	retryAfter = 32
)

// pays reports whether a drafter should draft, given that drafting for this pass would then take spent seconds in total. It
// should if it is known to save more than it costs and the budget covers it, or if that is not known but drafts have already
// saved several times what it takes. The first drafter needs no savings to be tried, and is tried again from time to time
// even if the budget does not cover it, because its drafts improve the estimates.
func (w *worth) pays(c *Chooser, first bool, step int, spent float64) bool {
	switch {
	case c == nil:
		return true
	case first:
		return c.affordDraft(spent) || w.due(step)
	case w.seen >= minWorthSeen && !w.gaveWay():
		return c.afford(spent)
	}
	return (w.seen < minWorthSeen || w.due(step)) && c.saved(4*spent)
}

// due reports whether a drafter has not been tried for long.
func (w *worth) due(step int) bool { return step-w.lastTried >= retryAfter<<min(w.failures, 5) }

// gaveWay reports whether the drafter costs more than it saves.
func (w *worth) gaveWay() bool { return w.seen >= minWorthSeen && w.gain <= w.proposeTime }

// expected returns the seconds that the next proposal will take if the drafter has left unread tokens of earlier steps.
func (w *worth) expected(unread int) float64 {
	return cmp.Or(w.proposeTime, assumedDraft) + float64(max(0, unread))*cmp.Or(w.readTime, assumedRead)
}

// read records the seconds that reading n tokens took.
func (w *worth) read(took float64, n int) {
	if n > 0 {
		w.readTime = smoothed(w.readTime, took/float64(n), 8, assumedRead)
	}
}

// cost records the seconds that a proposal took. If it found nothing, the time is only a lower bound.
func (w *worth) cost(took float64, found bool) {
	if w.proposeTime == 0 || found || took > w.proposeTime {
		w.proposeTime = smoothed(w.proposeTime, took, min(w.seen+1, 8), assumedDraft)
	}
}

// smoothed returns the mean of n times, the last of which is took. It limits took to four times the mean so far, or four times
// first if mean is 0 (unknown), so that a pause of the process does not distort the mean.
func smoothed(mean, took, n, first float64) float64 {
	if mean == 0 {
		return min(took, 4*first)
	}
	return mean + (min(took, 4*mean)-mean)/n
}

// learn records the seconds that a proposal saved.
func (w *worth) learn(step int, saved float64) {
	w.lastTried = step
	w.seen = min(w.seen+1, worthWindow)
	w.gain += (saved - w.gain) / w.seen
	if w.gaveWay() {
		w.failures++
	} else {
		w.failures = 0
	}
}
