package model

import (
	"fmt"

	"tandem"
	"tandem/npu"
)

// A PartialHead is an output matrix with the rows of some tokens only. It scores them after each token of an input
// (Input.OnScores) without the cost of all logits. Calibration of drafts needs it.
type PartialHead struct {
	tokens  []tandem.Token
	program npu.Program
	out     []float32
}

// partialChunk is how many positions one run scores.
const partialChunk = 32

// PartialHead makes a head for the given tokens. Their scores are their logits, the same bit for bit as Forward's. It
// serves one pass at a time.
func (m *Model) PartialHead(tokens []tandem.Token) (*PartialHead, error) {
	if m.config.Remote {
		return nil, errRemote
	}
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
	g := m.config.head(m.tensors, "some logits", partialChunk, &some)
	g.Transient = true
	p, err := m.device.Compile(g)
	if err != nil {
		return nil, fmt.Errorf("score some tokens: %w", err)
	}
	return &PartialHead{tokens: tokens, program: p, out: make([]float32, partialChunk*len(tokens))}, nil
}

// An inputToken is a token of an input.
type inputToken struct {
	in    *Input
	index int
}

// score runs the partial heads of the chunk's inputs on its residual streams.
func (ws *workspace) score(x []float32, dim int) error {
	for i := 0; i < len(ws.origin); {
		in, j := ws.origin[i].in, i
		for j < len(ws.origin) && ws.origin[j].in == in && (in.OnScores == nil || j < i+partialChunk) {
			j++
		}
		if in.OnScores != nil {
			h, n := in.Head, len(in.Head.tokens)
			if err := h.program.Run(npu.Args{Rows: j - i, X: x[i*dim:], Out: h.out}); err != nil {
				return err
			}
			for k := i; k < j; k++ {
				if in.Embeds != nil && in.Embeds[ws.origin[k].index] != nil {
					continue // it is no token
				}
				in.OnScores(ws.origin[k].index, h.out[(k-i)*n:][:n])
			}
		}
		i = j
	}
	return nil
}
