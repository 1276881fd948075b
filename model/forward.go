package model

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"tandem"
	"tandem/npu"
)

// An Input is a sequence and the tokens that a forward pass appends to it. The pass gives the logits after the last of
// them and after each embedding behind it or, with All, after each token. With Parents, the tokens are a draft tree, of which
// Seq.Keep appends a path.
type Input struct {
	Seq    *Seq
	Tokens []tandem.Token
	All    bool // logits after every token, not only the last

	// Parents makes Tokens a tree of at most npu.MaxTree nodes. It holds the index of each node's parent, or -1 for
	// children of the sequence's last token. The sequence does not grow until Keep chooses a path. The next other call
	// on the sequence drops the tree.
	Parents []int
	// Embeds, if not nil, holds a row for each of Tokens: the Dim numbers that take the place of its embedding (and of a learnt
	// position, if the architecture has these), or nil. A token with a row must be NoToken. In a tree such nodes, and what comes
	// below them, cannot be kept. Without a tree they come after all tokens, and the sequence does not get them.
	Embeds [][]float32
	// EmbedsAdapter, if not nil, is the adapter of the rows of Embeds, instead of the sequence's. It is mounted as Inputs.
	EmbedsAdapter *Adapter
	// OnScores, if not nil, is called after every token, in order, with the scores of Head's tokens.
	OnScores func(i int, scores []float32)
	Head     *PartialHead
	// PerPass, if not nil, says that the sequence is decoded with drafts. It returns the expected number of tokens from a pass
	// with the given number of rows of this sequence. Devices choose their programs by it.
	PerPass func(rows int) float64
}

// NoToken is the token of a row that Input.Embeds gives.
const NoToken = tandem.Token(-1)

// Forward appends the tokens of each input to its sequence. It returns the requested logits, Vocab numbers each, in the
// order of inputs and their tokens. They are slices of one new array; requesting All positions of a long input takes
// 4·Vocab bytes for each.
//
// The logits of an input are the same bit for bit whatever other inputs are in the pass, however its tokens are divided
// among calls, and for any number of threads. If Rounding is not empty, they are the same up to rounding.
//
// ctx is checked before every layer, or every few layers if the device computes several at once (see npu.Traits). A
// logit that is NaN is an error. On an error, all sequences are as before. Several goroutines may call Forward at once
// with different sequences.
func (m *Model) Forward(ctx context.Context, inputs []Input) ([][]float32, error) {
	var fresh Logits
	return m.ForwardInto(ctx, inputs, &fresh)
}

// ForwardInto is Forward with the logits in memory of the caller. They are valid until the next call with the same
// memory, even if that call fails.
func (m *Model) ForwardInto(ctx context.Context, inputs []Input, into *Logits) ([][]float32, error) {
	return m.forward(ctx, inputs, into, false)
}

// forward is ForwardInto or, if decoding follows, Prefill.
func (m *Model) forward(ctx context.Context, inputs []Input, into *Logits, decoding bool) ([][]float32, error) {
	logits, tokens, err := m.checkInputs(inputs)
	if err != nil || tokens == 0 {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, in := range inputs {
		in.Seq.dropTree()
		in.Seq.extend(len(in.Tokens))
	}
	out := into.Take(logits, m.config.Vocab)
	defer runtime.KeepAlive(into)
	if err = m.pass(ctx, inputs, into.numbers, decoding); err == nil {
		err = m.checkNumbers(into.numbers)
	}
	for _, in := range inputs {
		switch {
		case err != nil:
			in.Seq.cut(in.Seq.n)
		case in.Parents != nil:
			in.Seq.tree = append(in.Seq.tree[:0], in.Parents...)
			for j, row := range in.Embeds {
				if row != nil {
					in.Seq.tree[j] = unkept
				}
			}
		default:
			in.Seq.n += len(in.Tokens) - in.behind()
			if in.behind() > 0 {
				in.Seq.cut(in.Seq.n)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// pass computes the requested logits [their number × Vocab] of the inputs: together, or in several passes if they need
// different graphs.
func (m *Model) pass(ctx context.Context, inputs []Input, logits []float32, decoding bool) error {
	if !slices.ContainsFunc(inputs, func(in Input) bool { return in.Seq.adapter != nil || in.EmbedsAdapter != nil }) {
		return m.passOn(ctx, m.base, inputs, logits, decoding)
	}
	shares, err := m.shares(inputs)
	if err != nil {
		return err
	}
	if len(shares) == 1 {
		return m.passOn(ctx, shares[0].graphSet, inputs, logits, decoding)
	}
	first := make([]int, len(inputs)+1) // where the logits of each input begin
	for i := range inputs {
		first[i+1] = first[i] + inputs[i].logits()*m.config.Vocab
	}
	for _, s := range shares {
		n := 0
		for _, i := range s.indices {
			n += first[i+1] - first[i]
		}
		some := make([]float32, n)
		if err := m.passOn(ctx, s.graphSet, s.inputs, some, decoding); err != nil {
			return err
		}
		for _, i := range s.indices {
			some = some[copy(logits[first[i]:first[i+1]], some):]
		}
	}
	return nil
}

// passOn computes inputs on the given graphs.
func (m *Model) passOn(ctx context.Context, s *graphSet, inputs []Input, logits []float32, decoding bool) error {
	tokens := 0
	for i := range inputs {
		tokens += len(inputs[i].Tokens)
	}
	schedule, err := m.schedule(ctx, s, inputs, tokens, decoding)
	if err != nil {
		return err
	}
	return m.compute(ctx, inputs, logits, tokens, schedule)
}

// logits returns how many logits the input requests.
func (in *Input) logits() int {
	if in.All {
		return len(in.Tokens)
	}
	return 1 + in.behind()
}

// behind returns how many embeddings come after the tokens of an input without a tree.
func (in *Input) behind() int {
	if in.Embeds == nil || in.Parents != nil {
		return 0
	}
	tokens := slices.IndexFunc(in.Embeds, func(row []float32) bool { return row != nil })
	if tokens < 0 {
		return 0
	}
	return len(in.Embeds) - tokens
}

// checkInputs returns the number of requested logits and of tokens.
func (m *Model) checkInputs(inputs []Input) (logits, tokens int, err error) {
	if m.config.Remote {
		return 0, 0, errRemote
	}
	if m.config.Pooling != NoPooling {
		return 0, 0, fmt.Errorf("%s is an encoder: it makes embeddings and writes no text; use a model that writes, such as qwen2.5", m.config.Arch)
	}
	for i, in := range inputs {
		if in.Seq == nil || in.Seq.m != m {
			return 0, 0, fmt.Errorf("input %d: its sequence belongs to another model", i)
		}
		if a := in.Seq.adapter; a != nil && a.model != m {
			return 0, 0, fmt.Errorf("input %d: its adapter %s is mounted on another model", i, a.name)
		}
		in.Seq.input = i
	}
	for i, in := range inputs {
		if in.Seq.input != i {
			return 0, 0, fmt.Errorf("inputs %d and %d append to the same sequence: fork it", i, in.Seq.input)
		}
		if len(in.Tokens) == 0 {
			return 0, 0, fmt.Errorf("input %d: no tokens", i)
		}
		if in.Seq.n+len(in.Tokens) > m.config.Context {
			return 0, 0, &ContextError{Have: in.Seq.n, Add: len(in.Tokens), Limit: m.config.Context}
		}
		if err := m.checkEmbeds(&in); err != nil {
			return 0, 0, fmt.Errorf("input %d: %w", i, err)
		}
		for j, t := range in.Tokens {
			if (t < 0 || int(t) >= m.config.Vocab) && (in.Embeds == nil || in.Embeds[j] == nil) {
				return 0, 0, fmt.Errorf("input %d: token %d is outside the vocabulary of %d", i, t, m.config.Vocab)
			}
		}
		if err := in.checkTree(); err != nil {
			return 0, 0, fmt.Errorf("input %d: %w", i, err)
		}
		tokens += len(in.Tokens)
		logits += in.logits()
	}
	return logits, tokens, nil
}

// checkEmbeds reports invalid Embeds.
func (m *Model) checkEmbeds(in *Input) error {
	a := in.EmbedsAdapter
	switch {
	case in.Embeds == nil && a == nil:
		return nil
	case len(in.Embeds) != len(in.Tokens):
		return fmt.Errorf("%d embeddings for %d tokens: there must be one or nil for each token", len(in.Embeds), len(in.Tokens))
	case in.Parents == nil && (in.behind() == len(in.Tokens) || in.All || slices.ContainsFunc(in.Embeds[len(in.Embeds)-in.behind():], isNil)):
		return fmt.Errorf("%d embeddings among tokens: there must be a tree, or only tokens before them", len(in.Embeds))
	case a != nil && (a.model != m || a.set.inputs == nil):
		return fmt.Errorf("adapter %s of embeddings is not mounted as inputs on this model", a.name)
	case a != nil && in.Seq.adapter != nil && in.Seq.adapter.set.inputs == nil:
		return fmt.Errorf("the embeddings have adapter %s as inputs, and the sequence has %s in a graph: mount it as inputs", a.name, in.Seq.adapter.name)
	}
	for i, row := range in.Embeds {
		if row != nil && (in.Tokens[i] != NoToken || len(row) != m.config.Dim) {
			return fmt.Errorf("node %d has the token %d and an embedding of %d numbers: want NoToken and %d", i, in.Tokens[i], len(row), m.config.Dim)
		}
	}
	return nil
}

func isNil(row []float32) bool { return row == nil }

// A ContextError reports that a sequence would exceed the model's context.
type ContextError struct{ Have, Add, Limit int }

func (e *ContextError) Error() string {
	if e.Have == 0 {
		return fmt.Sprintf("%d tokens exceed the model's context of %d: shorten the input", e.Add, e.Limit)
	}
	return fmt.Sprintf("%d positions and %d more exceed the model's context of %d: shorten the input", e.Have, e.Add, e.Limit)
}

// A workspace is the memory of one pass. Its slices have an element for each row of the current chunk.
type workspace struct {
	tokens, positions []int32
	kv                []*npu.KV
	needsLogits       []bool        // whether the row's logits are requested
	origin            []inputToken  // where the row comes from
	masks             []npu.RowMask // used if a row belongs to a tree
	hasTree           bool
	adapters          []*npu.Adapter // used if a row has one
	hasAdapter        bool
	hasEmbeds         bool      // whether a row is given as an embedding
	x                 []float32 // residual stream [chunk × Dim]
}

// compute packs the tokens of all inputs into chunks, runs each chunk through all blocks and writes the requested
// logits [their number × Vocab]. The tokens of a sequence stay in order, so that keys and values are there before
// any row attends to them.
func (m *Model) compute(ctx context.Context, inputs []Input, logits []float32, tokens int, schedule npu.Schedule) error {
	ws := m.workspaces.Get().(*workspace)
	defer m.workspaces.Put(ws)
	defer func() {
		clear(ws.kv[:cap(ws.kv)])
		clear(ws.origin[:cap(ws.origin)])
		clear(ws.adapters[:cap(ws.adapters)])
	}() // release the caches
	next, at := 0, 0                  // the next token: its input and index
	var ancestors [npu.MaxTree]uint64 // of the nodes of the current tree
	for tokens > 0 {
		p := schedule.Next(tokens)
		n := min(tokens, p.Chunk)
		tokens -= n
		ws.reset()
		for range n {
			in := &inputs[next]
			token, adapter := in.Tokens[at], in.Seq.adapter
			if in.Embeds != nil && in.Embeds[at] != nil {
				token, ws.hasEmbeds = 0, true // any token: embed replaces what comes of it
				if in.EmbedsAdapter != nil {
					adapter = in.EmbedsAdapter
				}
			}
			ws.tokens = append(ws.tokens, int32(token))
			ws.place(in, at, &ancestors)
			ws.kv = append(ws.kv, &in.Seq.kv)
			ws.adapt(adapter)
			last := at == len(in.Tokens)-1
			ws.needsLogits = append(ws.needsLogits, in.All || at >= len(in.Tokens)-in.logits())
			ws.origin = append(ws.origin, inputToken{in, at})
			if at++; last {
				next, at = next+1, 0
			}
		}
		k, err := m.chunk(ctx, p, ws, logits, schedule)
		if err != nil {
			return err
		}
		logits = logits[k*m.config.Vocab:]
	}
	return schedule.End(ctx)
}

// onlyLogits reports whether the logits of all rows are requested, and no scores.
func (ws *workspace) onlyLogits() bool {
	return !slices.Contains(ws.needsLogits, false) && !slices.ContainsFunc(ws.origin, func(o inputToken) bool { return o.in.OnScores != nil })
}

func (ws *workspace) reset() {
	ws.tokens, ws.positions, ws.kv, ws.needsLogits = ws.tokens[:0], ws.positions[:0], ws.kv[:0], ws.needsLogits[:0]
	ws.masks, ws.hasTree, ws.origin = ws.masks[:0], false, ws.origin[:0]
	ws.adapters, ws.hasAdapter, ws.hasEmbeds = ws.adapters[:0], false, false
}

// adapt appends the adapter of a row, which may be nil.
func (ws *workspace) adapt(a *Adapter) {
	if a == nil || a.row == nil { // none, or in the graph
		ws.adapters = append(ws.adapters, nil)
		return
	}
	ws.adapters, ws.hasAdapter = append(ws.adapters, a.row), true
}

// chunk runs one chunk through all blocks, writes the requested logits and returns their number.
func (m *Model) chunk(ctx context.Context, p *npu.Programs, ws *workspace, logits []float32, schedule npu.Schedule) (int, error) {
	dim, vocab := m.config.Dim, m.config.Vocab
	x, err := ws.embed(p, dim)
	if err != nil {
		return 0, err
	}
	a := ws.args(x)
	if p.Whole != nil && ws.onlyLogits() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a.Out = logits[:a.Rows*vocab]
		return a.Rows, p.Whole.Run(a)
	}
	for _, layer := range p.Layers {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := layer.Run(a); err != nil {
			return 0, err
		}
	}
	if err := ws.score(x, dim); err != nil {
		return 0, err
	}
	k := ws.moveToFront(x, dim)
	if k == 0 {
		return 0, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return k, schedule.Head(k).Run(npu.Args{Rows: k, X: x, Out: logits[:k*vocab]})
}

// embed returns the residual stream of the chunk's rows before the first layer.
func (ws *workspace) embed(p *npu.Programs, dim int) ([]float32, error) {
	n := len(ws.tokens)
	if cap(ws.x) < n*dim {
		ws.x = make([]float32, p.Chunk*dim)
	}
	x := ws.x[:n*dim]
	if err := p.Embed.Run(npu.Args{Rows: n, Tokens: ws.tokens, Positions: ws.positions, Out: x}); err != nil {
		return nil, err
	}
	if ws.hasEmbeds {
		for i, o := range ws.origin {
			if o.in.Embeds != nil && o.in.Embeds[o.index] != nil {
				copy(x[i*dim:][:dim], o.in.Embeds[o.index])
			}
		}
	}
	return x, nil
}

// args returns the inputs of a layer's run, whose result takes the place of its input x.
func (ws *workspace) args(x []float32) npu.Args {
	a := npu.Args{Rows: len(ws.tokens), X: x, Positions: ws.positions, KV: ws.kv, Out: x}
	if ws.hasTree {
		a.Masks = ws.masks
	}
	if ws.hasAdapter {
		a.Adapters = ws.adapters
	}
	return a
}

// moveToFront moves the rows whose logits are requested to the front of x and returns their number.
func (ws *workspace) moveToFront(x []float32, dim int) (k int) {
	for i, needed := range ws.needsLogits {
		if needed {
			copy(x[k*dim:][:dim], x[i*dim:][:dim])
			k++
		}
	}
	return k
}
