package decoder

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/model"
	"tandem/npu"
	"tandem/specdec"
)

// NextAhead is Next, and also decodes after other answers in the same pass: the answer with another last token (p.Also), and
// the answer continued by drafts and then by guesses (chain). Each result equals that of Next to the bit. There are fewer
// results, or none, if a pass cannot hold them (a long p.Append, a full context) or if no guess is likely.
func (d *Decoder) NextAhead(ctx context.Context, p tandem.Pass) (out Output, also, chain []tandem.Further, err error) {
	began := time.Now()
	if err := d.edit(p.Keep, p.Append); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	d.learn()
	b := d.planTree(p)
	if b == nil {
		out, err := d.Next(ctx, len(d.answer), nil)
		out.Took = time.Since(began)
		return out, nil, nil, err
	}
	if err := d.runTree(ctx, b); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	if out, err = d.output(d.logits, d.states[len(d.states)-1], d.answer); err != nil {
		return Output{}, nil, nil, err
	}
	for i, t := range b.tokens[b.own:] {
		out, err := d.outputAt(b, b.own+i)
		if err != nil {
			return Output{}, nil, nil, err
		}
		further := tandem.Further{Token: t, Dist: out.Dist, H: out.H}
		if i < len(b.also) {
			also = append(also, further)
		} else {
			chain = append(chain, further)
		}
	}
	out.Took, out.Fed, out.Length = time.Since(began), b.own, d.length()
	return out, also, chain, nil
}

// treePass is a pass over a draft tree: the answer's tokens that are not yet in the KV caches, then alternatives to the last
// of them, then a chain of drafts and guesses after it.
type treePass struct {
	tokens  []tandem.Token
	parents []int
	own     int // how many of the tokens are the answer's
	also    []tandem.Token
	before  [][]float32   // each context's logits before the tree
	out     [][][]float32 // each context's logits after each token
	states  []state       // after each token
	texts   [][]byte      // the answer's text after each token
}

// planTree plans a pass. It returns nil if there is nothing to decode but the answer, or no place for it.
func (d *Decoder) planTree(p tandem.Pass) *treePass {
	also := slices.DeleteFunc(slices.Clone(p.Also), d.unknown)
	d.rewind()
	pending := d.answer[d.done:]
	if len(pending) == 1 && d.logits == nil && d.needsAll() {
		also = nil // the weights need the logits before the last token, and a rollback has dropped them
	}
	chain := d.chainAfter(p)
	n := len(pending) + len(also) + len(chain)
	if len(pending) == 0 || n == len(pending) || len(pending) > scoredAtOnce || n > npu.MaxTree {
		return nil
	}
	for _, c := range d.contexts {
		if c.seq.Len()+n > d.cfg.Model.Config().Context {
			return nil
		}
	}
	b := &treePass{own: len(pending), also: also, before: d.logits}
	for i, t := range pending {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, i-1)
	}
	for _, t := range also {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, b.own-2)
	}
	last := b.own - 1
	for _, t := range chain {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, last)
		last = len(b.tokens) - 1
	}
	return b
}

// runTree computes the tree in every context and keeps the answer's part of it.
func (d *Decoder) runTree(ctx context.Context, b *treePass) error {
	batch := make([]model.Input, len(d.contexts))
	for i, c := range d.contexts {
		batch[i] = model.Input{Seq: c.seq, Tokens: b.tokens, Parents: b.parents, All: true}
	}
	out, err := d.forward(ctx, batch)
	if err != nil {
		return err
	}
	path, n := make([]int, b.own), len(b.tokens)
	for i := range path {
		path[i] = i
	}
	var kept [][]float32
	for i, c := range d.contexts {
		if err := c.seq.Keep(path...); err != nil {
			return err
		}
		b.out = append(b.out, out[i*n:][:n])
		kept = append(kept, out[i*n:][:b.own]...)
	}
	from := d.done
	d.accept(d.answer[d.done:], kept, true)
	b.states, b.texts = make([]state, n), make([][]byte, n)
	for i := range b.own {
		b.states[i] = d.states[from+i+1]
		b.texts[i] = d.text[:b.states[i].end]
	}
	return nil
}

// outputAt returns the output after token i of the tree, which is not one of the answer's.
func (d *Decoder) outputAt(b *treePass, i int) (Output, error) {
	token, parent := b.tokens[i], b.parents[i]
	before, last, text := b.before, d.states[len(d.answer)-b.own], d.text[:d.states[len(d.answer)-b.own].end]
	answer := d.answer[:len(d.answer)-b.own]
	if parent >= 0 {
		before, last, text = b.at(parent), b.states[parent], b.texts[parent]
		if parent < b.own {
			answer = d.answer[:len(d.answer)-b.own+parent+1]
		} else {
			answer = slices.Concat(d.answer, b.tokens[b.own+len(b.also):parent+1])
		}
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
			logp = append(logp, logProbability(l, token))
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

// chainAfter returns the drafts and guesses that a pass decodes after the answer.
func (d *Decoder) chainAfter(p tandem.Pass) []tandem.Token {
	room := max(0, d.Room()-len(d.answer))
	drafts := p.Drafts[:min(len(p.Drafts), room)]
	if i := slices.IndexFunc(drafts, d.unknown); i >= 0 {
		return drafts[:i]
	}
	return slices.Concat(drafts, d.guess(drafts, min(p.Guess, room-len(drafts))))
}

const (
	longestMatch = 8   // greatest number of last tokens to look up
	leastChance  = 0.1 // least probability of a guess that is worth decoding
	separator    = -1  // separates texts; it is not a token
)

// guess returns up to n tokens that follow the last tokens of answer and drafts elsewhere in the prompts or in the answer
// (specdec.Lookup). It stops where the probability that all guesses are right becomes too small. The probability depends
// on the length of the match, and on how often guesses after such matches were right so far.
func (d *Decoder) guess(drafts []tandem.Token, n int) (out []tandem.Token) {
	if n <= 0 {
		return nil
	}
	lookup, tree := specdec.Lookup{Most: longestMatch, Length: n}, specdec.NewTree(n, &d.rate)
	for _, text := range d.texts {
		lookup.Committed(text)
		lookup.Committed([]tandem.Token{separator})
	}
	lookup.Committed(d.answer)
	lookup.Committed(drafts)
	lookup.Propose(tree)
	d.guessed, d.guessedAt = tree, slices.Concat(d.answer, drafts)
	for _, node := range tree.Nodes {
		// An answer does not hold the control tokens of a prompt.
		if node.P < leastChance || node.Token == separator || d.cfg.Model.Tokenizer().IsControl(node.Token) {
			break
		}
		out = append(out, node.Token)
	}
	return out
}

// learn compares the last guesses with the answer.
func (d *Decoder) learn() {
	at := len(d.guessedAt)
	if d.guessed == nil || len(d.answer) <= at {
		return
	}
	if slices.Equal(d.answer[:at], d.guessedAt) {
		d.rate.Learn(d.guessed, d.answer[at:])
	}
	d.guessed = nil
}
