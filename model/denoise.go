package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tandem"
	"tandem/npu"
)

// A DenoiseRow is a row of a block that is being denoised (llada.cpp §2.1). Its token may change, and it attends to rows
// before and after it.
type DenoiseRow struct {
	Position int // its slot, too: below Seq.Len the row is computed again in place
	Token    tandem.Token
	Sees     int  // the row attends to the slots below, its own included
	Logits   bool // whether its logits are requested
}

// Denoise computes rows of a sequence, in ascending order of their positions, and returns the requested logits, in
// that order. All rows write their keys and values before any attends. Rows from seq.Len() on leave no gap; the sequence
// grows by them. The keys and values of other positions stay as they are.
//
// A row's logits and what it writes depend only on its token, position, and the slots that it sees: they are the same bit
// for bit whatever other rows are in the pass, for any number of threads, and however rows are divided into chunks.
//
// On an error the sequence has its old length, but the rows' own slots may have changed.
func (m *Model) Denoise(ctx context.Context, seq *Seq, rows []DenoiseRow, into *Logits) ([][]float32, error) {
	end, logitRows, err := m.checkDenoise(seq, rows)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	seq.dropTree()
	before := seq.n
	if end > before {
		seq.extend(end - before)
	}
	for i := range rows {
		if !seq.writable(rows[i].Position) {
			seq.cut(before)
			return nil, fmt.Errorf("row %d: position %d is shared with a fork: copy the positions to a new sequence (Grow, CopyFrom) and denoise that", i, rows[i].Position)
		}
	}
	out := into.Take(logitRows, m.config.Vocab)
	err = m.denoise(ctx, seq, rows, into.numbers)
	if err == nil {
		err = m.checkNumbers(into.numbers)
	}
	if err != nil {
		seq.cut(before)
		return nil, err
	}
	seq.n = max(before, end)
	return out, nil
}

// checkDenoise returns the end of the rows and the number of those that want logits.
func (m *Model) checkDenoise(seq *Seq, rows []DenoiseRow) (end, logitRows int, err error) {
	switch {
	case !m.config.Diffusion:
		return 0, 0, fmt.Errorf("%s is not a diffusion model: generate with Forward", m.config.Arch)
	case seq == nil || seq.m != m:
		return 0, 0, errors.New("the sequence belongs to another model")
	case seq.adapter != nil:
		return 0, 0, errors.New("the sequence has an adapter: diffusion models are not adapted")
	case len(rows) == 0:
		return 0, 0, errors.New("no rows")
	}
	if end = rows[len(rows)-1].Position + 1; end > m.config.Context {
		return 0, 0, &ContextError{Have: seq.n, Add: end - seq.n, Limit: m.config.Context}
	}
	next := 0 // the lowest position that may come
	for i, r := range rows {
		switch {
		case r.Position < next || r.Position > max(next, seq.n) || i > 0 && r.Position > seq.n && r.Position != next:
			return 0, 0, fmt.Errorf("row %d has position %d: positions must ascend, and those after the %d of the sequence without a gap", i, r.Position, seq.n)
		case r.Sees <= r.Position || r.Sees > max(end, seq.n):
			return 0, 0, fmt.Errorf("row %d at position %d sees %d slots: want %d to %d", i, r.Position, r.Sees, r.Position+1, max(end, seq.n))
		case r.Token < 0 || int(r.Token) >= m.config.Vocab:
			return 0, 0, fmt.Errorf("row %d: token %d is outside the vocabulary of %d", i, r.Token, m.config.Vocab)
		}
		if next = r.Position + 1; r.Logits {
			logitRows++
		}
	}
	return end, logitRows, nil
}

// A denoisePiece is a chunk of a pass.
type denoisePiece struct {
	programs *npu.Programs
	args     npu.Args
}

// denoise runs the rows through all blocks and writes the logits [their number × Vocab]. If they need several chunks,
// each block is run twice on all but the last: a first time for the keys and values alone, so that the others see them.
func (m *Model) denoise(ctx context.Context, seq *Seq, rows []DenoiseRow, logits []float32) error {
	schedule, err := m.scheduleBidirectional(ctx, seq, len(rows))
	if err != nil {
		return err
	}
	x, err := m.bidirectionalLayers(ctx, seq, rows, schedule)
	if err != nil {
		return err
	}
	if err := m.denoiseLogits(ctx, schedule, rows, x, logits); err != nil {
		return err
	}
	return schedule.End(ctx)
}

// bidirectionalLayers runs the rows through all layers and returns the residual stream [rows × Dim].
func (m *Model) bidirectionalLayers(ctx context.Context, seq *Seq, rows []DenoiseRow, schedule npu.Schedule) ([]float32, error) {
	dim := m.config.Dim
	x, scratch := make([]float32, len(rows)*dim), []float32(nil)
	var pieces []denoisePiece
	next := schedule.Next
	if p := next(len(rows)); len(rows) > p.Chunk && len(p.Layers) < m.config.Layers { // layers must go one by one
		single, err := m.singly()
		if err != nil {
			return nil, err
		}
		next = func(int) *npu.Programs { return single }
	}
	for at := 0; at < len(rows); {
		p := next(len(rows) - at)
		n := min(len(rows)-at, p.Chunk)
		a := bidirectionalArgs(seq, rows[at:at+n])
		if a.X = x[at*dim:][:n*dim]; at+n < len(rows) || at > 0 {
			scratch = slices.Grow(scratch[:0], n*dim)
		}
		if err := p.Embed.Run(npu.Args{Rows: n, Tokens: a.Tokens, Positions: a.Positions, Out: a.X}); err != nil {
			return nil, err
		}
		pieces = append(pieces, denoisePiece{p, a})
		at += n
	}
	last := len(pieces) - 1
	for layer := range pieces[last].programs.Layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, p := range pieces[:last] {
			if err := p.run(layer, scratch[:p.args.Rows*dim]); err != nil {
				return nil, err
			}
		}
		for i := last; i >= 0; i-- {
			if err := pieces[i].run(layer, pieces[i].args.X); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// run runs the layers' program on a piece.
func (p *denoisePiece) run(layer int, out []float32) error {
	a := p.args
	a.Out, a.Tokens = out, nil
	return p.programs.Layers[layer].Run(a)
}

// bidirectionalArgs returns the inputs of a run of rows.
func bidirectionalArgs(seq *Seq, rows []DenoiseRow) npu.Args {
	a := npu.Args{Rows: len(rows)}
	for _, r := range rows {
		p := int32(r.Position)
		a.Tokens, a.Positions = append(a.Tokens, int32(r.Token)), append(a.Positions, p)
		a.KV = append(a.KV, &seq.kv)
		a.Masks = append(a.Masks, npu.RowMask{Slot: p, Base: p, Until: int32(r.Sees)})
	}
	return a
}

// denoiseLogits moves the rows that want logits to the front and runs the head on them.
func (m *Model) denoiseLogits(ctx context.Context, schedule npu.Schedule, rows []DenoiseRow, x, logits []float32) error {
	dim, k := m.config.Dim, 0
	for i, r := range rows {
		if r.Logits {
			copy(x[k*dim:][:dim], x[i*dim:][:dim])
			k++
		}
	}
	for at := 0; at < k; {
		if err := ctx.Err(); err != nil {
			return err
		}
		head := schedule.Head(k - at)
		n := min(k-at, head.Graph().Chunk)
		if err := head.Run(npu.Args{Rows: n, X: x[at*dim:][:n*dim], Out: logits[at*m.config.Vocab:][:n*m.config.Vocab]}); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// scheduleBidirectional returns the schedule of a pass whose rows attend both ways.
func (m *Model) scheduleBidirectional(ctx context.Context, seq *Seq, rows int) (npu.Schedule, error) {
	if m.scheduler == nil {
		return m.base.schedule, nil
	}
	return m.scheduler.Schedule(ctx, m.base.programs, npu.Pass{Tokens: rows, Longest: seq.n, Bidirectional: true})
}

// CopyFrom copies the keys and values of positions from to end−1 of another sequence of the same model. Both must hold
// them; the sequence must not share them with a fork.
func (s *Seq) CopyFrom(other *Seq, from, end int) {
	for p := from; p < end; p++ {
		src, a := other.kv.At(p)
		dst, b := s.kv.At(p)
		s.m.config.copyPosition(dst, b, src, a)
		dst.Touch(b)
	}
}

// Grow gives the sequence n positions, if it has fewer. Their keys and values are arbitrary until CopyFrom or Denoise
// sets them.
func (s *Seq) Grow(n int) {
	if n > s.n {
		s.dropTree()
		s.extend(n - s.n)
		s.n = n
	}
}

// writable reports whether only this sequence refers to a position.
func (s *Seq) writable(position int) bool {
	for i := range s.kv.Spans {
		if n := s.kv.Spans[i].Len; position >= n {
			position -= n
			continue
		}
		return s.owned[i]
	}
	return false
}
