package decoder

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tandem"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu"
)

// NextAhead does what Next does, and in the same pass also computes the distributions after other continuations: after the
// branches of the answer (p.Branches), and after the answer followed by drafts and then by guesses, which may branch (chain).
// Each result equals that of Next bit for bit. There are fewer results, or none, if a pass cannot hold them (a long p.Append, a
// full context) or if no guess is likely.
func (d *Decoder) NextAhead(ctx context.Context, p tandem.Pass) (out Output, branches, chain []tandem.Continuation, err error) {
	began := time.Now()
	defer d.spareUnused()
	last := d.tree // nil unless the last pass was that of this tree, whose logits are still there
	if err := d.edit(p.Keep, p.Append); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	d.guesses.learn(d.answer, d.foreseen(last))
	b, err := d.planTree(ctx, p)
	if err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	if b == nil {
		out, err := d.Next(ctx, len(d.answer), nil)
		if err == nil && slices.Equal(d.answer, d.guesses.after) {
			d.guesses.recordDists(out.Dist, nil, 0)
		}
		out.Took, out.Costs = time.Since(began), d.costs()
		return out, nil, nil, err
	}
	if err := d.runTree(ctx, b); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	if out, err = d.output(d.logits, d.states[len(d.states)-1], d.answer); err != nil {
		return Output{}, nil, nil, err
	}
	first := b.own + b.branches // of the chain
	for i, t := range b.textTokens()[b.own:] {
		out, err := d.outputAt(b, b.own+i)
		if err != nil {
			return Output{}, nil, nil, err
		}
		more := tandem.Continuation{Token: t, Dist: out.Dist, H: out.H}
		if i < b.branches {
			more.After = max(0, b.parents[b.own+i]+1-b.own)
			branches = append(branches, more)
			continue
		}
		more.After = max(0, b.parents[b.own+i]+1-first)
		chain = append(chain, more)
	}
	d.guesses.recordDists(out.Dist, chain, b.drafts)
	b.hasStates = true
	out.Took, out.Fed, out.Length, out.Forecasts = time.Since(began), b.own, d.length(), len(b.forecasts)
	out.Costs = d.costs()
	return out, branches, chain, nil
}

// costs returns the times of passes in seconds, by rows, if several answers share the passes. Otherwise it returns nil.
func (d *Decoder) costs() []float64 {
	if s, ok := d.cfg.Passes.(SharedPasses); ok {
		return s.Costs(len(d.contexts), tandem.MaxRows)
	}
	return nil
}

// treePass is a pass over a draft tree: the answer's tokens that are not yet in the KV caches, then branches, then a
// chain of drafts after it, guesses after those, and rows of forecasts.
type treePass struct {
	tokens    []tandem.Token
	parents   []int
	own       int           // how many of the tokens are the answer's
	branches  int           // how many of those after them are branches
	drafts    int           // and how many of the others are drafts
	forecasts [][]float32   // embeddings of the last rows, which are no tokens
	hasStates bool          // states holds one for each token
	before    [][]float32   // each context's logits before the tree
	out       [][][]float32 // each context's logits after each row; nil if they were given back
	states    []state       // after each token
	texts     [][]byte      // the answer's text after each token
}

// textTokens returns the rows that are tokens.
func (b *treePass) textTokens() []tandem.Token { return b.tokens[:len(b.tokens)-len(b.forecasts)] }

// planTree plans a pass. It returns nil if there is nothing to decode beyond the answer, or no room for it.
func (d *Decoder) planTree(ctx context.Context, p tandem.Pass) (*treePass, error) {
	if !d.cfg.caches() {
		return nil, nil
	}
	if err := d.rewind(ctx); err != nil {
		return nil, err
	}
	pending := d.answer[d.done:]
	if len(pending) == 0 || len(pending) > scoredAtOnce {
		return nil, nil
	}
	b := &treePass{own: len(pending), before: d.logits}
	for i, t := range pending {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, i-1)
	}
	d.addBranches(b, p.Branches)
	d.addChain(b, p)
	n := len(b.tokens)
	if n == b.own || n > npu.MaxTree {
		return nil, nil
	}
	for _, c := range d.contexts {
		if c.seq.Len()+n > d.cfg.Model.Config().Context {
			return nil, nil
		}
	}
	return b, nil
}

// addBranches adds branches of the answer, up to the first that does not fit in the pass.
func (d *Decoder) addBranches(b *treePass, branches []tandem.Branch) {
	first := 0 // the least parent
	if d.logits != nil || !d.needsAll() {
		first = -1 // unless the weights need the logits before it, and a rollback has dropped them
	}
	for _, x := range branches {
		parent := b.own - 1 - x.Back
		if x.After > 0 {
			parent = b.own - 1 + x.After
		}
		if d.unknown(x.Token) || parent < first || parent >= len(b.tokens) || x.After < 0 || x.After == 0 && x.Back < 1 {
			return
		}
		b.tokens, b.parents = append(b.tokens, x.Token), append(b.parents, parent)
		b.branches++
	}
}

// addChain adds what a pass decodes after the answer: drafts, then guesses.
func (d *Decoder) addChain(b *treePass, p tandem.Pass) {
	room := max(0, d.Room()-len(d.answer))
	drafts, guess := p.Drafts[:min(len(p.Drafts), room)], true
	if i := slices.IndexFunc(drafts, d.unknown); i >= 0 {
		drafts, guess = drafts[:i], false
	}
	last := b.own - 1
	for _, t := range drafts {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, last)
		last = len(b.tokens) - 1
	}
	if b.drafts = len(drafts); !guess {
		return
	}
	at, most := len(b.tokens), npu.MaxTree
	for _, c := range d.contexts {
		most = min(most, d.cfg.Model.Config().Context-c.seq.Len())
	}
	tokens, parents := d.guesses.guess(slices.Concat(d.answer, drafts), min(p.Guess, room-len(drafts), most-at), at, most, p)
	for i, t := range tokens {
		if parents[i] < 0 {
			parents[i] = last - at
		}
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, at+parents[i])
		if t == model.NoToken {
			b.forecasts = d.guesses.forecast.Embeds()
		}
	}
}

// runTree computes the tree in every context. The KV caches hold the whole tree until the next edit shows how the answer
// continues (settle).
func (d *Decoder) runTree(ctx context.Context, b *treePass) error {
	batch := make([]model.Input, len(d.contexts))
	for i, c := range d.contexts {
		batch[i] = model.Input{Seq: c.seq, Tokens: b.tokens, Parents: b.parents, All: true, PerPass: d.perPass}
		if len(b.forecasts) > 0 {
			batch[i].Embeds = append(make([][]float32, len(b.textTokens())), b.forecasts...)
			batch[i].EmbedsAdapter = d.guesses.forecast.Adapter
		}
	}
	out, err := d.forward(ctx, batch)
	if err != nil {
		return err
	}
	n := len(b.tokens)
	var kept [][]float32
	for i := range d.contexts {
		b.out = append(b.out, out[i*n:][:n])
		kept = append(kept, out[i*n:][:b.own]...)
	}
	from := d.done
	d.tree = b
	d.accept(d.answer[d.done:], kept, true)
	b.states, b.texts = make([]state, n), make([][]byte, n)
	for i := range b.own {
		b.states[i] = d.states[from+i+1]
		b.texts[i] = d.text[:b.states[i].end]
	}
	return nil
}

// foreseen returns a function that gives the side's logits for forecast i of a tree, mixed with the weights that held after the
// token before the forecast. It returns nil if the tree has no forecasts.
func (d *Decoder) foreseen(b *treePass) func(i int) []float32 {
	if b == nil || !b.hasStates || len(b.forecasts) == 0 {
		return nil
	}
	return func(i int) []float32 {
		i += len(b.textTokens())
		token := b.parents[i]
		for token >= len(b.textTokens()) {
			token = b.parents[token]
		}
		weights, _ := d.shares(b.states[token])
		p := mixtureOf(b.at(i), weights, d.unsupported)
		defer spareMixtures.Put(&p)
		logs := make([]float32, len(p))
		for x, v := range p {
			logs[x] = float32(math.Log(v))
		}
		return logs
	}
}

// settle reduces the KV caches from the whole last tree to the answer and those nodes that have become part of it since;
// follow are the tokens that now follow the answer. It returns the tree and the nodes of those tokens of follow that
// were in it.
func (d *Decoder) settle(follow []tandem.Token) (b *treePass, path []int, err error) {
	if b, d.tree = d.tree, nil; b == nil {
		return nil, nil, nil
	}
	for i := range b.own {
		path = append(path, i)
	}
	at := b.own - 1
	for _, t := range follow {
		next := b.own + b.branches
		for next < len(b.tokens) && (b.tokens[next] != t || b.parents[next] != at) {
			next++
		}
		if next == len(b.tokens) {
			break
		}
		path, at = append(path, next), next
	}
	for _, c := range d.contexts {
		if err := c.seq.Keep(path...); err != nil {
			return nil, nil, err
		}
	}
	return b, path[b.own:], nil
}

// take makes nodes of the tree part of the answer.
func (d *Decoder) take(b *treePass, nodes []int) {
	var piece []tandem.Token
	for _, i := range nodes {
		piece = append(piece, b.tokens[i])
	}
	var logits [][]float32 // none if they were given back
	for _, context := range b.out {
		for _, i := range nodes {
			logits = append(logits, context[i])
		}
	}
	d.accept(piece, logits, true)
}

// outputAt returns the output after token i of the tree, which is not one of the answer's.
func (d *Decoder) outputAt(b *treePass, i int) (Output, error) {
	token, parent := b.tokens[i], b.parents[i]
	before, last, text := b.before, d.states[len(d.answer)-b.own], d.text[:d.states[len(d.answer)-b.own].end]
	answer := d.answer[:len(d.answer)-b.own]
	if parent >= 0 {
		before, last, text = b.at(parent), b.states[parent], b.texts[parent]
		var path []tandem.Token // from the answer to the parent
		j := parent
		for ; j >= b.own; j = b.parents[j] {
			path = append(path, b.tokens[j])
		}
		slices.Reverse(path)
		answer = slices.Concat(d.answer[:len(answer)+j+1], path)
	}
	tok := d.cfg.Model.Tokenizer()
	text = slices.Clip(text)
	if !tok.IsControl(token) {
		text = append(text, tok.Piece(token)...)
	}
	answer = append(slices.Clip(answer), token)
	var logp []float64
	if d.rel.weights.Likelihood {
		for _, l := range before {
			logp = append(logp, sample.LogProb(l, token))
		}
	}
	b.states[i] = d.following(last, text, len(answer), logp, func() []float64 { return d.verdicts(before) })
	b.texts[i] = text
	return d.output(b.at(i), b.states[i], answer)
}

// at returns each context's logits after token i.
func (b *treePass) at(i int) (logits [][]float32) {
	for _, context := range b.out {
		logits = append(logits, context[i])
	}
	return logits
}

// unknown reports whether t is not in the vocabulary.
func (d *Decoder) unknown(t tandem.Token) bool { return t < 0 || int(t) >= d.cfg.Model.Config().Vocab }
