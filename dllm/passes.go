package dllm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tandem"
	"tandem/model"
)

// Passes computes the distribution of the next token with a diffusion model, as a side of a pair needs it. The answer is
// divided into blocks of DefaultBlock positions, counted from the end of the prompt. The distribution after an answer is the
// model's distribution for the first masked position of the answer's last block, in which the tokens so far are given and the
// rest is masked. Whole blocks before it are a prefix, computed from their own tokens and what comes before them alone
// (semi-autoregressive decoding, LLaDA, Nie et al. 2025, §2.4, with one token a pass). So it depends on nothing but prompt and
// answer: neither on how the tokens came, in one call or in several, nor on what was rolled back.
//
// A Passes serves one answer, with the sequences that its Prefill has filled. The caller may truncate these sequences but
// must not change them otherwise. A Passes is not safe for concurrent use.
type Passes struct {
	m      *model.Model
	texts  map[*model.Seq]*text
	rows   []model.DenoiseRow
	logits model.Logits
}

// text is what a context holds.
type text struct {
	prompt []tandem.Token
	answer []tandem.Token
	prefix int // tokens of the answer in blocks whose keys and values are final
}

// NewPasses returns passes for one answer of a diffusion model.
func NewPasses(m *model.Model) *Passes {
	return &Passes{m: m, texts: map[*model.Seq]*text{}}
}

// Prefill reads each input's tokens as a prompt into its empty sequence, and returns what follows each: Vocab logits
// for each input.
func (p *Passes) Prefill(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	for _, in := range inputs {
		if in.Seq.Len() > 0 || len(in.Tokens) == 0 {
			return nil, errors.New("denoise: a prompt must be read whole, into an empty sequence: what it means may depend on what follows")
		}
		p.texts[in.Seq] = &text{prompt: slices.Clone(in.Tokens)}
	}
	out := into.Take(len(inputs), p.m.Config().Vocab)
	for i, in := range inputs {
		if err := p.next(ctx, in.Seq, p.texts[in.Seq], out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ForwardInto appends the inputs' tokens to the answers in their sequences, which Prefill has begun, and returns what
// follows: the logits after each input's last token or, with All, after each.
func (p *Passes) ForwardInto(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	n := 0
	for _, in := range inputs {
		t := p.texts[in.Seq]
		switch {
		case t == nil:
			return nil, errors.New("denoise: the sequence has no prompt")
		case in.Parents != nil || in.Embeds != nil:
			return nil, errors.New("denoise: a diffusion model computes neither draft trees nor embeddings")
		case len(in.Tokens) == 0:
			return nil, errors.New("denoise: no tokens to append")
		}
		t.keep(in.Seq.Len() - len(t.prompt))
		if n++; in.All {
			n += len(in.Tokens) - 1
		}
	}
	out := into.Take(n, p.m.Config().Vocab)
	if err := p.forward(ctx, inputs, out); err != nil {
		return nil, err
	}
	return out, nil
}

// forward computes the inputs one after the other. On an error all sequences hold what they held before.
func (p *Passes) forward(ctx context.Context, inputs []model.Input, out [][]float32) (err error) {
	for _, in := range inputs {
		t, before := p.texts[in.Seq], in.Seq.Len()
		defer func() {
			if err != nil {
				in.Seq.Truncate(before)
				t.keep(before - len(t.prompt))
			}
		}()
		for i, token := range in.Tokens {
			t.answer = append(t.answer, token)
			if !in.All && i+1 < len(in.Tokens) {
				continue
			}
			if err := p.next(ctx, in.Seq, t, out[0]); err != nil {
				return err
			}
			out = out[1:]
		}
	}
	return nil
}

// keep records that the sequence holds only the answer's first n tokens.
func (t *text) keep(n int) {
	t.answer = t.answer[:min(max(n, 0), len(t.answer))]
	t.prefix = min(t.prefix, len(t.answer)/DefaultBlock*DefaultBlock)
}

// next computes what follows an answer, and leaves the prompt and the answer in the sequence.
func (p *Passes) next(ctx context.Context, seq *model.Seq, t *text, out []float32) error {
	c := p.m.Config()
	room := c.Context - len(t.prompt)
	if len(t.answer) >= room {
		return fmt.Errorf("denoise: a prompt of %d tokens and an answer of %d leave no room in the model's context of %d", len(t.prompt), len(t.answer), c.Context)
	}
	rows, err := p.m.Denoise(ctx, seq, p.passRows(t, room, seq.Len() == 0), &p.logits)
	if err != nil {
		return fmt.Errorf("denoise: %w", err)
	}
	t.prefix = len(t.answer) / DefaultBlock * DefaultBlock
	seq.Truncate(len(t.prompt) + len(t.answer))
	copy(out, rows[0])
	out[c.Mask] = float32(math.Inf(-1)) // never text
	return nil
}

// passRows returns the rows of a pass: the prompt, if it is not there yet, the answer from its first block that is not final, and
// the masks after it up to the end of its block.
func (p *Passes) passRows(t *text, room int, prompt bool) []model.DenoiseRow {
	c := p.m.Config()
	from, end := t.prefix, min(blockEnd(len(t.answer)), room)
	asked := len(t.answer) // the row that guesses
	if c.Shifted {
		asked-- // the row before, which sees the prefix alone if a block begins here
		if len(t.answer)%DefaultBlock == 0 {
			end = len(t.answer)
		}
	}
	rows := p.rows[:0]
	if prompt {
		for i, token := range t.prompt {
			rows = append(rows, model.DenoiseRow{Position: i, Token: token, Sees: len(t.prompt)})
			if c.CausalPrompt {
				rows[i].Sees = i + 1
			}
		}
	} else if from = min(from, asked); from < 0 { // the prompt's last token, again
		last := len(t.prompt) - 1
		rows = append(rows, model.DenoiseRow{Position: last, Token: t.prompt[last], Sees: last + 1})
		from = 0
	}
	for i := from; i < end; i++ {
		token := c.Mask
		if i < len(t.answer) {
			token = t.answer[i]
		}
		rows = append(rows, model.DenoiseRow{Position: len(t.prompt) + i, Token: token, Sees: len(t.prompt) + min(blockEnd(i), room)})
	}
	for i := range rows {
		rows[i].Logits = rows[i].Position == len(t.prompt)+asked
	}
	p.rows = rows
	return rows
}

// blockEnd returns the end of the block of a position of the answer.
func blockEnd(i int) int { return (i/DefaultBlock + 1) * DefaultBlock }
