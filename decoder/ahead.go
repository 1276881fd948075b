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

// NextAhead is Next, and decodes further contexts in the same pass: alternatives to the last token, and a chain of
// tokens behind it, drafts and then guesses. Each is what Next would give there, to the bit. Where a pass cannot
// take them (a long Append, a full context), or nothing is likely, there are fewer or none.
func (d *Decoder) NextAhead(ctx context.Context, p tandem.Pass) (out Output, also, chain []tandem.Further, err error) {
	began := time.Now()
	if err := d.edit(p.Keep, p.Append); err != nil {
		return Output{}, nil, nil, fmt.Errorf("decoder: %w", err)
	}
	d.learn()
	b := d.branches(p)
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
		out, err := d.branch(b, b.chain+i)
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
	out.Took, out.Fed, out.Length = time.Since(began), b.chain, d.length()
	return out, also, chain, nil
}

// branches is a pass over a draft tree: what the answer still lacks in the KV caches, then alternatives to its last
// token, then a chain of drafts and guesses behind it.
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
func (d *Decoder) branches(p tandem.Pass) *branches {
	also := slices.DeleteFunc(slices.Clone(p.Also), d.unknown)
	d.settleLogits()
	pending := d.answer[d.done:]
	behind := d.behind(p)
	n := len(pending) + len(also) + len(behind)
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
	for _, t := range behind {
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
	batch := make([]model.Input, len(d.rows))
	for i, r := range d.rows {
		batch[i] = model.Input{Seq: r.seq, Tokens: b.tokens, Parents: b.parents, All: true}
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

// unknown reports whether t is not in the vocabulary.
func (d *Decoder) unknown(t tandem.Token) bool { return t < 0 || int(t) >= d.cfg.Model.Config().Vocab }

// behind returns the chain that a pass takes behind the answer.
func (d *Decoder) behind(p tandem.Pass) []tandem.Token {
	room := max(0, d.Room()-len(d.answer))
	drafts := p.Drafts[:min(len(p.Drafts), room)]
	if i := slices.IndexFunc(drafts, d.unknown); i >= 0 {
		return drafts[:i]
	}
	return slices.Concat(drafts, d.guess(drafts, min(p.Guess, room-len(drafts))))
}

const (
	longestMatch = 8   // of the answer's last tokens, most that are looked for elsewhere
	leastChance  = 0.1 // that a guess is right, to be worth a place in a pass
	between      = -1  // stands between two texts, and is no token
)

// guess returns up to n tokens that followed the last ones of answer and drafts in the prompts or in the answer
// itself (specdec.Lookup): as far as the chance that all of them are right is large enough. It hangs on how long the
// match is, and on how often guesses behind such matches were right so far.
func (d *Decoder) guess(drafts []tandem.Token, n int) (out []tandem.Token) {
	if n <= 0 {
		return nil
	}
	lookup, tree := specdec.Lookup{Most: longestMatch, Length: n}, specdec.NewTree(n, &d.rate)
	for _, text := range d.texts {
		lookup.Committed(text)
		lookup.Committed([]tandem.Token{between})
	}
	lookup.Committed(d.answer)
	lookup.Committed(drafts)
	lookup.Propose(tree)
	d.guessed, d.guessedAt = tree, slices.Concat(d.answer, drafts)
	for _, node := range tree.Nodes {
		// A prompt's control tokens are nothing to say.
		if node.P < leastChance || node.Token == between || d.cfg.Model.Tokenizer().IsControl(node.Token) {
			break
		}
		out = append(out, node.Token)
	}
	return out
}

// learn checks the last guesses, in a pass or not, against the answer as it is now.
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
