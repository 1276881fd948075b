// Package specdec drafts the next tokens of a text for speculative decoding, so that one forward pass verifies many tokens at
// once. The drafters use only the context: prompt lookup, suffix automata over the request and over earlier answers, n-gram
// trees, calibration by the model's own prefill, what the model said after the same tokens before, and reuse of rejected drafts
// (CoordGen §3.3, §3.4; sd.npu §4.3, §4.4).
//
// Drafters are pure: they read no clock and draw no random numbers. Only Panel, by the clock that it is given, and Measure take
// times. A draft affects how fast tokens are generated, but never which ones, because the model verifies drafts
// (sample.GenerateWith). The package knows a device only by the time of a pass of n rows (Costs).
package specdec

import (
	"slices"

	"tandem"
)

// A Drafter proposes tokens that may follow a text.
type Drafter interface {
	// Committed appends tokens to the text. The first call passes the prompt.
	Committed(tokens []tandem.Token)
	// Rewind forgets all but the first n tokens of the text. n is at least the length of the prompt.
	Rewind(n int)
	// Propose adds nodes to the draft tree.
	Propose(t *Tree)
	// Settle reports the result of a verification.
	Settle(v *Verdict)
}

// Separator separates the parts of a text, such as the prompts of several contexts. It is not a token: drafts never contain
// it, and no match extends across it.
const Separator = tandem.Token(-1)

// A Source is where a guess comes from.
type Source uint8

// The sources.
const (
	FromPrompt      Source = iota // an n-gram of the text, looked up
	FromAutomaton                 // the longest suffix of the text that occurred before
	FromHistory                   // the same in earlier answers and contexts
	FromNgrams                    // counts of n-grams
	FromCalibration               // what the model expected at a similar place of the prompt
	FromPlaces                    // what follows a similar place, though the model did not expect it
	FromAgreed                    // what follows a similar place, as the model expected
	FromReuse                     // rejected before
	FromRecycled                  // what the model said after the same tokens in another pass
	FromForecast                  // predicted by forecast embeddings
	Simulated                     // a draft model that does not exist: see NewEagle
	sources
)

var sourceNames = [sources]string{"prompt lookup", "automaton", "history", "n-grams", "calibration", "similar places", "similar places, expected", "reuse", "recycled", "forecasts", "simulated"}

func (s Source) String() string { return sourceNames[s] }

// A Class is a source and a bucket of the match's length: how many tokens of the text led to the guess.
// Acceptance measures how often the guesses of a class are right.
type Class struct {
	Source Source
	Match  uint8 // 0: 1 token, 1: 2 to 3, 2: 4 to 7, 3: 8 to 15, 4: 16 or more
}

// ClassOf returns the class of a guess that follows a match of n tokens.
func ClassOf(s Source, n int) Class {
	switch {
	case n < 2:
		return Class{s, 0}
	case n < 4:
		return Class{s, 1}
	case n < 8:
		return Class{s, 2}
	case n < 16:
		return Class{s, 3}
	}
	return Class{s, 4}
}

// A Node is a guessed token and the token it follows.
type Node struct {
	Token  tandem.Token
	Parent int     // its index in the tree, -1 for the text itself
	Share  float64 // the drafter's own probability for it, given its parent
	Class  Class
	P      float64 // the measured probability that the whole path down to it is right

	step        float64 // the measured probability given its parent
	first, next int     // child and sibling, as indices plus one; 0 for none
}

// A Tree is a draft of at most Limit nodes, parents before children.
type Tree struct {
	Nodes []Node
	Limit int
	Least float64 // paths of less probability do not pay: no node is added below them

	rate *Acceptance
	root int // the first node without a parent, as an index plus one

	order []int // see byChance; valid while it has all nodes and nothing was added since
	dirty bool
}

// NewTree returns an empty tree of at most limit nodes. The probabilities of nodes come from a, or from the
// drafters if a is nil.
func NewTree(limit int, a *Acceptance) *Tree {
	t := &Tree{}
	t.reset(limit, a)
	return t
}

// reset empties the tree and keeps its memory.
func (t *Tree) reset(limit int, a *Acceptance) {
	if t.Nodes == nil {
		t.Nodes = make([]Node, 0, max(0, min(limit, poolSize)))
	}
	*t = Tree{Nodes: t.Nodes[:0], Limit: limit, rate: a, order: t.order[:0]}
}

// Full reports whether no node can be added.
func (t *Tree) Full() bool { return len(t.Nodes) >= t.Limit }

// P returns the probability of the path to a node. It is 1 for -1, the text itself.
func (t *Tree) P(node int) float64 {
	if node < 0 {
		return 1
	}
	return t.Nodes[node].P
}

// Child returns the child of a node (-1: the text) with the given token, or -1.
func (t *Tree) Child(parent int, token tandem.Token) int {
	for i := t.firstChild(parent); i > 0; i = t.Nodes[i-1].next {
		if t.Nodes[i-1].Token == token {
			return i - 1
		}
	}
	return -1
}

// firstChild returns the index of a node's first child plus one, or 0.
func (t *Tree) firstChild(parent int) int {
	if parent < 0 {
		return t.root
	}
	return t.Nodes[parent].first
}

// Add adds a child to parent (-1: the text) and returns its node, or -1 if the tree is full. If the child
// exists, it keeps the higher of the two probabilities.
func (t *Tree) Add(parent int, token tandem.Token, share float64, c Class) int {
	step := share
	if t.rate != nil {
		step = t.rate.chance(c, share)
	}
	if i := t.Child(parent, token); i >= 0 {
		if n := &t.Nodes[i]; step > n.step {
			n.Share, n.Class, n.step, t.dirty = share, c, step, true
			n.P = t.P(parent) * step
		}
		return i
	}
	if t.Full() {
		return -1
	}
	n := Node{Token: token, Parent: parent, Share: share, Class: c, P: t.P(parent) * step, step: step, next: t.firstChild(parent)}
	t.Nodes = append(t.Nodes, n)
	if parent < 0 {
		t.root = len(t.Nodes)
	} else {
		t.Nodes[parent].first = len(t.Nodes)
	}
	return len(t.Nodes) - 1
}

// Chain adds a path of tokens below parent and returns its last node.
func (t *Tree) Chain(parent int, tokens []tandem.Token, s Source, match int) int {
	for i, token := range tokens {
		if i > 0 && t.Nodes[parent].P < t.Least {
			break
		}
		next := t.Add(parent, token, 1, ClassOf(s, match+i))
		if next < 0 {
			break
		}
		parent = next
	}
	return parent
}

// first returns the likeliest token after the text, or Separator if there is none.
func (t *Tree) first() tandem.Token {
	if order := t.byChance(); len(order) > 0 { // a node is not likelier than its parent
		return t.Nodes[order[0]].Token
	}
	return Separator
}

// Best returns the indices of the n likeliest nodes in ascending order, and their probabilities in
// descending order. The result holds every ancestor of each node.
func (t *Tree) Best(n int) (nodes []int, chances []float64) {
	order := t.byChance()
	nodes = slices.Clone(order[:min(n, len(order))])
	for _, i := range nodes {
		chances = append(chances, t.Nodes[i].P)
	}
	slices.Sort(nodes)
	return nodes, chances
}

// Draft returns the tokens of nodes (ascending, with their ancestors), and for each the index of the one it follows, -1
// for the text.
func (t *Tree) Draft(nodes []int) (tokens []tandem.Token, parents []int) {
	for _, n := range nodes {
		parent := -1
		if p := t.Nodes[n].Parent; p >= 0 {
			parent, _ = slices.BinarySearch(nodes, p)
		}
		tokens, parents = append(tokens, t.Nodes[n].Token), append(parents, parent)
	}
	return tokens, parents
}

// byChance returns the indices of all nodes, the likeliest first.
func (t *Tree) byChance() []int {
	if len(t.order) == len(t.Nodes) && !t.dirty {
		return t.order
	}
	t.order, t.dirty = slices.Grow(t.order[:0], len(t.Nodes)), false
	for i := range t.Nodes { // a parent's probability may have risen since
		x := &t.Nodes[i]
		x.P = min(t.P(x.Parent)*x.step, t.P(x.Parent))
		t.order = append(t.order, i)
	}
	slices.SortFunc(t.order, func(a, b int) int {
		switch x, y := t.Nodes[a].P, t.Nodes[b].P; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return a - b
	})
	return t.order
}

// A Verdict is the result of verifying a tree, as drafters learn from it: see sample.Verification for that of a pass.
type Verdict struct {
	Tree     *Tree
	After    int            // tokens of the text that the tree follows; Panel.Settle sets it
	Verified []int          // the nodes that were in the pass, ascending
	Path     []int          // the nodes that were right, in order
	Emitted  []tandem.Token // the tokens that the pass generated: those of the path and the one after it
	// Likeliest returns the model's likeliest token after a verified node (-1: after the text).
	Likeliest func(node int) tandem.Token
	// Next returns the model's n likeliest tokens after a verified node (-1: after the text), the likeliest first, with their
	// probabilities among these. It is nil if they are not known.
	Next func(node, n int) []Likely
	// Forecasts returns the logits of row i of a Forecast, up to an additive constant; nil if the pass had none. It is valid
	// only during the call.
	Forecasts func(i int) []float32
}
