package pass

import (
	"maps"

	"tandem/npu"
)

// FoldConstants multiplies constants that follow each other: two scales, two vectors, a scale and a vector;
// and drops a scale by 1.
func FoldConstants(g *npu.Graph) (*npu.Graph, error) {
	var failed error
	out := rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
		if n.Op == npu.OpScale && n.Scale == 1 {
			return n.Args[0]
		}
		if n.Op != npu.OpScale && n.Op != npu.OpMul {
			return r.add(n)
		}
		before := *r.node(n.Args[0])
		switch {
		case before.Op == npu.OpScale && n.Op == npu.OpScale:
			before.Scale *= n.Scale
			return r.add(before)
		case before.Op == npu.OpMul && n.Op == npu.OpScale:
			w, err := folded(before.Weight, func(_, _ int) float32 { return n.Scale })
			if err != nil {
				failed = err
			}
			before.Weight = w
			return r.add(before)
		case n.Op == npu.OpMul && (before.Op == npu.OpScale || before.Op == npu.OpMul):
			by := func(_, _ int) float32 { return before.Scale }
			if before.Op == npu.OpMul {
				v, err := values(before.Weight)
				if err != nil {
					failed = err
					return r.add(n)
				}
				by = func(_, col int) float32 { return v[col] }
			}
			w, err := folded(n.Weight, by)
			if err != nil {
				failed = err
			}
			n.Weight, n.Args = w, before.Args
		}
		return r.add(n)
	})
	return out, failed
}

// FoldNorms multiplies a norm's weights into the products that read it. A product with quantised weights,
// and an adapter's factor, go on reading the norm itself.
func FoldNorms(g *npu.Graph) (*npu.Graph, error) {
	var failed error
	out := rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
		if n.Op == npu.OpMatMul && folds(n.Weight) {
			if mul := *r.node(n.Args[0]); mul.Op == npu.OpMul {
				v, err := values(mul.Weight)
				if err == nil {
					n.Weight, err = folded(n.Weight, func(_, col int) float32 { return v[col] })
				}
				if err != nil {
					failed = err
				}
				n.Args = mul.Args
			}
		}
		return r.add(n)
	})
	return out, failed
}

// FoldScales multiplies scales into the weights before them, through rotations and sums. Where it comes to
// an adapter's factor, the factor must be multiplied before it is handed over: factors collects by what,
// by name; a nil map leaves such scales where they are.
func FoldScales(factors map[string]float32) Pass {
	return func(g *npu.Graph) (*npu.Graph, error) {
		var failed error
		var local map[string]float32 // of this graph: other chunk sizes have the same factors
		if factors != nil {
			local = map[string]float32{}
			defer func() { maps.Copy(factors, local) }()
		}
		uses := make([]int, len(g.Nodes))
		for _, n := range g.Nodes {
			for _, a := range n.Args {
				uses[a]++
			}
		}
		out := rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
			if n.Op != npu.OpScale {
				return r.add(n)
			}
			f := scaleFolder{r: r, by: n.Scale, factors: local}
			if !f.can(g, uses, g.Nodes[i].Args[0]) {
				return r.add(n)
			}
			v := f.scaled(n.Args[0])
			if f.err != nil {
				failed = f.err
			}
			return v
		})
		return out, failed
	}
}

// scaleFolder multiplies a value by a number by multiplying the weights that it is made of.
type scaleFolder struct {
	r       *rewriter
	by      float32
	factors map[string]float32
	err     error
}

// can reports whether the value of the old graph, which nothing else reads, can be multiplied at its roots.
func (f *scaleFolder) can(g *npu.Graph, uses []int, v npu.Value) bool {
	n := &g.Nodes[v]
	if uses[v] != 1 {
		return false
	}
	switch n.Op {
	case npu.OpMatMul:
		return folds(n.Weight)
	case npu.OpMul, npu.OpScale:
		return true
	case npu.OpFactor:
		return f.factors != nil
	case npu.OpRope:
		return f.can(g, uses, n.Args[0])
	case npu.OpAdd:
		return f.can(g, uses, n.Args[0]) && f.can(g, uses, n.Args[1])
	}
	return false
}

// scaled returns the value of the new graph times the number.
func (f *scaleFolder) scaled(v npu.Value) npu.Value {
	n := *f.r.node(v)
	n.Args = append([]npu.Value(nil), n.Args...)
	by := func(_, _ int) float32 { return f.by }
	switch n.Op {
	case npu.OpMatMul, npu.OpMul:
		if n.Weight, f.err = folded(n.Weight, by); f.err == nil && n.Bias != nil {
			n.Bias, f.err = folded(n.Bias, by)
		}
	case npu.OpScale:
		n.Scale *= f.by
	case npu.OpFactor:
		if old, ok := f.factors[n.Factor.Name]; ok {
			f.factors[n.Factor.Name] = old * f.by
		} else {
			f.factors[n.Factor.Name] = f.by
		}
		return v
	default:
		for j, a := range n.Args {
			n.Args[j] = f.scaled(a)
		}
	}
	return f.r.add(n)
}
