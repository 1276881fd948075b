package specdec

import (
	"sync"

	"tandem"
)

// Acceptance measures how often guesses are right, by class and by the drafter's own probability. It counts every guess
// whose outcome is known, including guesses that were not verified, because comparing these with the generated tokens
// costs nothing.
type Acceptance struct {
	right, seen [sources][5][shares]float64

	worth  [maxDrafters]worth // of a Speculator's drafters
	steps  int                // drafts so far
	proven float64            // see Chooser.proven

	passes [len(passRows)]struct{ tokens, seen float64 } // what passes of that many rows would have given
}

// passRows are the numbers of rows for which an Acceptance keeps how many tokens a pass gives.
var passRows = [...]int{1, 2, 4, 8, 16, 32}

// passPrior is the assumed number of tokens per pass before any pass was seen: about that of prompt lookup (sd.npu
// Table 4).
var passPrior = [len(passRows)]float64{1, 1.5, 2, 2.4, 2.7, 3}

// PerPass returns the expected number of tokens from a pass with the given number of rows, the first included. It never
// falls as rows increase.
func (a *Acceptance) PerPass(rows int) float64 {
	tokens := 1.0
	for i, n := range passRows {
		if n <= rows {
			p := a.passes[i]
			tokens = max(tokens, (p.tokens+prior*passPrior[i])/(p.seen+prior))
		}
	}
	return tokens
}

// learnPasses counts, for each of passRows, how many tokens a pass with that many of the likeliest nodes would have given, by
// comparing the tree with the tokens that the model generated. If those end before the tree does, it counts them all.
func (a *Acceptance) learnPasses(t *Tree, emitted []tandem.Token) {
	rank := make([]int, len(t.Nodes)) // of a node among the likeliest
	for i, node := range t.byChance() {
		rank[node] = i
	}
	var accepted [len(passRows)]int
	for at, n := -1, 0; n < len(emitted); n++ {
		if at = t.Child(at, emitted[n]); at < 0 {
			break
		}
		for i, rows := range passRows {
			if accepted[i] == n && rank[at] < rows-1 {
				accepted[i] = n + 1
			}
		}
	}
	for i := range passRows {
		p := &a.passes[i]
		if p.seen >= memory {
			p.tokens, p.seen = p.tokens*(memory-1)/memory, p.seen*(memory-1)/memory
		}
		p.tokens, p.seen = p.tokens+float64(min(accepted[i]+1, len(emitted))), p.seen+1
	}
}

// An Experience keeps the Acceptance of each set of drafters from one text to the next. If texts are drafted concurrently,
// each begins with a copy, and the copy of the one that ends last is kept.
type Experience struct {
	mu    sync.Mutex
	rates map[Set]Acceptance
}

// Begin returns a copy of the Acceptance of a set. e may be nil.
func (e *Experience) Begin(s Set) (a Acceptance) {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		a = e.rates[s]
	}
	return a
}

// End stores the Acceptance of a set after a text.
func (e *Experience) End(s Set, a *Acceptance) {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.rates == nil {
			e.rates = map[Set]Acceptance{}
		}
		e.rates[s] = *a
	}
}

const (
	shares = 6   // buckets of a drafter's probability
	memory = 128 // how many recent guesses of a class count; older ones fade
	prior  = 3   // how many guesses the starting value counts as
)

// startShare is the assumed share of right guesses before any are measured, by the match's length.
var startShare = [5]float64{0.25, 0.45, 0.65, 0.85, 0.9}

func bucket(share float64) int {
	switch {
	case share < 0.1:
		return 0
	case share < 0.25:
		return 1
	case share < 0.5:
		return 2
	case share < 0.75:
		return 3
	case share < 0.97:
		return 4
	}
	return 5
}

// chance returns the probability that a guess of a class is right, given that its parent is.
func (a *Acceptance) chance(c Class, share float64) float64 {
	b := bucket(share)
	first := startShare[c.Match] * share
	if c.Source == Simulated || c.Source == FromForecast { // which give probabilities
		first = share
	}
	return (a.right[c.Source][c.Match][b] + prior*first) / (a.seen[c.Source][c.Match][b] + prior)
}

func (a *Acceptance) learn(n *Node, right bool) {
	r, s := &a.right[n.Class.Source][n.Class.Match][bucket(n.Share)], &a.seen[n.Class.Source][n.Class.Match][bucket(n.Share)]
	if *s >= memory {
		*r, *s = *r*(memory-1)/memory, *s*(memory-1)/memory
	}
	*s++
	if right {
		*r++
	}
}

// Learn compares a tree with the tokens that the model generated. It counts every guess whose ancestors were right.
func (a *Acceptance) Learn(t *Tree, emitted []tandem.Token) {
	if len(emitted) > 0 {
		a.learnPasses(t, emitted)
	}
	at := -1
	for _, token := range emitted {
		next := -1
		for i := t.firstChild(at); i > 0; i = t.Nodes[i-1].next {
			right := t.Nodes[i-1].Token == token
			a.learn(&t.Nodes[i-1], right)
			if right {
				next = i - 1
			}
		}
		if at = next; at < 0 {
			return
		}
	}
}
