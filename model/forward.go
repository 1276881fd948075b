package model

import (
	"context"
	"fmt"
	"slices"

	"tandem"
	"tandem/npu"
)

// Input is what one Forward does to one sequence: it appends Tokens and gives the logits after the last of
// them, or after each of them. With Parents, the tokens are a tree, of which Keep appends a path.
type Input struct {
	Seq    *Seq
	Tokens []tandem.Token
	All    bool // logits after every token, not only the last

	// Parents makes Tokens a tree of at most npu.MaxTree nodes: for each, the index of the one before it, or
	// -1 behind the sequence's end. The sequence does not grow until Keep says which path becomes part of
	// it; the next other call on it forgets the tree.
	Parents []int
	// Near, if not nil, is told after every token what Among scores, in order: see Among.
	Near  func(i int, scores []float32)
	Among *Among
}

// Forward appends each row's tokens to its sequence and returns the wanted logits, Vocab numbers each:
// rows in order, positions in order. They are fresh slices of one array, the caller's to keep; asking for
// All positions of a long row takes 4·Vocab bytes for each.
//
// The logits of a row are the same bits whatever other rows come with it, however its tokens are divided
// among calls, and on however many threads; where Rounding is not empty, up to rounding. Plain decoding is
// a batch of one row with one token.
//
// ctx is looked at before every layer, or every few where the device computes several at once (see
// npu.Traits). On an error, ctx's included, all sequences are as before. Several goroutines may call
// Forward at once with different sequences.
func (m *Model) Forward(ctx context.Context, rows []Input) ([][]float32, error) {
	var fresh Logits
	return m.ForwardInto(ctx, rows, &fresh)
}

// Logits is memory for the logits of one pass after another. The zero value is ready for use.
type Logits struct {
	all  []float32
	rows [][]float32
}

// take returns n logits of vocab numbers each, whatever they hold.
func (l *Logits) take(n, vocab int) [][]float32 {
	if cap(l.all) < n*vocab {
		l.all = make([]float32, n*vocab)
	}
	l.all = l.all[:n*vocab]
	l.rows = slices.Grow(l.rows[:0], n)[:n]
	for i := range l.rows {
		l.rows[i] = l.all[i*vocab : (i+1)*vocab : (i+1)*vocab]
	}
	return l.rows
}

// ForwardInto is Forward with the logits in memory that the caller lends: what it returns stays as it is until
// the next call with the same memory, failed ones included.
func (m *Model) ForwardInto(ctx context.Context, rows []Input, into *Logits) ([][]float32, error) {
	return m.forward(ctx, rows, into, false)
}

// forward is ForwardInto, or Prefill if decoding follows.
func (m *Model) forward(ctx context.Context, rows []Input, into *Logits, decoding bool) ([][]float32, error) {
	logits, tokens, err := m.checkRows(rows)
	if err != nil || tokens == 0 {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, r := range rows {
		r.Seq.drop()
		r.Seq.extend(len(r.Tokens))
	}
	out := into.take(logits, m.config.Vocab)
	schedule, err := m.schedule(ctx, rows, tokens, decoding)
	if err == nil {
		err = m.compute(ctx, rows, into.all, tokens, schedule)
	}
	for _, r := range rows {
		switch {
		case err != nil:
			r.Seq.cut(r.Seq.n)
		case r.Parents != nil:
			r.Seq.tree = append(r.Seq.tree[:0], r.Parents...)
		default:
			r.Seq.n += len(r.Tokens)
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkRows returns how many logits are wanted and how many tokens there are.
func (m *Model) checkRows(rows []Input) (logits, tokens int, err error) {
	for i, r := range rows {
		if r.Seq == nil || r.Seq.m != m {
			return 0, 0, fmt.Errorf("row %d: its sequence is not one of this model", i)
		}
		r.Seq.row = i
	}
	for i, r := range rows {
		if r.Seq.row != i {
			return 0, 0, fmt.Errorf("rows %d and %d append to the same sequence: fork it", i, r.Seq.row)
		}
		if len(r.Tokens) == 0 {
			return 0, 0, fmt.Errorf("row %d: no tokens", i)
		}
		if r.Seq.n+len(r.Tokens) > m.config.Context {
			return 0, 0, &ContextError{Have: r.Seq.n, Add: len(r.Tokens), Limit: m.config.Context}
		}
		for _, t := range r.Tokens {
			if t < 0 || int(t) >= m.config.Vocab {
				return 0, 0, fmt.Errorf("row %d: token %d is outside the vocabulary of %d", i, t, m.config.Vocab)
			}
		}
		if err := r.checkTree(); err != nil {
			return 0, 0, fmt.Errorf("row %d: %w", i, err)
		}
		tokens += len(r.Tokens)
		if logits++; r.All {
			logits += len(r.Tokens) - 1
		}
	}
	return logits, tokens, nil
}

// ContextError says that a sequence would outgrow the model's context.
type ContextError struct{ Have, Add, Limit int }

func (e *ContextError) Error() string {
	return fmt.Sprintf("%d positions and %d more exceed the model's context of %d: shorten the input", e.Have, e.Add, e.Limit)
}

// space is the working memory of one Forward.
type space struct {
	tokens, positions []int32
	kv                []*npu.KV
	wanted            []bool        // whether a row's logits are
	near              []near        // who is told scores after which tokens
	masks             []npu.RowMask // used if one of the rows is a tree's
	trees             bool
	x                 []float32 // residual stream [chunk × Dim]
}

// compute packs the tokens of all rows into chunks, runs each chunk through all blocks and writes the wanted
// logits [their number × Vocab]. A sequence's tokens stay in order, so that keys and values are there before
// anyone attends to them.
func (m *Model) compute(ctx context.Context, rows []Input, logits []float32, tokens int, schedule npu.Schedule) error {
	sp := m.spaces.Get().(*space)
	defer m.spaces.Put(sp)
	defer func() { clear(sp.kv[:cap(sp.kv)]); clear(sp.near[:cap(sp.near)]) }() // let go of the caches
	row, at := 0, 0                                                             // the next token
	var ancestors [npu.MaxTree]uint64                                           // of the nodes of the tree at hand
	for tokens > 0 {
		p := schedule.Next(tokens)
		n := min(tokens, p.Chunk)
		tokens -= n
		sp.reset()
		for range n {
			r := &rows[row]
			sp.tokens = append(sp.tokens, int32(r.Tokens[at]))
			sp.place(r, at, &ancestors)
			sp.kv = append(sp.kv, &r.Seq.kv)
			last := at == len(r.Tokens)-1
			sp.wanted = append(sp.wanted, r.All || last)
			sp.near = append(sp.near, near{r, at})
			if at++; last {
				row, at = row+1, 0
			}
		}
		k, err := m.chunk(ctx, p, sp, logits, schedule)
		if err != nil {
			return err
		}
		logits = logits[k*m.config.Vocab:]
	}
	return schedule.End(ctx)
}

// onlyLogits reports whether all rows want their logits, and nobody what comes before them.
func (sp *space) onlyLogits() bool {
	return !slices.Contains(sp.wanted, false) && !slices.ContainsFunc(sp.near, func(n near) bool { return n.row.Near != nil })
}

func (sp *space) reset() {
	sp.tokens, sp.positions, sp.kv, sp.wanted = sp.tokens[:0], sp.positions[:0], sp.kv[:0], sp.wanted[:0]
	sp.masks, sp.trees, sp.near = sp.masks[:0], false, sp.near[:0]
}

// chunk runs one chunk through all blocks, writes the wanted logits and returns how many they are.
func (m *Model) chunk(ctx context.Context, p *npu.Programs, sp *space, logits []float32, schedule npu.Schedule) (int, error) {
	n, dim := len(sp.tokens), m.config.Dim
	if cap(sp.x) < n*dim {
		sp.x = make([]float32, p.Chunk*dim)
	}
	x := sp.x[:n*dim]
	if err := p.Embed.Run(npu.Args{Rows: n, Tokens: sp.tokens, Positions: sp.positions, Out: x}); err != nil {
		return 0, err
	}
	masks := sp.masks
	if !sp.trees {
		masks = nil
	}
	if p.Whole != nil && sp.onlyLogits() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return n, p.Whole.Run(npu.Args{Rows: n, X: x, Positions: sp.positions, KV: sp.kv, Masks: masks, Out: logits[:n*m.config.Vocab]})
	}
	for _, l := range p.Layers {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a := npu.Args{Rows: n, X: x, Positions: sp.positions, KV: sp.kv, Masks: masks, Out: x}
		if err := l.Run(a); err != nil {
			return 0, err
		}
	}
	if err := sp.tell(x, dim); err != nil {
		return 0, err
	}
	k := 0
	for i, w := range sp.wanted {
		if w {
			copy(x[k*dim:][:dim], x[i*dim:][:dim])
			k++
		}
	}
	if k == 0 {
		return 0, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return k, schedule.Head(k).Run(npu.Args{Rows: k, X: x, Out: logits[:k*m.config.Vocab]})
}
