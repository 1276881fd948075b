package specdec

import (
	"cmp"
	"slices"
	"time"

	"tandem"
)

// A Panel lets the drafters of one text draft in turns, the cheapest first. One that costs more time than it saves gives way,
// and is tried again later. What it costs is measured; whether it pays is decided from those numbers alone (worth, Chooser).
type Panel struct {
	drafters []Drafter
	known    *Acceptance // where the drafters' worth is kept
	text     []tandem.Token
	read     []int                 // how much of the text each drafter has: one that gives way reads nothing meanwhile
	settled  [mostDrafters]float64 // seconds that the last verdict took of each
	tree     Tree
	chances  []float64
	now      func() time.Duration // times proposals; nil for wallTime
}

// wallTime is the time since the program began.
func wallTime() time.Duration { return time.Since(programStart) }

var programStart = time.Now()

// Begin starts a text with at most mostDrafters drafters, which read it. known keeps what they cost and save.
func (p *Panel) Begin(drafters []Drafter, known *Acceptance, text []tandem.Token) {
	*p = Panel{drafters: drafters, known: known, text: slices.Clone(text), read: make([]int, len(drafters)), now: p.now}
	if p.now == nil {
		p.now = wallTime
	}
	for i, d := range drafters {
		d.Committed(text)
		p.read[i] = len(text)
	}
}

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
		t.Least = c.least()
	}
	spent := 0.0
	var have []int // the nodes that a pass would verify so far
	p.known.steps++
	for i := range p.drafters {
		w := &p.known.worth[i]
		if !w.pays(c, i == 0, p.known.steps, spent+cmp.Or(w.took, firstDraft)) {
			continue
		}
		nodes := len(t.Nodes)
		took := p.propose(i)
		w.cost(took, len(t.Nodes) > nodes)
		if c != nil && len(c.Costs) > 0 {
			rows := c.best(p.likeliest(rows), spent)
			without := c.pass(t, have, spent) // by what all know now
			have = append(have[:0], t.byChance()[:rows]...)
			w.learn(p.known.steps, c.pass(t, have, spent).over(without))
		}
		spent += w.took
	}
	if chances := p.likeliest(rows); c != nil {
		return t, c.Rows(chances, spent)
	}
	return t, min(rows, len(t.Nodes))
}

// propose lets a drafter read what it has not and add to the tree. It returns how many seconds that took, with what it took to
// learn from the last verdict.
func (p *Panel) propose(i int) float64 {
	began, d := p.now(), p.drafters[i]
	if p.read[i] < len(p.text) {
		d.Committed(p.text[p.read[i]:])
		p.read[i] = len(p.text)
	}
	d.Propose(&p.tree)
	took := (p.now() - began).Seconds() + p.settled[i]
	p.settled[i] = 0
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

// Settle reports the result of a verification to all drafters.
func (p *Panel) Settle(v *Verdict) {
	v.After = len(p.text)
	for i, d := range p.drafters {
		began := p.now()
		d.Settle(v)
		p.settled[i] = (p.now() - began).Seconds()
	}
}

// poolSize is how many guesses compete for the rows of a pass.
const poolSize = 160

// worth is what a drafter costs and saves, in seconds.
type worth struct {
	took  float64 // smoothed, of a proposal
	gain  float64 // smoothed, what a pass with its nodes saves over one with those of the drafters before it
	seen  float64 // how many proposals gain is the mean of, at most worthWindow
	tried int     // the step of the last proposal
	fails int     // how often it has been tried again in vain
}

const (
	mostDrafters = 8
	firstDraft   = 2e-5 // assumed seconds of a proposal before one is measured
	worthWindow  = 24
	worthFirst   = 4  // proposals before a drafter is judged
	worthAgain   = 32 // steps after which a drafter that gave way is tried again; they double each time, up to 32 times as many
)

// pays reports whether a drafter that would bring the drafting of a pass to spent seconds is to draft: it saves more than it
// costs and the budget covers it; or that is not known, and drafts have already saved some times what it takes. The first
// drafter is tried without savings.
func (w *worth) pays(c *Chooser, first bool, step int, spent float64) bool {
	switch {
	case c == nil:
		return true
	case first || w.seen >= worthFirst && w.gain > w.took:
		return c.Afford(spent)
	}
	return (w.seen < worthFirst || step-w.tried >= worthAgain<<min(w.fails, 5)) && c.saved(4*spent)
}

// cost takes the time of a proposal. One that found nothing tells only that a proposal takes at least as long.
func (w *worth) cost(took float64, found bool) {
	switch {
	case w.took == 0:
		w.took = took
	case found || took > w.took:
		w.took += (min(took, 4*w.took+1e-6) - w.took) / 8 // limits the effect of a pause of the process
	}
}

// learn takes what a proposal saved.
func (w *worth) learn(step int, saved float64) {
	w.tried = step
	w.seen = min(w.seen+1, worthWindow)
	w.gain += (saved - w.gain) / w.seen
	if w.seen >= worthFirst && w.gain <= w.took {
		w.fails++
	} else {
		w.fails = 0
	}
}
