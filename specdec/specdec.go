// Package specdec guesses what a model will say next from what stands in its context, so that one pass
// checks many tokens at once: prompt lookup, suffix automata over the request and over earlier answers,
// n-gram trees, calibration by the model's own prefill, and reuse of what was rejected (sd.npu §4.3, §4.4;
// CoordGen §3.3, §3.4; DESIGN §4.2).
//
// Drafters are pure: they read no clock and draw no random numbers, and what they guess decides how fast
// tokens come, never which. Verification is the model's (sample.GenerateWith); this room knows nothing of
// devices beyond the time that a pass of so many rows takes (Costs).
package specdec

import (
	"slices"

	"tandem"
)

// Drafter proposes what may follow a text.
type Drafter interface {
	// Committed tells the tokens that the text grew by; the prompt comes first.
	Committed(tokens []tandem.Token)
	// Propose adds nodes to the tree of what may follow.
	Propose(t *Tree)
	// Settle tells what the model said to the nodes that were verified.
	Settle(v *Verdict)
}

// Source says where a guess comes from.
type Source uint8

// The sources.
const (
	FromPrompt      Source = iota // an n-gram of the text, looked up
	FromAutomaton                 // the longest suffix of the text that occurred before
	FromHistory                   // the same in earlier answers and contexts
	FromNgrams                    // counts of n-grams
	FromCalibration               // what the model expected at a like place of the prompt
	FromPlaces                    // what stands at a like place, and the model did not expect
	FromAgreed                    // what stands there and the model expected
	FromReuse                     // rejected once
	Simulated                     // a drafter model that is not there: see NewEagle
	sources
)

var sourceNames = [sources]string{"prompt lookup", "automaton", "history", "n-grams", "calibration", "like places", "like places, expected", "reuse", "simulated"}

func (s Source) String() string { return sourceNames[s] }

// Class is a source and how much of the text spoke for the guess, as a bucket of the match's length. How often
// guesses of a class are right is measured (Acceptance).
type Class struct {
	Source Source
	Match  uint8 // of 0: 1 token, 1: 2 to 3, 2: 4 to 7, 3: 8 to 15, 4: 16 or more
}

// ClassOf returns the class of a guess behind a match of n tokens.
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

// Node is a guessed token behind another one.
type Node struct {
	Token  tandem.Token
	Parent int     // its index in the tree, -1 behind the text
	Share  float64 // the drafter's own belief in it, given its parent
	Class  Class
	P      float64 // the measured chance that the whole path down to it is right

	step        float64 // the chance given its parent
	first, next int     // child, sibling; 0 for none, since node 0 is nobody's child or sibling
}

// Tree is a draft: nodes with parents before children. At most Limit are kept.
type Tree struct {
	Nodes []Node
	Limit int

	rate *Acceptance
	root int // 1 + the first node behind the text
}

// NewTree returns an empty tree of at most limit nodes, whose chances a gives; nil takes drafters' own
// beliefs for them.
func NewTree(limit int, a *Acceptance) *Tree { return &Tree{Limit: limit, rate: a} }

// Full reports whether no node can be added.
func (t *Tree) Full() bool { return len(t.Nodes) >= t.Limit }

// P returns the chance of the path to a node; 1 for -1, the text itself.
func (t *Tree) P(node int) float64 {
	if node < 0 {
		return 1
	}
	return t.Nodes[node].P
}

// Child returns the child of a node (-1: the text) with the token, or -1.
func (t *Tree) Child(parent int, token tandem.Token) int {
	for i := t.firstChild(parent); i > 0; i = t.Nodes[i-1].next {
		if t.Nodes[i-1].Token == token {
			return i - 1
		}
	}
	return -1
}

// firstChild and next are indices plus one, 0 for none.
func (t *Tree) firstChild(parent int) int {
	if parent < 0 {
		return t.root
	}
	return t.Nodes[parent].first
}

// Add puts a token behind parent (-1: behind the text) and returns its node, or -1 when the tree is full. A
// node that is there already keeps the better chance of the two.
func (t *Tree) Add(parent int, token tandem.Token, share float64, c Class) int {
	step := share
	if t.rate != nil {
		step = t.rate.Of(c, share)
	}
	if i := t.Child(parent, token); i >= 0 {
		if n := &t.Nodes[i]; step > n.step {
			n.Share, n.Class, n.step = share, c, step
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

// Chain adds tokens one behind the other, from parent on, and returns the last node.
func (t *Tree) Chain(parent int, tokens []tandem.Token, s Source, match int) int {
	for i, token := range tokens {
		next := t.Add(parent, token, 1, ClassOf(s, match+i))
		if next < 0 {
			break
		}
		parent = next
	}
	return parent
}

// Best returns the indices of the n likeliest nodes, parents before children, and those chances from the
// highest down. With a node its parents are among them.
func (t *Tree) Best(n int) (nodes []int, chances []float64) {
	for i := range t.Nodes { // chances of parents may have risen since
		x := &t.Nodes[i]
		x.P = min(t.P(x.Parent)*x.step, t.P(x.Parent))
		nodes = append(nodes, i)
	}
	slices.SortStableFunc(nodes, func(a, b int) int {
		switch x, y := t.Nodes[a].P, t.Nodes[b].P; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return a - b
	})
	nodes = nodes[:min(n, len(nodes))]
	for _, i := range nodes {
		chances = append(chances, t.Nodes[i].P)
	}
	slices.Sort(nodes)
	return nodes, chances
}

// Verdict is what the model said to a tree.
type Verdict struct {
	Tree     *Tree
	Verified []int          // the nodes that were in the pass, ascending
	Path     []int          // the nodes that were right, in order
	Came     []tandem.Token // what the model said: the path's tokens and the one behind it
	// Likeliest returns the token that the model thinks likeliest behind a verified node, -1 for the text.
	Likeliest func(node int) tandem.Token
}
