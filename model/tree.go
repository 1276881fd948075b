package model

import (
	"errors"
	"fmt"
	"math/bits"

	"tandem"
	"tandem/npu"
)

// checkTree reports a row whose Parents or Among make no sense.
func (r *Input) checkTree() error {
	if (r.Near == nil) != (r.Among == nil) {
		return errors.New("the tokens of interest and what they follow (Near, Among) go together")
	}
	if r.Parents == nil {
		return nil
	}
	if len(r.Parents) != len(r.Tokens) || len(r.Tokens) > npu.MaxTree {
		return fmt.Errorf("a tree of %d tokens with %d parents: at most %d, one for each", len(r.Tokens), len(r.Parents), npu.MaxTree)
	}
	for i, p := range r.Parents {
		if p < -1 || p >= i {
			return fmt.Errorf("the parent of node %d is %d, which does not come before it", i, p)
		}
	}
	return nil
}

// place appends the position of token at of a row, and its mask. A node's position is its depth behind
// the sequence, so that a kept path has the keys that plain decoding gives it.
func (sp *space) place(r *Input, at int, ancestors *[npu.MaxTree]uint64) {
	n := int32(r.Seq.n)
	if r.Parents == nil {
		n += int32(at)
		sp.positions = append(sp.positions, n)
		sp.masks = append(sp.masks, npu.RowMask{Slot: n, Base: n})
		return
	}
	ancestors[at] = 0
	if p := r.Parents[at]; p >= 0 {
		ancestors[at] = ancestors[p] | 1<<p
	}
	sp.trees = true
	sp.positions = append(sp.positions, n+int32(bits.OnesCount64(ancestors[at])))
	sp.masks = append(sp.masks, npu.RowMask{Slot: n + int32(at), Base: n, Ancestors: ancestors[at]})
}

// Keep makes a path of the draft tree that the last Forward computed part of the sequence: the nodes'
// indices, each the parent of the next, the first behind the sequence's end. It moves their keys and values
// together and forgets the rest; the sequence is then as plain decoding of those tokens would have left it, to
// the bit. An empty path forgets the whole tree.
func (s *Seq) Keep(path ...int) error {
	before := -1
	for _, i := range path {
		if i < 0 || i >= len(s.tree) || s.tree[i] != before {
			return fmt.Errorf("keep %d: not a path of the %d nodes of the draft tree", path, len(s.tree))
		}
		before = i
	}
	width := s.m.config.KVHeads * s.m.config.HeadDim
	var touched *npu.Span
	for to, i := range path { // to ≤ i: nothing is overwritten before it moved
		if to == i {
			continue
		}
		src, a := s.kv.At(s.n + i)
		dst, b := s.kv.At(s.n + to)
		if dst != touched {
			touched = dst
			dst.Touch(b)
		}
		for l := range src.K {
			copy(dst.K[l][b*width:][:width], src.K[l][a*width:][:width])
			copy(dst.V[l][b*width:][:width], src.V[l][a*width:][:width])
		}
	}
	s.tree = s.tree[:0]
	s.cut(s.n + len(path))
	return nil
}

// Among scores some tokens of the vocabulary after each token of a row, without the cost of all logits: a
// head with their rows only. Drafters ask with it which tokens of a text the model would expect where.
type Among struct {
	tokens  []tandem.Token
	program npu.Program
	out     []float32
}

// amongChunk is how many positions one run of an Among scores.
const amongChunk = 32

// Among makes a head for the given tokens. Scores are their logits, the same bits as Forward's. It serves one
// Forward at a time.
func (m *Model) Among(tokens []tandem.Token) (*Among, error) {
	w := m.tensors.output(&m.config)
	if len(tokens) == 0 || w.Staged {
		return nil, fmt.Errorf("score %d tokens: none, or the output matrix is not resident", len(tokens))
	}
	some := *w
	some.Name, some.Rows = "some of "+w.Name, len(tokens)
	some.Data = make([]byte, 0, len(tokens)*w.Type.RowBytes(w.Cols))
	for _, t := range tokens {
		if t < 0 || int(t) >= w.Rows {
			return nil, fmt.Errorf("score token %d: outside the vocabulary of %d", t, w.Rows)
		}
		some.Data = append(some.Data, w.Row(int(t))...)
	}
	p, err := m.device.Compile(m.config.head(m.tensors, "some logits", amongChunk, &some))
	if err != nil {
		return nil, fmt.Errorf("score some tokens: %w", err)
	}
	return &Among{tokens: tokens, program: p, out: make([]float32, amongChunk*len(tokens))}, nil
}

// near is token at of a row.
type near struct {
	row *Input
	at  int
}

// tell runs the Among of the chunk's rows on their residual streams.
func (sp *space) tell(x []float32, dim int) error {
	for i := 0; i < len(sp.near); {
		r, j := sp.near[i].row, i
		for j < len(sp.near) && sp.near[j].row == r && (r.Near == nil || j < i+amongChunk) {
			j++
		}
		if r.Near != nil {
			a, n := r.Among, len(r.Among.tokens)
			if err := a.program.Run(npu.Args{Rows: j - i, X: x[i*dim:], Out: a.out}); err != nil {
				return err
			}
			for k := i; k < j; k++ {
				r.Near(sp.near[k].at, a.out[(k-i)*n:][:n])
			}
		}
		i = j
	}
	return nil
}
