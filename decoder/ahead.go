package decoder

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/model"
	"tandem/npu"
)

// Further is a distribution that a pass gave beside the one it was asked for.
type Further struct {
	Token  tandem.Token // the last of its context
	Output Output
}

// NextAhead is Next, and decodes further contexts in the same pass: those that end in a token of also in place of
// app's last, and behind app up to guess tokens that the answer and the prompts make likely, one behind the other.
// Each Output is what Next would give there, to the bit. Where a pass cannot take them (a long app, a full context),
// or nothing is likely, there are fewer or none.
func (d *Decoder) NextAhead(ctx context.Context, keep int, app, also []tandem.Token, guess int) (out Output, alternatives, guessed []Further, err error) {
	began := time.Now()
	if err := d.edit(keep, app); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	b := d.branches(also, guess)
	if b == nil {
		out, err := d.Next(ctx, len(d.answer), nil)
		out.Took = time.Since(began)
		return out, nil, nil, err
	}
	if err := d.grow(ctx, b); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	if out, err = d.output(d.logits, d.moments[len(d.moments)-1], d.answer); err != nil {
		return Output{}, nil, nil, err
	}
	for i, t := range b.tokens[b.chain:] {
		further, err := d.branch(b, b.chain+i)
		if err != nil {
			return Output{}, nil, nil, err
		}
		if i < len(b.also) {
			alternatives = append(alternatives, Further{t, further})
		} else {
			guessed = append(guessed, Further{t, further})
		}
	}
	out.Took, out.Fed, out.Length = time.Since(began), b.chain, d.length()
	return out, alternatives, guessed, nil
}

// branches is a pass over a draft tree: what the answer still lacks in the KV caches, then alternatives to its last
// token, then a chain of guesses behind it.
type branches struct {
	tokens  []tandem.Token
	parents []int
	chain   int // tokens of the answer among them
	also    []tandem.Token
	before  [][]float32   // each row's logits before the tree
	out     [][][]float32 // each row's logits behind each token
	moments []moment      // behind each token
	texts   [][]byte
}

// branches plans a pass; nil when there is nothing beside the answer, or no place for it.
func (d *Decoder) branches(also []tandem.Token, guess int) *branches {
	vocab := tandem.Token(d.cfg.Model.Config().Vocab)
	also = slices.DeleteFunc(slices.Clone(also), func(t tandem.Token) bool { return t < 0 || t >= vocab })
	d.settleLogits()
	pending := d.answer[d.done:]
	guesses := d.guess(min(guess, d.Room()-len(d.answer)))
	n := len(pending) + len(also) + len(guesses)
	if len(pending) == 0 || n == len(pending) || len(pending) > scoredAtOnce || n > npu.MaxTree {
		return nil
	}
	for _, r := range d.rows {
		if r.seq.Len()+n > d.cfg.Model.Config().Context {
			return nil
		}
	}
	b := &branches{chain: len(pending), also: also, before: d.logits}
	for i, t := range pending {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, i-1)
	}
	for _, t := range also {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, b.chain-2)
	}
	last := b.chain - 1
	for _, t := range guesses {
		b.tokens, b.parents = append(b.tokens, t), append(b.parents, last)
		last = len(b.tokens) - 1
	}
	return b
}

// settleLogits rolls the KV caches back so far that the logits before every token still to be computed are known
// where the weights need them, as advance does.
func (d *Decoder) settleLogits() {
	need := len(d.answer)
	if d.rel.weights.Likelihood || d.rel.speaks {
		need = min(need, len(d.moments)-1)
	}
	if d.logits == nil || d.done != need {
		if back := min(d.done, need-1); back >= 0 && back < d.done {
			d.truncate(back)
		}
	}
}

// grow computes the tree in every row and keeps the answer's part of it.
func (d *Decoder) grow(ctx context.Context, b *branches) error {
	batch := make([]model.Row, len(d.rows))
	for i, r := range d.rows {
		batch[i] = model.Row{Seq: r.seq, Tokens: b.tokens, Parents: b.parents, All: true}
	}
	out, err := d.forward(ctx, batch)
	if err != nil {
		return err
	}
	path, n := make([]int, b.chain), len(b.tokens)
	for i := range path {
		path[i] = i
	}
	var kept [][]float32
	for i, r := range d.rows {
		if err := r.seq.Keep(path...); err != nil {
			return err
		}
		b.out = append(b.out, out[i*n:][:n])
		kept = append(kept, out[i*n:][:b.chain]...)
	}
	from := d.done
	d.accept(d.answer[d.done:], kept, true)
	b.moments, b.texts = make([]moment, n), make([][]byte, n)
	for i := range b.chain {
		b.moments[i] = d.moments[from+i+1]
		b.texts[i] = d.text[:b.moments[i].end]
	}
	return nil
}

// branch is the output behind token i of the tree, which is not the answer's.
func (d *Decoder) branch(b *branches, i int) (Output, error) {
	token, parent := b.tokens[i], b.parents[i]
	before, moment, text := b.before, d.moments[len(d.answer)-b.chain], d.text[:d.moments[len(d.answer)-b.chain].end]
	answer := d.answer[:len(d.answer)-b.chain]
	if parent >= 0 {
		before, moment, text = b.at(parent), b.moments[parent], b.texts[parent]
		if parent < b.chain {
			answer = d.answer[:len(d.answer)-b.chain+parent+1]
		} else {
			answer = slices.Concat(d.answer, b.tokens[b.chain+len(b.also):parent+1])
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
	b.moments[i] = d.rel.next(moment, text, len(answer), logp, func() []float64 { return d.support(before) })
	b.texts[i] = text
	return d.output(b.at(i), b.moments[i], answer)
}

// at returns each row's logits behind token i.
func (b *branches) at(i int) (logits [][]float32) {
	for _, row := range b.out {
		logits = append(logits, row[i])
	}
	return logits
}

// leastMatch is how many of the answer's last tokens must stand somewhere before for a guess.
const leastMatch = 2

// guess returns up to n tokens that followed the answer's last ones in the prompts or in the answer itself, where
// the most of them agree, the latest.
func (d *Decoder) guess(n int) []tandem.Token {
	if n <= 0 || len(d.answer) < leastMatch {
		return nil
	}
	var best []tandem.Token
	most := leastMatch - 1
	for _, text := range append(slices.Clone(d.texts), d.answer) {
		for end := len(text) - 1; end >= leastMatch; end-- { // text[end] is what would follow
			match := 0
			for match < 8 && match < end && match < len(d.answer) && text[end-1-match] == d.answer[len(d.answer)-1-match] {
				match++
			}
			if match > most {
				best, most = text[end:min(end+n, len(text))], match
			}
		}
	}
	for i, t := range best { // a prompt's control tokens are nothing to say
		if d.cfg.Model.Tokenizer().IsControl(t) {
			return slices.Clone(best[:i])
		}
	}
	return slices.Clone(best)
}
