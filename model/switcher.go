package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/npu"
	"tandem/npu/phone/executor"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/plan"
)

// Switcher prefills with graphs for large chunks and changes to those for small ones on the way, block by
// block, as a phone's NPU must that has room for one graph of each block (CoordGen §3.2). It has the blocks'
// weights in arenas beside the model's own, which Forward goes on to use. One Prefill at a time.
type Switcher struct {
	m            *Model
	blocks       *executor.Blocks
	embed        npu.Program
	large, small int
	profile      []plan.Block
}

// Switcher cuts the layers into blocks of about the same number and compiles them for both chunk sizes.
func (m *Model) Switcher(blocks, large, small int) (*Switcher, error) {
	switch {
	case blocks < 1 || blocks > m.config.Layers:
		return nil, fmt.Errorf("%d blocks of %d layers: want 1 to %d", blocks, m.config.Layers, m.config.Layers)
	case small < 1 || large < small || large > m.config.Context:
		return nil, fmt.Errorf("chunks of %d and %d tokens: want the second from 1 to the first, and the first at most the context of %d", large, small, m.config.Context)
	}
	if _, bounded := m.device.(*memory.Device); bounded {
		return nil, errors.New("a model with bounded memory stages its weights already: open it without the bound to switch graphs")
	}
	var cut [2][][]*npu.Graph
	for i, chunk := range []int{large, small} {
		cut[i] = Cut(m.Graphs(chunk), blocks)
	}
	b, err := executor.NewBlocks(m.device, cut[0], cut[1])
	if err != nil {
		return nil, err
	}
	embed, err := m.device.Compile(m.Graphs(large)[0])
	if err != nil {
		return nil, err
	}
	return &Switcher{m: m, blocks: b, embed: embed, large: large, small: small}, nil
}

// Cut divides the layers among a model's graphs (see Model.Graphs) into blocks of about the same number.
// The embedding and the head belong to none.
func Cut(graphs []*npu.Graph, blocks int) [][]*npu.Graph {
	layers := graphs[1 : len(graphs)-1]
	out := make([][]*npu.Graph, blocks)
	for j := range out {
		out[j] = layers[j*len(layers)/blocks : (j+1)*len(layers)/blocks]
	}
	return out
}

// Runs returns, for each chunk of a prompt, how many runs of the small graph do the same.
func (s *Switcher) Runs(tokens int) (runs []int) {
	for ; tokens > 0; tokens -= s.large {
		runs = append(runs, (min(tokens, s.large)+s.small-1)/s.small)
	}
	return runs
}

// Problem is what planning knows of a prefill of that many tokens. The first call measures: each block is
// loaded and computed once with either graph.
func (s *Switcher) Problem(ctx context.Context, tokens int) (plan.Problem, error) {
	if s.profile == nil {
		if err := s.measure(ctx); err != nil {
			return plan.Problem{}, err
		}
	}
	return plan.Problem{Blocks: s.profile, Runs: s.Runs(tokens)}, nil
}

func (s *Switcher) measure(ctx context.Context) error {
	profile := make([]plan.Block, s.blocks.Len())
	tokens := make([]tandem.Token, s.large)
	// The first round brings everything into caches.
	for round := range 2 {
		for _, smallGraph := range []bool{true, false} {
			seq := s.m.NewSeq()
			p := s.pass(seq, tokens)
			seq.extend(len(tokens))
			if err := p.begin(0); err != nil {
				return err
			}
			for j := range profile {
				start := time.Now()
				if err := s.blocks.Load(j, smallGraph); err != nil {
					return err
				}
				loaded := time.Now()
				if err := p.Compute(ctx, j, 0, smallGraph); err != nil {
					return err
				}
				if b := &profile[j]; round == 1 && smallGraph {
					b.Load, b.Small = loaded.Sub(start), time.Since(loaded)/time.Duration(s.Runs(s.large)[0])
				} else if round == 1 {
					b.Large = time.Since(loaded)
				}
			}
		}
	}
	s.profile = profile
	return nil
}

// Prefill appends tokens to the sequence by the plan and returns the logits after the last one, the same
// bits as Forward's, and what happened when. Every block has the large graph first, loaded before the
// clock starts, and in the end the one that the plan leaves it with.
func (s *Switcher) Prefill(ctx context.Context, seq *Seq, tokens []tandem.Token, pl plan.Plan) ([]float32, plan.Timeline, error) {
	row := Input{Seq: seq, Tokens: tokens}
	if _, n, err := s.m.checkRows([]Input{row}); err != nil || n == 0 {
		return nil, plan.Timeline{}, errors.Join(err, errors.New("nothing to prefill"))
	}
	runs := s.Runs(len(tokens))
	blocks := plan.Problem{Blocks: make([]plan.Block, s.blocks.Len()), Runs: runs}
	if err := pl.Check(blocks); err != nil {
		return nil, plan.Timeline{}, err
	}
	for j := range s.blocks.Len() {
		if err := s.blocks.Load(j, false); err != nil {
			return nil, plan.Timeline{}, err
		}
	}
	seq.drop()
	p := s.pass(seq, tokens)
	seq.extend(len(tokens))
	line, err := executor.Run(ctx, pl, s.blocks.Len(), len(runs), p)
	logits := make([]float32, s.m.config.Vocab)
	if err == nil {
		err = s.m.program(1).head.Run(npu.Args{Rows: 1, X: p.last(), Out: logits})
	}
	if err != nil {
		seq.cut(seq.n)
		return nil, plan.Timeline{}, err
	}
	seq.n += len(tokens)
	return logits, line, nil
}

// prefill is one Prefill on its way.
type prefill struct {
	s         *Switcher
	tokens    []int32
	positions []int32
	kv        []*npu.KV
	x         []float32 // residual stream of the chunk [large × Dim]
	rows      int       // of the chunk
}

func (s *Switcher) pass(seq *Seq, tokens []tandem.Token) *prefill {
	p := &prefill{s: s, x: make([]float32, s.large*s.m.config.Dim)}
	for i, t := range tokens {
		p.tokens = append(p.tokens, int32(t))
		p.positions = append(p.positions, int32(seq.n+i))
		p.kv = append(p.kv, &seq.kv)
	}
	return p
}

// begin looks the chunk's tokens up.
func (p *prefill) begin(chunk int) error {
	from := chunk * p.s.large
	p.rows = min(p.s.large, len(p.tokens)-from)
	return p.s.embed.Run(npu.Args{Rows: p.rows, Tokens: p.tokens[from:], Positions: p.positions[from:], Out: p.x})
}

// last is the residual stream of the last token.
func (p *prefill) last() []float32 { return p.x[(p.rows-1)*p.s.m.config.Dim:] }

// Compute implements executor.Machine.
func (p *prefill) Compute(ctx context.Context, block, chunk int, smallGraph bool) error {
	if block == 0 {
		if err := p.begin(chunk); err != nil {
			return err
		}
	}
	size := p.s.large
	if smallGraph {
		size = p.s.small
	}
	from, dim := chunk*p.s.large, p.s.m.config.Dim
	for at := 0; at < p.rows; at += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(size, p.rows-at)
		x := p.x[at*dim : (at+n)*dim]
		err := p.s.blocks.Run(block, smallGraph, npu.Args{Rows: n, X: x, Out: x,
			Positions: p.positions[from+at:][:n], KV: p.kv[from+at:][:n]})
		if err != nil {
			return err
		}
	}
	return nil
}

// Load implements executor.Machine.
func (p *prefill) Load(_ context.Context, block int) error { return p.s.blocks.Load(block, true) }
