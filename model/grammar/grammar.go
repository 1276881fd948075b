package grammar

import (
	"errors"
	"fmt"
	"slices"
)

// Bounds of a grammar. Its text may come from anywhere.
const (
	// MaxText is the most bytes of a grammar or a schema.
	MaxText = 1 << 20
	// maxNodes is the most places that all rules have together, after repetitions are written out.
	maxNodes = 1 << 18
	// maxRepeat is the most times that an item may be asked to repeat.
	maxRepeat = 1 << 16
	// maxNested is how deep groups may be nested.
	maxNested = 256
)

// A Grammar is a set of texts. It is immutable.
type Grammar struct {
	nodes  []node
	starts []int32    // of each rule; root is rule 0
	alike  [256]uint8 // of each byte the number of its kind: all rules treat the bytes of a kind alike
}

// kinds returns how many kinds of bytes there are.
func (g *Grammar) kinds() int { return int(g.alike[255]) + 1 }

// sortBytes divides the bytes into kinds, ascending.
func (g *Grammar) sortBytes() {
	var begins [257]bool // where a kind begins
	for _, n := range g.nodes {
		if n.op == oneByte {
			begins[n.low], begins[int(n.top)+1] = true, true
		}
	}
	for b := 1; b < 256; b++ {
		g.alike[b] = g.alike[b-1]
		if begins[b] {
			g.alike[b]++
		}
	}
}

// A node is a place in a rule.
type node struct {
	op       op
	low, top byte  // of oneByte: the byte that leads on is within these
	rule     int32 // of call
	next     int32 // where the rule goes on
	other    int32 // of fork: where else it may
}

// op is what happens at a place.
type op uint8

const (
	oneByte op = iota // a byte is read
	call              // another rule is read
	fork              // the rule goes on in two ways
	done              // the rule ends
)

// builder makes a grammar of rules.
type builder struct {
	nodes []node
	err   error
}

// errTooLarge is the error about a grammar with too many places.
var errTooLarge = fmt.Errorf("it is too large: its rules have more than %d places when their repetitions are written out", maxNodes)

func (b *builder) add(n node) int32 {
	if len(b.nodes) >= maxNodes {
		b.err = errTooLarge
		return 0
	}
	b.nodes = append(b.nodes, n)
	return int32(len(b.nodes) - 1)
}

// An expression is what may stand in a rule. compile returns the place where it begins if next comes after it.
type expression interface {
	compile(b *builder, next int32) int32
}

type (
	literal  string       // its bytes
	class    []runeRange  // a character within one of them, sorted and apart
	sequence []expression // one after the other
	choice   []expression // one of them
	ruleCall int32        // what a rule derives
	repeated struct {     // several in a row
		of       expression
		min, max int // max -1: no limit
	}
)

func (l literal) compile(b *builder, next int32) int32 {
	for _, c := range slices.Backward([]byte(l)) {
		next = b.add(node{op: oneByte, low: c, top: c, next: next})
	}
	return next
}

func (s sequence) compile(b *builder, next int32) int32 {
	for _, e := range slices.Backward(s) {
		next = e.compile(b, next)
	}
	return next
}

func (c choice) compile(b *builder, next int32) int32 {
	var words []string
	var ways []int32
	for _, e := range c {
		if l, is := e.(literal); is {
			words = append(words, string(l))
		} else {
			ways = append(ways, e.compile(b, next))
		}
	}
	slices.Sort(words)
	return b.fork(append(ways, b.words(slices.Compact(words), next)...))
}

// fork returns a place from which there are several ways on.
func (b *builder) fork(ways []int32) int32 {
	begin := ways[len(ways)-1]
	for _, w := range slices.Backward(ways[:len(ways)-1]) {
		begin = b.add(node{op: fork, next: w, other: begin})
	}
	return begin
}

// words compiles strings, which are sorted and differ, so that at most one way leads on by each byte: there may be thousands.
func (b *builder) words(list []string, next int32) (ways []int32) {
	if len(list) > 0 && list[0] == "" {
		ways, list = append(ways, next), list[1:]
	}
	for len(list) > 0 {
		n, shared := 1, 1
		for n < len(list) && list[n][0] == list[0][0] {
			n++
		}
		first, last := list[0], list[n-1]
		for shared < min(len(first), len(last)) && first[shared] == last[shared] {
			shared++
		}
		rest := make([]string, n)
		for i, w := range list[:n] {
			rest[i] = w[shared:]
		}
		ways = append(ways, literal(first[:shared]).compile(b, b.fork(b.words(rest, next))))
		list = list[n:]
	}
	return ways
}

func (r ruleCall) compile(b *builder, next int32) int32 {
	return b.add(node{op: call, rule: int32(r), next: next})
}

func (r repeated) compile(b *builder, next int32) int32 {
	if r.max < 0 {
		again := b.add(node{op: fork, other: next})
		begin := r.of.compile(b, again)
		b.nodes[again].next = begin
		next = again
	}
	end := next
	for i := r.max; i > r.min && b.err == nil; i-- {
		next = b.add(node{op: fork, next: r.of.compile(b, next), other: end})
	}
	for i := 0; i < r.min && b.err == nil; i++ {
		begin := r.of.compile(b, next)
		if begin == next { // it is empty, however often
			break
		}
		next = begin
	}
	return next
}

func (c class) compile(b *builder, next int32) int32 {
	var all choice
	for _, r := range c {
		for _, bytes := range encodings(r) {
			all = append(all, bytes)
		}
	}
	return all.compile(b, next)
}

// byteRanges are bytes in a row, each within a range.
type byteRanges [][2]byte

func (r byteRanges) compile(b *builder, next int32) int32 {
	for _, one := range slices.Backward(r) {
		next = b.add(node{op: oneByte, low: one[0], top: one[1], next: next})
	}
	return next
}

// newGrammar makes a grammar of rules, of which names has the names.
func newGrammar(rules []expression, names []string) (*Grammar, error) {
	b := &builder{}
	g := &Grammar{}
	for _, r := range rules {
		g.starts = append(g.starts, r.compile(b, b.add(node{op: done})))
	}
	if b.err != nil {
		return nil, b.err
	}
	g.nodes = b.nodes
	g.sortBytes()
	if rule := g.leftRecursive(); rule >= 0 {
		return nil, fmt.Errorf("the rule %s begins with itself: let it begin with something else, or use * or +", names[rule])
	}
	derives := g.derives()
	if rule := slices.Index(derives[1:], false); rule >= 0 { // rather than root, which needs it
		return nil, fmt.Errorf("no text fits the rule %s, which always needs itself again", names[rule+1])
	}
	if !derives[0] {
		return nil, errors.New("no text fits root, which always needs itself again")
	}
	return g, nil
}

// leftRecursive returns a rule that may call itself before it reads a byte, or -1.
func (g *Grammar) leftRecursive() int {
	empty := g.nullable()
	first := make([][]int32, len(g.starts)) // the rules that a rule may call first
	for rule, start := range g.starts {
		g.reach(start, empty, func(n node) {
			if n.op == call {
				first[rule] = append(first[rule], n.rule)
			}
		})
	}
	const open, closed = 1, 2
	state := make([]byte, len(g.starts))
	var visit func(rule int32) int
	visit = func(rule int32) int {
		state[rule] = open
		for _, r := range first[rule] {
			if state[r] == open {
				return int(r)
			}
			if state[r] == 0 {
				if found := visit(r); found >= 0 {
					return found
				}
			}
		}
		state[rule] = closed
		return -1
	}
	for rule := range g.starts {
		if state[rule] == 0 {
			if found := visit(int32(rule)); found >= 0 {
				return found
			}
		}
	}
	return -1
}

// reach calls see for each place that can be reached from one without a byte. empty has the rules that may derive nothing.
func (g *Grammar) reach(from int32, empty []bool, see func(node)) {
	seen, todo := map[int32]bool{}, []int32{from}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; seen[at] {
			continue
		}
		seen[at] = true
		n := g.nodes[at]
		see(n)
		switch n.op {
		case fork:
			todo = append(todo, n.next, n.other)
		case call:
			if empty[n.rule] {
				todo = append(todo, n.next)
			}
		}
	}
}

// nullable says for each rule whether it may derive the empty text.
func (g *Grammar) nullable() []bool { return g.ending(false) }

// derives says for each rule whether it derives any text.
func (g *Grammar) derives() []bool { return g.ending(true) }

// ending says for each rule whether it derives a text or, without bytes, the empty one.
func (g *Grammar) ending(bytes bool) []bool {
	type way struct{ at, rule int32 } // a place, and the rule that it is in
	known, seen := make([]bool, len(g.starts)), make([]bool, len(g.nodes))
	waiting := make([][]way, len(g.starts)) // where to go on behind calls of a rule
	var todo []way
	for rule, start := range g.starts {
		todo = append(todo, way{start, int32(rule)})
	}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[w.at] {
			continue
		}
		seen[w.at] = true
		switch n := g.nodes[w.at]; {
		case n.op == done:
			known[w.rule] = true
			todo = append(todo, waiting[w.rule]...)
		case n.op == fork:
			todo = append(todo, way{n.next, w.rule}, way{n.other, w.rule})
		case n.op == call && !known[n.rule]:
			waiting[n.rule] = append(waiting[n.rule], way{n.next, w.rule})
		case n.op == call || bytes:
			todo = append(todo, way{n.next, w.rule})
		}
	}
	return known
}
