package pass

import (
	"fmt"
	"math"

	"tandem/npu"
)

// SplitHeads gives every query head its own attention node, and cuts the products, rotations and adapters (LoRA-B) before
// it to the head, so that heads can run on parallel cores (Samsung §3.3). Heads that share keys and values store the same
// numbers in the same place.
func SplitHeads(g *npu.Graph) (*npu.Graph, error) {
	var failed error
	out := rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
		if n.Op != npu.OpAttention || n.Attention.Heads == 1 {
			return r.add(n)
		}
		s := splitter{r: r, made: map[cut]npu.Value{}}
		a := n.Attention
		var heads []npu.Value
		for h := range a.Heads {
			kv := h / (a.Heads / a.KVHeads)
			one := *a
			one.Heads, one.KVHeads, one.FirstKVHead, one.CacheKVHeads = 1, 1, a.FirstKVHead+kv, a.CacheHeads()
			if a.Sinks != nil {
				sink := *a.Sinks
				sink.Name, sink.Cols, sink.Data = fmt.Sprintf("%s[%d]", sink.Name, h), 1, sink.Data[4*h:4*h+4]
				one.Sinks = &sink
			}
			args := make([]npu.Value, 3)
			for j, at := range []int{h, kv, kv} {
				v, err := s.part(cut{n.Args[j], at * a.HeadDim, a.HeadDim})
				if err != nil {
					failed = err
					return r.add(n)
				}
				args[j] = v
			}
			heads = append(heads, r.add(npu.Node{Op: npu.OpAttention, Args: args, Width: a.HeadDim, Attention: &one}))
		}
		return r.add(npu.Node{Op: npu.OpConcat, Args: heads, Width: n.Width})
	})
	return out, failed
}

// cut is a range of a value's columns.
type cut struct {
	v           npu.Value
	from, width int
}

type splitter struct {
	r    *rewriter
	made map[cut]npu.Value
}

// part returns a value with only some columns of another, by computing only those.
func (s *splitter) part(c cut) (npu.Value, error) {
	if v, ok := s.made[c]; ok {
		return v, nil
	}
	n := *s.r.node(c.v)
	n.Width = c.width
	args := append([]npu.Value(nil), n.Args...)
	n.Args = args
	switch n.Op {
	case npu.OpMatMul:
		n.Weight = rows(n.Weight, c.from, c.width)
		n.Bias = columns(n.Bias, c.from, c.width)
	case npu.OpQuantized:
		q, size := *n.Quantized, (n.Quantized.Cols+1)/2
		q.Name, q.Rows = fmt.Sprintf("%s[%d:%d]", q.Name, c.from, c.from+c.width), c.width
		q.Weights, q.Scales = q.Weights[c.from*size:(c.from+c.width)*size], q.Scales[c.from:c.from+c.width]
		n.Quantized, n.Bias = &q, columns(n.Bias, c.from, c.width)
	case npu.OpFactor:
		f := *n.Factor
		f.From += c.from
		n.Factor = &f
	case npu.OpRope, npu.OpScale, npu.OpAdd, npu.OpTemper:
		for j, a := range args {
			v, err := s.part(cut{a, c.from, c.width})
			if err != nil {
				return 0, err
			}
			args[j] = v
		}
	case npu.OpRMSNorm: // of each head: of this one, the same
		if n.Weight.Cols != c.width {
			return 0, fmt.Errorf("a head cannot be cut out of a norm over %d elements", n.Weight.Cols)
		}
		v, err := s.part(cut{args[0], c.from, c.width})
		if err != nil {
			return 0, err
		}
		args[0] = v
	default:
		return 0, fmt.Errorf("a head cannot be cut out of %v", n.Op)
	}
	v := s.r.add(n)
	s.made[c] = v
	return v, nil
}

// rows returns some rows of a matrix, without copying.
func rows(t *npu.Tensor, from, n int) *npu.Tensor {
	part := *t
	size := t.Type.RowBytes(t.Cols)
	part.Name, part.Rows, part.Data = fmt.Sprintf("%s[%d:%d]", t.Name, from, from+n), n, t.Data[from*size:(from+n)*size]
	return &part
}

// columns returns some elements of a vector, without copying; nil if t is nil.
func columns(t *npu.Tensor, from, n int) *npu.Tensor {
	if t == nil {
		return nil
	}
	part := *t
	part.Name, part.Cols = fmt.Sprintf("%s[%d:%d]", t.Name, from, from+n), n
	part.Data = t.Data[t.Type.RowBytes(from):t.Type.RowBytes(from+n)]
	return &part
}

// TransposeKeys lets the cache hold keys by column, so that a product with them needs no transposition (Samsung Table 10,
// K-transposed).
func TransposeKeys(g *npu.Graph) (*npu.Graph, error) {
	return rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
		if n.Op == npu.OpAttention {
			a := *n.Attention
			a.Columns, n.Attention = true, &a
		}
		return r.add(n)
	}), nil
}

// Convolve turns products into convolutions with 1×1 kernels, for backends that are faster at those.
func Convolve(g *npu.Graph) (*npu.Graph, error) {
	return rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
		if n.Op == npu.OpMatMul {
			n.Op = npu.OpConv
		}
		return r.add(n)
	}), nil
}

// quantize rounds the weights of products to 4 bits with a scale for each output channel, and their inputs to 8 bits with
// one scale. largest[name] is the largest magnitude that calibration saw in the input of the product with weights of that
// name. Products that are not in it stay as they are.
func quantize(largest map[string]float32) Pass {
	return func(g *npu.Graph) (*npu.Graph, error) {
		var failed error
		out := rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
			top, ok := largest[nameOf(&n)]
			if n.Op != npu.OpMatMul || !ok || !(top > 0) {
				return r.add(n)
			}
			q, err := int4(n.Weight, top/127)
			if err != nil {
				failed = err
				return r.add(n)
			}
			n.Op, n.Weight, n.Quantized = npu.OpQuantized, nil, q
			return r.add(n)
		})
		return out, failed
	}
}

func nameOf(n *npu.Node) string {
	if n.Weight == nil {
		return ""
	}
	return n.Weight.Name
}

// int4 rounds a matrix to 4 bits by channel. It tries a few scales for a channel, from the largest magnitude down, and
// takes the one with the least squared error.
func int4(t *npu.Tensor, activation float32) (*npu.Quantized, error) {
	v, err := values(t)
	if err != nil {
		return nil, err
	}
	q := &npu.Quantized{Name: t.Name, Rows: t.Rows, Cols: t.Cols, Weights: make([]byte, t.Rows*((t.Cols+1)/2)),
		Scales: make([]float32, t.Rows), Activation: activation}
	size := (t.Cols + 1) / 2
	for r := range t.Rows {
		row := v[r*t.Cols:][:t.Cols]
		scale := channelScale(row)
		q.Scales[r] = scale
		for i, x := range row {
			q.Weights[r*size+i/2] |= byte(nibble(x, scale)+8) << (4 * (i & 1))
		}
	}
	return q, nil
}

func nibble(x, scale float32) int {
	if scale == 0 {
		return 0
	}
	return int(max(-8, min(7, math.RoundToEven(float64(x)/float64(scale)))))
}

func channelScale(row []float32) float32 {
	var top float32
	for _, x := range row {
		top = max(top, x, -x)
	}
	best, least := float32(0), math.Inf(1)
	for try := range 12 {
		scale := top / 7 * (1 - 0.05*float32(try))
		var sum float64
		for _, x := range row {
			e := float64(x) - float64(scale)*float64(nibble(x, scale))
			sum += e * e
		}
		if sum < least {
			best, least = scale, sum
		}
	}
	return best
}
