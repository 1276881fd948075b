package specdec

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tandem"
	"tandem/model"
)

// Forecast drafts what the model itself predicts: dynamic self-speculative decoding (DS2D, Samsung §3.5, A.2; after BiTA, Lin
// et al. 2025). Rows with trained embeddings follow the rows of the text and of its draft. The logits of the k-th of them
// predict the token k places after the next one. So one pass verifies a draft and predicts the next draft. Rows of the text do
// not attend to the embeddings, so the generated tokens do not change.
//
// A forecast is needed after the last right node of a draft, which is known only after the pass. So the rows are
// repeated after several nodes: those where the right part of the draft most likely ends.
type Forecast struct {
	Embeddings [][]float32    // m rows [m × Dim], of which the k-th forecasts k tokens after the next
	Adapter    *model.Adapter // of these rows; nil for that of the text
	// Branches is a static configuration: how many of the likeliest tokens of each forecast the tree has below each node, as in
	// Samsung's Table 7. Nil means to choose by measured acceptance, pass by pass.
	Branches []int

	next          [][]Likely // what the last pass forecast, by depth
	after         int        // the text's length at which next holds
	length        int
	forecastNodes []int // nodes of the tree (-1: the text) with forecasts in the pass, in order
	rows          [][]float32

	right, seen [maxForecasts][forecastTop]float64 // acceptance by depth and rank
}

// Bounds of forecasts.
const (
	maxForecasts = 8
	forecastTop  = 15 // candidates of a depth, the most of Samsung's Table 7
	liveTop      = 8  // of them, those that a tree may have that measured acceptance chooses
)

// Check returns an error if the embeddings do not fit the model.
func (f *Forecast) Check(m *model.Model) error {
	if len(f.Embeddings) < 1 || len(f.Embeddings) > maxForecasts {
		return fmt.Errorf("%d forecast embeddings: want 1 to %d", len(f.Embeddings), maxForecasts)
	}
	for i, row := range f.Embeddings {
		if len(row) != m.Config().Dim {
			return fmt.Errorf("forecast embedding %d has %d numbers, and the model's rows have %d: it was trained for another model", i, len(row), m.Config().Dim)
		}
	}
	if len(f.Branches) > len(f.Embeddings) {
		return fmt.Errorf("branches %d: there are only %d forecast embeddings", f.Branches, len(f.Embeddings))
	}
	for _, b := range f.Branches {
		if b < 1 || b > forecastTop {
			return fmt.Errorf("branches %d: want 1 to %d each", f.Branches, forecastTop)
		}
	}
	if n := treeRows(f.Branches); n > tandem.MaxRows {
		return fmt.Errorf("branches %d: they take %d rows of a pass, which has %d", f.Branches, n, tandem.MaxRows)
	}
	return nil
}

// depth returns how many forecasts follow a node.
func (f *Forecast) depth() int {
	if f.Branches != nil {
		return len(f.Branches)
	}
	return len(f.Embeddings)
}

// treeNodes returns how many nodes the tree of a configuration has: 3 + 3·2 for (3, 2).
func treeNodes(branches []int) (n int) {
	for at := 1; len(branches) > 0; branches = branches[1:] {
		at *= branches[0]
		n += at
	}
	return n
}

// treeRows returns how many rows the pass of a configuration takes: each node, and the token before the tree, with m forecasts.
func treeRows(branches []int) int { return (1 + treeNodes(branches)) * (1 + len(branches)) }

// Committed implements Drafter.
func (f *Forecast) Committed(tokens []tandem.Token) { f.length += len(tokens) }

// Rewind implements Drafter.
func (f *Forecast) Rewind(n int) {
	if n < f.length {
		f.length, f.next = n, nil
	}
}

// Propose implements Drafter. It adds what the last pass forecast, as far as it is still ahead of the text.
func (f *Forecast) Propose(t *Tree) {
	if f.next == nil || f.length < f.after || f.length-f.after >= len(f.next) {
		return
	}
	frontier, elapsed := []int{-1}, f.length-f.after
	for i, list := range f.next[elapsed:] {
		depth, n := elapsed+i, len(list)
		if f.Branches != nil {
			if depth == len(f.Branches) {
				return
			}
			n = min(n, f.Branches[depth])
		}
		var below []int
		for _, at := range frontier {
			if t.P(at) < t.Least {
				continue
			}
			for rank, c := range list[:n] {
				if i := t.Add(at, c.Token, f.chance(depth, rank, c.P), Class{FromForecast, uint8(min(depth, 4))}); i >= 0 {
					below = append(below, i)
				}
			}
		}
		frontier = below
	}
}

// chance returns the probability that the candidate of a depth and rank is right, given that those before it are. It is the
// model's own probability p, shifted towards the measured acceptance.
func (f *Forecast) chance(depth, rank int, p float64) float64 {
	const prior = 8
	return (f.right[depth][rank] + prior*p) / (f.seen[depth][rank] + prior)
}

// gain returns the expected number of right tokens in the next draft due to the forecasts after a node.
func (f *Forecast) gain() (tokens float64) {
	pathChance := 1.0
	for depth := range f.depth() {
		hit := 0.0
		for rank := range 3 {
			hit += f.chance(depth, rank, 0.5/math.Pow(2, float64(rank+depth)))
		}
		pathChance *= min(hit, 1)
		tokens += pathChance
	}
	return tokens
}

// plan chooses which nodes of a tree to verify and which get forecasts, within the given number of rows, the token before the
// tree included. nodes are those to verify, a node with all before it; after are those behind which forecasts stand, -1 for the text.
func (f *Forecast) plan(t *Tree, rows int) (nodes []int, after []int) {
	m := f.depth()
	if f.Branches != nil {
		nodes, _ = t.Best(max(0, rows/(1+m)-1))
		if rows < 1+m {
			return nodes, nil
		}
		return nodes, append([]int{-1}, nodes...)
	}
	gain, best := f.gain(), -1.0
	for n := 0; n < rows; n++ {
		list, chances := t.Best(n)
		if len(list) < n {
			break
		}
		value := 1.0
		for _, p := range chances {
			value += p
		}
		ends := endings(t, list)
		with := ends[:min(len(ends), (rows-1-n)/m)]
		for _, e := range with {
			value += gain * e.p
		}
		if value > best {
			best, nodes = value, list
			after = after[:0]
			for _, e := range with {
				after = append(after, e.node)
			}
		}
	}
	slices.Sort(after)
	return nodes, after
}

// An ending is a node (-1: the text) with the probability that the right path ends there.
type ending struct {
	node int
	p    float64
}

// Embeds returns the embeddings of the rows that Attach appended last, in order.
func (f *Forecast) Embeds() [][]float32 { return f.rows }

// endings returns where the right path through these nodes of a tree may end, the likeliest first.
func endings(t *Tree, nodes []int) []ending {
	list := []ending{{-1, 1}}
	at := map[int]int{-1: 0}
	for _, i := range nodes {
		p := t.Nodes[i].P
		list[at[t.Nodes[i].Parent]].p -= p
		at[i] = len(list)
		list = append(list, ending{i, p})
	}
	slices.SortStableFunc(list, func(a, b ending) int { return cmp.Compare(b.p, a.p) })
	return list
}

// ChooseNodes returns the nodes (ascending, -1 for the text) after which forecasts are worth their rows. nodes are the nodes of the
// tree that the pass verifies. The pass has at most limit rows after its first.
func (f *Forecast) ChooseNodes(t *Tree, nodes []int, limit int, c *Chooser) (after []int) {
	m, gain := f.depth(), f.gain()
	rows := 1 + len(nodes)
	for _, e := range endings(t, nodes) {
		dearer := c.Costs.At(rows+m) - c.Costs.At(rows)
		if rows+m > limit+1 || gain*e.p*c.perToken() <= dearer || c.Costs.At(rows+m)-c.Costs.At(1) > c.budget() {
			break
		}
		after, rows = append(after, e.node), rows+m
	}
	slices.Sort(after)
	return after
}

// Attach appends the rows of forecasts to a draft, given as tokens and parents. after lists the nodes that get
// forecasts.
func (f *Forecast) Attach(tokens []tandem.Token, parents []int, nodes, after []int) ([]tandem.Token, []int) {
	f.forecastNodes, f.rows = after, f.rows[:0]
	for _, node := range after {
		parent := -1
		if node >= 0 {
			parent, _ = slices.BinarySearch(nodes, node)
		}
		for _, row := range f.Embeddings[:f.depth()] {
			tokens, parents = append(tokens, model.NoToken), append(parents, parent)
			parent = len(tokens) - 1
			f.rows = append(f.rows, row)
		}
	}
	return tokens, parents
}

// Settle implements Drafter.
func (f *Forecast) Settle(v *Verdict) {
	f.learn(v)
	f.next = nil
	last := -1
	if len(v.Path) > 0 {
		last = v.Path[len(v.Path)-1]
	}
	at := slices.Index(f.forecastNodes, last)
	if at < 0 || v.Forecasts == nil {
		return
	}
	m := f.depth()
	for k := range m {
		f.next = append(f.next, likeliestOf(v.Forecasts(at*m+k), f.candidates()))
	}
	f.after = v.After + len(v.Emitted)
}

// begin takes the logits of the forecasts after the prompt, which is the text so far. The next token comes of the same pass.
func (f *Forecast) begin(logits [][]float32) {
	f.next = nil
	for _, row := range logits {
		f.next = append(f.next, likeliestOf(row, f.candidates()))
	}
	f.after = f.length + 1
}

// candidates returns how many tokens of each forecast are kept.
func (f *Forecast) candidates() int {
	if f.Branches == nil {
		return liveTop
	}
	return max(liveTop, slices.Max(f.Branches))
}

// learn compares the last forecasts with the tokens that came.
func (f *Forecast) learn(v *Verdict) {
	elapsed := v.After - f.after
	if f.next == nil || elapsed < 0 {
		return
	}
	for i, token := range v.Emitted {
		depth := elapsed + i
		if depth >= len(f.next) {
			return
		}
		found := false
		for rank, c := range f.next[depth] {
			if f.seen[depth][rank] >= memory {
				f.right[depth][rank] *= float64(memory-1) / memory
				f.seen[depth][rank] *= float64(memory-1) / memory
			}
			f.seen[depth][rank]++
			if c.Token == token {
				f.right[depth][rank]++
				found = true
			}
		}
		if !found {
			return
		}
	}
}
