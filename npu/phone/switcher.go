package phone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/npu"
	"tandem/npu/phone/executor"
	"tandem/npu/phone/plan"
)

// Switcher computes prompts with graphs for large chunks and changes to those for small ones on the way, block by
// block, as an NPU must that has room for one graph of each block (CoordGen §3.2). Unlike a Device it takes real
// time: it holds the blocks' weights in arenas and copies them there. Do one Prefill at a time.
type Switcher struct {
	blocks       *executor.Blocks
	embed, head  npu.Program
	layers       []*npu.Graph // for large chunks
	large, small int
	profile      []plan.Block
}

// NewSwitcher compiles a model's graphs for two chunk sizes on a device that reads staged weights. Each list holds
// the embedding, the layers and the head. The layers are cut into blocks of about the same number.
func NewSwitcher(d npu.Device, large, small []*npu.Graph, blocks int) (*Switcher, error) {
	layers := len(large) - 2
	if blocks < 1 || blocks > layers {
		return nil, fmt.Errorf("%d blocks of %d layers: use 1 to %d", blocks, layers, layers)
	}
	s := &Switcher{layers: large[1 : layers+1], large: large[0].Chunk, small: small[0].Chunk}
	if s.large < s.small {
		return nil, fmt.Errorf("chunks of %d tokens for prompts and %d for decoding: the second must be at most the first", s.large, s.small)
	}
	var err error
	if s.blocks, err = executor.NewBlocks(d, cutBlocks(large, blocks), cutBlocks(small, blocks)); err != nil {
		return nil, err
	}
	if s.embed, err = d.Compile(large[0]); err != nil {
		return nil, err
	}
	s.head, err = d.Compile(small[len(small)-1])
	return s, err
}

// cutBlocks divides the layers among a model's graphs into blocks of about the same number. The embedding and the head
// belong to none.
func cutBlocks(graphs []*npu.Graph, blocks int) [][]*npu.Graph {
	layers := graphs[1 : len(graphs)-1]
	out := make([][]*npu.Graph, blocks)
	for j := range out {
		out[j] = layers[j*len(layers)/blocks : (j+1)*len(layers)/blocks]
	}
	return out
}

// Runs returns, for each chunk of a prompt, how many runs of the small graph compute the same.
func (s *Switcher) Runs(tokens int) []int { return runsPerChunk(tokens, s.large, s.small) }

// Problem states what planning knows of a prefill of that many tokens. The first call measures: it loads and
// computes each block once with either graph.
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
			p := s.newPrefill(s.NewCache(), tokens)
			if err := p.embedChunk(0); err != nil {
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

// Cache holds the keys and values of a sequence.
type Cache struct {
	kv     npu.KV
	tokens int
	width  []int // of keys and of values, by layer
}

// NewCache returns the cache of an empty sequence.
func (s *Switcher) NewCache() *Cache {
	c := &Cache{}
	for _, g := range s.layers {
		for i := range g.Nodes {
			if a := g.Nodes[i].Attention; a != nil {
				c.width = append(c.width, a.CacheRow())
			}
		}
	}
	return c
}

// Len returns the number of tokens in the cache.
func (c *Cache) Len() int { return c.tokens }

// extend adds a span of n slots.
func (c *Cache) extend(n int) {
	span := npu.Span{Len: n}
	for _, width := range c.width {
		span.K, span.V = append(span.K, make([]uint16, n*width)), append(span.V, make([]uint16, n*width))
	}
	c.kv.Spans = append(c.kv.Spans, span)
}

// Prefill appends tokens to the sequence by the plan. It returns the logits after the last token, the same bits as
// those of a plain prefill, and what happened when. Every block has the large graph first, loaded before the clock
// starts, and in the end the one that the plan leaves it with. On an error the cache is as before.
func (s *Switcher) Prefill(ctx context.Context, c *Cache, tokens []tandem.Token, pl plan.Plan) ([]float32, plan.Timeline, error) {
	if len(tokens) == 0 {
		return nil, plan.Timeline{}, errors.New("no tokens to prefill")
	}
	chunks := s.Runs(len(tokens))
	if err := pl.Check(plan.Problem{Blocks: make([]plan.Block, s.blocks.Len()), Runs: chunks}); err != nil {
		return nil, plan.Timeline{}, err
	}
	for j := range s.blocks.Len() {
		if err := s.blocks.Load(j, false); err != nil {
			return nil, plan.Timeline{}, err
		}
	}
	p := s.newPrefill(c, tokens)
	line, err := executor.Run(ctx, pl, s.blocks.Len(), len(chunks), p)
	logits := make([]float32, s.head.Graph().Result().Width)
	if err == nil {
		err = s.head.Run(npu.Args{Rows: 1, X: p.last(), Out: logits})
	}
	if err != nil {
		c.kv.Spans = c.kv.Spans[:len(c.kv.Spans)-1]
		return nil, plan.Timeline{}, err
	}
	c.tokens += len(tokens)
	return logits, line, nil
}

// prefill is one Prefill on its way.
type prefill struct {
	s         *Switcher
	tokens    []int32
	positions []int32
	kv        []*npu.KV
	width     int
	x         []float32 // residual stream of the chunk [large × width]
	rows      int       // of the chunk
}

// newPrefill returns a prefill of the tokens, for which it makes room in the cache.
func (s *Switcher) newPrefill(c *Cache, tokens []tandem.Token) *prefill {
	c.extend(len(tokens))
	width := s.embed.Graph().Result().Width
	p := &prefill{s: s, width: width, x: make([]float32, s.large*width)}
	for i, t := range tokens {
		p.tokens = append(p.tokens, int32(t))
		p.positions = append(p.positions, int32(c.tokens+i))
		p.kv = append(p.kv, &c.kv)
	}
	return p
}

// embedChunk looks the chunk's tokens up.
func (p *prefill) embedChunk(chunk int) error {
	from := chunk * p.s.large
	p.rows = min(p.s.large, len(p.tokens)-from)
	return p.s.embed.Run(npu.Args{Rows: p.rows, Tokens: p.tokens[from:], Positions: p.positions[from:], Out: p.x})
}

// last is the residual stream of the last token.
func (p *prefill) last() []float32 { return p.x[(p.rows-1)*p.width:] }

// Compute implements executor.Machine.
func (p *prefill) Compute(ctx context.Context, block, chunk int, smallGraph bool) error {
	if block == 0 {
		if err := p.embedChunk(chunk); err != nil {
			return err
		}
	}
	size := p.s.large
	if smallGraph {
		size = p.s.small
	}
	from := chunk * p.s.large
	for at := 0; at < p.rows; at += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(size, p.rows-at)
		x := p.x[at*p.width : (at+n)*p.width]
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
