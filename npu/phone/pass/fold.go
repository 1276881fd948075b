package pass

import (
	"fmt"
	"maps"

	"tandem/npu"
)

// FoldConstants multiplies constants that follow each other: two scales, two vectors, or a scale and a vector. It drops
// scales by 1.
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

// FoldNorms multiplies a norm's weights into the products that read it. Products with quantised weights and adapters'
// factors go on reading the norm itself.
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

// FoldScales multiplies scales into the weights before them, through rotations and sums. If the weights are an adapter's
// factor, the caller must multiply the factor itself: FoldScales enters into factors, for every factor by name, the
// number to multiply by, 1 if nothing was folded. If factors is nil, such scales stay. A factor has one scale: if several
// nodes with the same factor (see SplitHeads) would give it different ones, their scales stay. Graphs of several chunk
// sizes may share the map. It is an error if a graph would change an entry.
func FoldScales(factors map[string]float32) Pass {
	return func(g *npu.Graph) (*npu.Graph, error) {
		s := findScales(g, factors != nil)
		if err := s.hand(factors); err != nil {
			return nil, err
		}
		var failed error
		out := rewrite(g, func(r *rewriter, i int, n npu.Node) npu.Value {
			if !s.folds[i] {
				return r.add(n)
			}
			f := scaleFolder{r: r, by: n.Scale}
			v := f.scaled(n.Args[0])
			if f.err != nil {
				failed = f.err
			}
			return v
		})
		return out, failed
	}
}

// scales are a graph's scales, and the factors that they apply to.
type scales struct {
	g       *npu.Graph
	uses    []int
	factors bool      // whether factors may be multiplied too
	folds   []bool    // [nodes] scales that fold
	by      []float32 // [nodes] what to multiply factors by
}

// findScales marks the scales that fold. Unmarking a scale may give other factors different scales, so it repeats until
// every factor has one.
func findScales(g *npu.Graph, factors bool) *scales {
	s := &scales{g: g, uses: make([]int, len(g.Nodes)), factors: factors, folds: make([]bool, len(g.Nodes)), by: make([]float32, len(g.Nodes))}
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			s.uses[a]++
		}
	}
	for i, n := range g.Nodes {
		s.folds[i] = n.Op == npu.OpScale && s.can(n.Args[0])
	}
	for s.unmark() {
	}
	return s
}

// can reports whether the value can be multiplied at its roots. Nothing else may read it.
func (s *scales) can(v npu.Value) bool {
	n := &s.g.Nodes[v]
	if s.uses[v] != 1 {
		return false
	}
	switch n.Op {
	case npu.OpMatMul:
		return folds(n.Weight)
	case npu.OpMul, npu.OpScale:
		return true
	case npu.OpFactor:
		return s.factors
	case npu.OpRope:
		return s.can(n.Args[0])
	case npu.OpAdd:
		return s.can(n.Args[0]) && s.can(n.Args[1])
	}
	return false
}

// reach calls f for the factors among the value's roots. A scale that stays is a root itself.
func (s *scales) reach(v npu.Value, f func(factor npu.Value)) {
	switch n := &s.g.Nodes[v]; {
	case n.Op == npu.OpFactor:
		f(v)
	case n.Op == npu.OpRope || n.Op == npu.OpAdd || n.Op == npu.OpScale && s.folds[v]:
		for _, a := range n.Args {
			s.reach(a, f)
		}
	}
}

// unmark computes what to multiply each factor by. It unmarks the nearest scales of factors that would get different
// numbers in different nodes, and reports whether there were any.
func (s *scales) unmark() (some bool) {
	nearest := make([]int, len(s.g.Nodes)) // the scale of each factor, 0 for none: the first node is an input
	for i := range s.by {
		s.by[i] = 1
	}
	for i, n := range s.g.Nodes {
		if s.folds[i] {
			s.reach(n.Args[0], func(f npu.Value) {
				s.by[f] *= n.Scale
				if nearest[f] == 0 {
					nearest[f] = i
				}
			})
		}
	}
	one, several := map[string]float32{}, map[string]bool{}
	for i, n := range s.g.Nodes {
		if n.Op == npu.OpFactor {
			name := n.Factor.Name
			if by, seen := one[name]; seen && by != s.by[i] {
				several[name] = true
			}
			one[name] = s.by[i]
		}
	}
	for i, n := range s.g.Nodes {
		if n.Op == npu.OpFactor && several[n.Factor.Name] && nearest[i] != 0 {
			s.folds[nearest[i]], some = false, true
		}
	}
	return some
}

// hand enters what to multiply the graph's factors by.
func (s *scales) hand(factors map[string]float32) error {
	local := map[string]float32{}
	for i, n := range s.g.Nodes {
		if n.Op != npu.OpFactor || factors == nil {
			continue
		}
		name := n.Factor.Name
		if by, ok := factors[name]; ok && by != s.by[i] {
			return fmt.Errorf("graph %s: factor %q would be multiplied by %g, but by %g in an earlier graph: run both through the same passes, and give each FoldScales of a chain its own map", s.g.Name, name, s.by[i], by)
		}
		local[name] = s.by[i]
	}
	maps.Copy(factors, local)
	return nil
}

// scaleFolder multiplies a value by a number by multiplying the weights that it is computed from.
type scaleFolder struct {
	r   *rewriter
	by  float32
	err error
}

// scaled returns the value of the new graph times the number. It leaves factors to the caller.
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
		return v
	default:
		for j, a := range n.Args {
			n.Args[j] = f.scaled(a)
		}
	}
	return f.r.add(n)
}
