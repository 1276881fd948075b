package decoder

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tandem"
	"tandem/specdec"
)

// guesser guesses how an answer continues, with the drafters of package specdec. The drafters read the prompts once. Afterwards
// they only follow the answer as it grows and is rolled back.
type guesser struct {
	drafters []specdec.Drafter
	forecast *specdec.Forecast // the one among them, whose rows join the passes; nil for none
	panel    specdec.Panel     // of the drafters, which have the prompts and then the answer
	rate     specdec.Acceptance
	prompts  []tandem.Token // all of them, with separators

	// The last guesses, until the answer shows whether they were right.
	tree    *specdec.Tree
	after   []tandem.Token // the tokens before them
	decoded []int          // the nodes that a pass decoded, ascending
	dists   []tandem.Dist  // this side's distributions after the text, then after each decoded node; nil if unknown
	took    time.Duration  // all drafting so far
}

// newGuesser makes the drafters of a set. They read the prompts as one text in which a specdec.Separator stands after each
// prompt and for each control token, so that no match crosses these: an answer contains no control tokens.
func newGuesser(set specdec.Set, r specdec.Resources, prompts [][]tandem.Token, control func(tandem.Token) bool) (g *guesser, c *specdec.Calibration) {
	g = &guesser{}
	if g.drafters, c, g.forecast = set.Drafters(r); g.drafters == nil {
		return g, nil
	}
	for _, p := range prompts {
		for _, t := range p {
			if control(t) {
				t = specdec.Separator
			}
			g.prompts = append(g.prompts, t)
		}
		g.prompts = append(g.prompts, specdec.Separator)
	}
	return g, c
}

// read gives the drafters the prompts.
func (g *guesser) read() { g.panel.Begin(g.drafters, &g.rate, g.prompts, specdec.WallTime) }

// follow makes the drafters' text the prompts followed by text.
func (g *guesser) follow(text []tandem.Token) {
	n := tandem.CommonPrefix(text, g.panel.Text()[len(g.prompts):])
	g.panel.Rewind(len(g.prompts) + n)
	g.panel.Append(text[n:])
}

// minGuessChance is the smallest probability of a guess that is worth decoding if the costs of passes are unknown.
const minGuessChance = 0.1

// guess returns up to n tokens that may follow text and, for each, the index of the token that it follows, -1 for the text. It
// takes the likeliest guesses, as many as are worth their rows in a pass of at most maxRows, of which base are already taken.
// The probabilities depend on how often similar guesses were right so far. Rows of forecasts (model.NoToken) come after the
// tokens, if they are worth their cost.
func (g *guesser) guess(text []tandem.Token, n, base, maxRows int, p tandem.Pass) (tokens []tandem.Token, parents []int) {
	g.tree = nil
	if n <= 0 || len(g.drafters) == 0 {
		return nil, nil
	}
	began := time.Now()
	defer func() { g.took += time.Since(began) }()
	var c *specdec.Chooser // nil where the costs are unknown
	if len(p.Costs) > 0 {
		maxRows = min(maxRows, len(p.Costs))
		if n = min(n, maxRows-base); n <= 0 {
			return nil, nil
		}
		c = &specdec.Chooser{Costs: p.Costs[base-1:], Loss: math.Inf(1), Chance: p.Chance}
	}
	g.follow(text)
	tree, rows := g.panel.Draft(4*n, n, &g.rate, c)
	if _, chances := tree.Best(rows); c == nil {
		if i := slices.IndexFunc(chances, func(x float64) bool { return x < minGuessChance }); i >= 0 {
			rows = i
		}
	}
	decoded, _ := tree.Best(rows)
	g.tree, g.after, g.decoded, g.dists = tree, slices.Clone(text), decoded, nil
	tokens, parents = tree.Draft(decoded)
	if g.forecast != nil && c != nil {
		tokens, parents = g.forecast.Attach(tokens, parents, decoded, g.forecast.ChooseNodes(tree, decoded, maxRows-base, c))
	}
	return tokens, parents
}

// recordDists records the side's distributions: out after the text, and those of chain after each guess. The first
// drafts entries of chain belong to drafts; out is then the distribution after the last draft.
func (g *guesser) recordDists(out tandem.Dist, chain []tandem.Continuation, drafts int) {
	if g.tree == nil || len(chain) != drafts+len(g.decoded) {
		return
	}
	if drafts > 0 {
		out = chain[drafts-1].Dist
	}
	g.dists = append(g.dists[:0], out)
	for _, f := range chain[drafts:] {
		g.dists = append(g.dists, f.Dist)
	}
}

// learn compares the last guesses with the answer. forecasts returns the logits of forecast i of the last pass; it is
// nil if they are unknown.
func (g *guesser) learn(answer []tandem.Token, forecasts func(i int) []float32) {
	at := len(g.after)
	if g.tree == nil || len(answer) <= at {
		return
	}
	tree := g.tree
	if g.tree = nil; !slices.Equal(answer[:at], g.after) {
		return
	}
	said := answer[at:]
	g.rate.Learn(tree, said)
	v := &specdec.Verdict{Tree: tree, Verified: g.decoded, Forecasts: forecasts}
	for node := -1; len(v.Path) < len(said); {
		if node = tree.Child(node, said[len(v.Path)]); node < 0 || !slices.Contains(g.decoded, node) {
			break
		}
		v.Path = append(v.Path, node)
	}
	if len(v.Path) == len(said) || g.dists == nil {
		return // the first wrong guess is not known yet
	}
	v.Emitted = said[:len(v.Path)+1]
	v.Likeliest = func(node int) tandem.Token { return g.distAfter(node).Mode() }
	v.Next = func(node, n int) []specdec.Likely { return likeliest(g.distAfter(node), n) }
	g.panel.Settle(v)
}

// distAfter returns this side's distribution after one of the last guesses, or after the text before them (-1).
func (g *guesser) distAfter(node int) tandem.Dist {
	if node < 0 {
		return g.dists[0]
	}
	i, _ := slices.BinarySearch(g.decoded, node)
	return g.dists[1+i]
}

// likeliest returns the n likeliest tokens of a distribution, with their probabilities among these.
func likeliest(d tandem.Dist, n int) (top []specdec.Likely) {
	for i, t := range d.IDs {
		top = append(top, specdec.Likely{Token: t, P: float64(d.Weights[i])})
	}
	slices.SortStableFunc(top, func(a, b specdec.Likely) int { return cmp.Compare(b.P, a.P) })
	top = top[:min(n, len(top))]
	sum := 0.0
	for _, l := range top {
		sum += l.P
	}
	for i := range top {
		top[i].P /= sum
	}
	return top
}
