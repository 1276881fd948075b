package spec

import (
	"context"
	"fmt"
	"math"

	"tandem"
	"tandem/dllm"
	"tandem/model"
	"tandem/specdec"
)

// blockDrafts drafts with a diffusion model of the same vocabulary: one pass fills the rest of the answer's block of 32 at once,
// and its likeliest tokens are the draft, up to where their probabilities together are below minBlock.
type blockDrafts struct {
	m      *model.Model
	seq    *model.Seq
	prompt []tandem.Token
	answer []tandem.Token
	logits model.Logits
	err    error // of the last pass; no drafts come after it
}

// minBlock is the smallest product of the probabilities of a draft's tokens.
const minBlock = .1

// Committed implements specdec.Drafter.
func (b *blockDrafts) Committed(tokens []tandem.Token) {
	if b.prompt == nil {
		b.prompt, b.seq = append([]tandem.Token(nil), tokens...), b.m.NewSeq()
		return
	}
	b.answer = append(b.answer, tokens...)
}

// Rewind implements specdec.Drafter.
func (b *blockDrafts) Rewind(n int) {
	b.answer = b.answer[:max(0, min(len(b.answer), n-len(b.prompt)))]
}

// Settle implements specdec.Drafter.
func (b *blockDrafts) Settle(*specdec.Verdict) {}

// Propose implements specdec.Drafter. The rows of a prompt and of whole blocks are computed once.
func (b *blockDrafts) Propose(t *specdec.Tree) {
	c := b.m.Config()
	n := len(b.answer)
	block := n / dllm.DefaultBlock * dllm.DefaultBlock
	end := min(block+dllm.DefaultBlock, c.Context-len(b.prompt))
	if b.err != nil || end <= n {
		return
	}
	logits, err := b.m.Denoise(context.Background(), b.seq, b.rows(block, end), &b.logits)
	if err != nil {
		b.err = fmt.Errorf("draft a block: %w", err)
		return
	}
	b.seq.Truncate(len(b.prompt) + block) // what is masked or not whole is computed again
	parent, p := -1, 1.0
	for _, l := range logits {
		l[c.Mask] = float32(math.Inf(-1))
		token, confidence := likeliestOf(l)
		if p *= confidence; p < minBlock || b.m.Tokenizer().EOG(token) && parent < 0 {
			return
		}
		if parent = t.Add(parent, token, confidence, specdec.ClassOf(specdec.FromForecast, 1)); parent < 0 {
			return
		}
	}
}

// rows are those that the sequence does not hold yet, and the answer's last block with masks up to end.
func (b *blockDrafts) rows(block, end int) (rows []model.DenoiseRow) {
	c, total := b.m.Config(), len(b.prompt)+end
	first := len(b.prompt) + len(b.answer) // the first whose token is guessed
	from := min(b.seq.Len(), len(b.prompt)+block)
	if c.Shifted {
		first--
		from = min(from, first)
	}
	for i := from; i < total; i++ {
		r := model.DenoiseRow{Position: i, Token: c.Mask, Logits: i >= first}
		switch at := i - len(b.prompt); {
		case at < 0:
			r.Token, r.Sees = b.prompt[i], len(b.prompt)
			if c.CausalPrompt {
				r.Sees = i + 1
			}
		default:
			if at < len(b.answer) {
				r.Token = b.answer[at]
			}
			r.Sees = len(b.prompt) + min(at/dllm.DefaultBlock*dllm.DefaultBlock+dllm.DefaultBlock, end)
		}
		rows = append(rows, r)
	}
	if c.Shifted {
		rows[len(rows)-1].Logits = false // it guesses what is beyond the block
	}
	return rows
}

// likeliestOf returns the token of the largest logit and its probability.
func likeliestOf(logits []float32) (token tandem.Token, p float64) {
	best := 0
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l - logits[best]))
	}
	return tandem.Token(best), 1 / sum
}
