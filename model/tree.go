package model

import (
	"errors"
	"fmt"
	"math/bits"

	"tandem/npu"
)

// checkTree reports invalid Parents, and OnScores without Head or Head without OnScores.
func (in *Input) checkTree() error {
	if (in.OnScores == nil) != (in.Head == nil) {
		return errors.New("OnScores and Head go together")
	}
	if in.Parents == nil {
		return nil
	}
	if len(in.Parents) != len(in.Tokens) || len(in.Tokens) > npu.MaxTree {
		return fmt.Errorf("a tree of %d tokens with %d parents: there must be one for each token, and at most %d", len(in.Tokens), len(in.Parents), npu.MaxTree)
	}
	for i, p := range in.Parents {
		if p < -1 || p >= i {
			return fmt.Errorf("the parent of node %d is %d, which does not come before it", i, p)
		}
	}
	return nil
}

// place appends the position of a token and the slots that it attends to. A node's position is that of the sequence's
// end plus its depth, so that a kept path has the keys of plain decoding.
func (ws *workspace) place(in *Input, at int, ancestors *[npu.MaxTree]uint64) {
	n := int32(in.Seq.n)
	if in.Parents == nil {
		n += int32(at)
		ws.positions = append(ws.positions, n)
		ws.masks = append(ws.masks, npu.RowMask{Slot: n, Base: n})
		return
	}
	ancestors[at] = 0
	if p := in.Parents[at]; p >= 0 {
		ancestors[at] = ancestors[p] | 1<<p
	}
	ws.hasTree = true
	ws.positions = append(ws.positions, n+int32(bits.OnesCount64(ancestors[at])))
	ws.masks = append(ws.masks, npu.RowMask{Slot: n + int32(at), Base: n, Ancestors: ancestors[at]})
}

// unkept is the parent, in Seq.tree, of nodes that cannot be kept.
const unkept = -2

// Keep appends a path of the draft tree that the last pass computed: indices of nodes, each the parent of the next. It
// moves their keys and values together and drops the rest of the tree. The sequence is then the same bit for bit as
// after plain decoding of these tokens. An empty path drops the whole tree.
func (s *Seq) Keep(path ...int) error {
	before := -1
	for _, i := range path {
		if i < 0 || i >= len(s.tree) || s.tree[i] != before {
			return fmt.Errorf("keep %d: not a path of the %d nodes of the draft tree", path, len(s.tree))
		}
		before = i
	}
	var touched *npu.Span
	for to, i := range path { // to ≤ i, so nothing is overwritten before it is moved
		if to == i {
			continue
		}
		src, a := s.kv.At(s.n + i)
		dst, b := s.kv.At(s.n + to)
		if dst != touched {
			touched = dst
			dst.Touch(b)
		}
		s.m.config.copyPosition(dst, b, src, a)
	}
	s.tree = s.tree[:0]
	s.cut(s.n + len(path))
	return nil
}
