package model

import (
	"fmt"

	"tandem/npu"
)

// A denseLayer says how a layer of Llama's family differs from others of it: attention with rotated queries and keys, then
// a gated feed-forward layer, each added to the residual stream. Empty names stand for norms that it does not have.
type denseLayer struct {
	normAttention, normFeed string                   // before attention and before the feed-forward layer
	postAttention, postFeed string                   // behind them, before they are added
	normHeads               norms                    // of queries and keys, before they are rotated
	rope                    func(b *block) *npu.Rope // nil for Config's; a nil result for none
	fusedAttention          bool                     // one matrix holds queries, keys and values
	fusedFeed               bool                     // one matrix holds the gate and what it lets through
	gelu                    bool                     // the gate is a GELU, not a SiLU
	clipped                 bool                     // it is gpt-oss's
}

// norms says which elements of queries and keys are normed together.
type norms uint8

const (
	noNorms    norms = iota
	eachHead         // those of a head
	wholeWidth       // all
)

func (d denseLayer) layer(b *block, x npu.Value) npu.Value {
	y := d.attend(b, b.rmsNormIf(x, d.normAttention))
	x = b.Add(x, b.residual(b.rmsNormIf(y, d.postAttention)))
	y = d.feed(b, b.rmsNormIf(x, d.normFeed))
	return b.Add(x, b.residual(b.rmsNormIf(y, d.postFeed)))
}

// attend is the attention of a layer with its output matrix.
func (d denseLayer) attend(b *block, h npu.Value) npu.Value {
	c := b.config
	rope := &c.Rope
	if d.rope != nil {
		rope = d.rope(b)
	}
	rotated := func(v npu.Value, norm string) npu.Value {
		v = b.normHeads(v, norm, d.normHeads)
		if rope == nil {
			return v
		}
		return b.Rope(v, rope)
	}
	qWidth, kvWidth := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	qkvWidth := qWidth + 2*kvWidth
	part := func(name string, from, n int) npu.Value {
		if d.fusedAttention {
			return b.linearRows(h, "attn_qkv", qkvWidth, from, n)
		}
		return b.linear(h, name, n)
	}
	q := rotated(part("attn_q", 0, qWidth), "attn_q_norm")
	if t := c.temper; t.scale != 0 {
		q = b.Temper(q, t.scale, t.every)
	}
	k := rotated(part("attn_k", qWidth, kvWidth), "attn_k_norm")
	v := part("attn_v", qWidth+kvWidth, kvWidth)
	return b.linear(b.attention(q, k, v), "attn_output", c.Dim)
}

// feed is the feed-forward layer.
func (d denseLayer) feed(b *block, h npu.Value) npu.Value {
	c := b.config
	if c.experts.count > 0 {
		return d.experts(b, h)
	}
	var gate, up npu.Value
	if d.fusedFeed {
		gate, up = b.linearRows(h, "ffn_up", 2*c.FF, 0, c.FF), b.linearRows(h, "ffn_up", 2*c.FF, c.FF, c.FF)
	} else {
		gate, up = b.linear(h, "ffn_gate", c.FF), b.linear(h, "ffn_up", c.FF)
	}
	return b.linear(d.gate(b.Graph, gate, up), "ffn_down", c.Dim)
}

func (d denseLayer) gate(g *npu.Graph, gate, up npu.Value) npu.Value {
	switch {
	case d.gelu:
		return g.GeGLU(gate, up)
	case d.clipped:
		return g.ClippedSwiGLU(gate, up)
	}
	return g.SwiGLU(gate, up)
}

// experts is the feed-forward layer as a mixture of experts.
func (d denseLayer) experts(b *block, h npu.Value) npu.Value {
	c := b.config
	n := c.experts
	scores := b.linear(h, "ffn_gate_inp", n.count)
	e := &npu.Experts{TopK: n.used, SoftmaxTopK: !n.all}
	for i := range n.count {
		x := c.block(b.tensors, fmt.Sprintf("%s, expert %d", b.Name, i), b.Chunk)
		x.prefix = b.prefix
		in := x.Input(c.Dim)
		gate, up := x.linearRows(in, "ffn_gate_exps", n.count*n.ff, i*n.ff, n.ff), x.linearRows(in, "ffn_up_exps", n.count*n.ff, i*n.ff, n.ff)
		x.linearRows(d.gate(x.Graph, gate, up), "ffn_down_exps", n.count*c.Dim, i*c.Dim, c.Dim)
		e.Graphs = append(e.Graphs, x.Graph)
		if b.err != nil {
			break
		}
	}
	return b.Experts(h, scores, e)
}

// rmsNormIf is rmsNorm, or x if there is no such norm.
func (b *block) rmsNormIf(x npu.Value, name string) npu.Value {
	if name == "" {
		return x
	}
	return b.rmsNorm(x, name)
}

// normHeads is RMSNorm of queries or keys.
func (b *block) normHeads(x npu.Value, name string, over norms) npu.Value {
	width := b.Nodes[x].Width
	switch over {
	case noNorms:
		return x
	case eachHead:
		width = b.config.HeadDim
	}
	return b.RMSNorm(x, b.vector(b.prefix+name+".weight", width), b.config.Eps)
}

// residual scales what is added to the residual stream, in architectures that do.
func (b *block) residual(x npu.Value) npu.Value { return b.scaleIf(x, b.config.scales.residual) }

// scaleIf is x·by, or x if by is 0.
func (b *block) scaleIf(x npu.Value, by float32) npu.Value {
	if by == 0 {
		return x
	}
	return b.Scale(x, by)
}

// linearRows is linear with n rows, from a row on, of a matrix that has all rows.
func (b *block) linearRows(x npu.Value, name string, all, from, n int) npu.Value {
	name = b.prefix + name
	bias := b.biasRows(name+".bias", all, from, n)
	return b.MatMul(x, b.part(b.matrix(name+".weight", all, b.Nodes[x].Width), from, n), bias)
}

// biasRows returns n elements of a bias, nil if the file has none. That of experts is a matrix with a row for each.
func (t *tensors) biasRows(name string, all, from, n int) *npu.Tensor {
	if !t.file.Has(name) {
		return nil
	}
	rows := 1
	if m, err := t.file.Tensor(name); err == nil && m.Cols > 0 && m.Cols*m.Rows == all {
		rows = m.Rows
	}
	m := t.wide(name, rows, all/rows)
	part := &npu.Tensor{Name: fmt.Sprintf("%s[%d:%d]", name, from, from+n), Type: npu.F32, Rows: 1, Cols: n}
	if len(m.Data) > 0 {
		part.Data = m.Data[4*from : 4*(from+n)]
	}
	return part
}

// part returns some rows of a matrix. The blocks of all chunk sizes share it.
func (t *tensors) part(w *npu.Tensor, from, n int) *npu.Tensor {
	name := fmt.Sprintf("%s[%d:%d]", w.Name, from, from+n)
	if m := t.parts[name]; m != nil {
		return m
	}
	m, size := *w, w.Type.RowBytes(w.Cols)
	m.Name, m.Rows, m.Offset = name, n, w.Offset+int64(from*size)
	if len(w.Data) == 0 { // it could not be found
		return &m
	}
	m.Data = w.Data[from*size : (from+n)*size]
	t.parts[name] = &m
	return &m
}
