package programs

import (
	"testing"

	"tandem/npu"
	"tandem/npu/reference"
)

func tensor(name string, rows, cols int) *npu.Tensor {
	return &npu.Tensor{Name: name, Type: npu.F32, Rows: rows, Cols: cols, Data: make([]byte, 4*rows*cols)}
}

func TestGraphsAreCompiledOnce(t *testing.T) {
	w, v := tensor("w", 8, 8), tensor("w", 8, 8)
	graph := func(chunk int, scale float32, w *npu.Tensor) *npu.Graph {
		g := npu.NewGraph("g", chunk)
		x := g.Input(8)
		q := g.MatMul(x, w, nil)
		g.Add(x, g.Attention(q, q, q, &npu.Attention{Heads: 1, KVHeads: 1, HeadDim: 8, Scale: scale}))
		return g
	}
	c := New(reference.New())
	first, err := c.Compile(graph(4, 1, w))
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Compile(graph(4, 1, w))
	if err != nil || again != first || c.Hits() != 1 {
		t.Errorf("compiling again: %v", err)
	}
	for name, g := range map[string]*npu.Graph{"chunk": graph(5, 1, w), "scale": graph(4, 2, w), "weights": graph(4, 1, v)} {
		if p, err := c.Compile(g); err != nil || p == first {
			t.Errorf("a different %s gives the same program: %v", name, err)
		}
	}
	if _, err := c.Compile(npu.NewGraph("empty", 1)); err == nil {
		t.Error("an empty graph compiles")
	}
	span := npu.Span{Len: 4, K: [][]uint16{make([]uint16, 32)}, V: [][]uint16{make([]uint16, 32)}}
	kv := &npu.KV{Spans: []npu.Span{span}}
	for range 3 {
		a := npu.Args{Rows: 2, X: make([]float32, 16), Out: make([]float32, 16), Positions: []int32{0, 1}, KV: []*npu.KV{kv, kv}}
		if err := first.Run(a); err != nil {
			t.Fatal(err)
		}
	}
	if first.Run(npu.Args{}) == nil {
		t.Error("an empty run succeeds")
	}
	i := c.Programs()[0]
	if i.Runs != 3 || i.Rows != 6 || i.Weights != 256 || i.Nodes != 4 || i.Unshared != 4*4*8*4 || i.Activations > i.Unshared || i.Activations < 2*128 {
		t.Errorf("%+v", i)
	}
	traits := New(many{c.Device}).Traits()
	if i.Compiled.Name != "g" || traits.LayersAtOnce != 7 || traits.RowsAtOnce != 9 {
		t.Errorf("%v, %+v", i.Compiled, traits)
	}
	if len(c.Programs()) != 4 {
		t.Errorf("%d programs", len(c.Programs()))
	}
}

// many is a device that computes seven layers and nine rows at once.
type many struct{ npu.Device }

func (many) Traits() npu.Traits { return npu.Traits{LayersAtOnce: 7, RowsAtOnce: 9} }

// Graphs with other experts, or with other parameters of an operation, are other programs. The weights of experts count.
func TestEveryParameterCounts(t *testing.T) {
	router, one, two, kernel := tensor("router", 2, 8), tensor("one", 8, 8), tensor("two", 8, 8), tensor("kernel", 8, 3)
	expert := func(w *npu.Tensor) *npu.Graph {
		g := npu.NewGraph("expert", 4)
		g.MatMul(g.Input(8), w, nil)
		return g
	}
	experts := func(second *npu.Tensor, used int) *npu.Graph {
		g := npu.NewGraph("g", 4)
		x := g.Input(8)
		g.Experts(x, g.MatMul(x, router, nil), &npu.Experts{Graphs: []*npu.Graph{expert(one), expert(second)}, TopK: used})
		return g
	}
	of := func(build func(g *npu.Graph, x npu.Value)) *npu.Graph {
		g := npu.NewGraph("g", 4)
		build(g, g.Input(8))
		return g
	}
	c := New(reference.New())
	for i, g := range []*npu.Graph{experts(two, 1), experts(one, 1), experts(two, 2),
		of(func(g *npu.Graph, x npu.Value) { g.Temper(x, .1, 8) }), of(func(g *npu.Graph, x npu.Value) { g.Temper(x, .1, 16) }),
		of(func(g *npu.Graph, x npu.Value) { g.Select(x, 2) }), of(func(g *npu.Graph, x npu.Value) { g.Select(x, 4) }),
		of(func(g *npu.Graph, x npu.Value) { g.ShortConv(x, kernel, 0) }), of(func(g *npu.Graph, x npu.Value) { g.ShortConv(x, kernel, 1) }),
	} {
		if _, err := c.Compile(g); err != nil || len(c.Programs()) != i+1 {
			t.Errorf("graph %d: %d programs, %v\n%v", i, len(c.Programs()), err, g)
		}
	}
	if c.Compile(experts(two, 1)); c.Hits() != 1 {
		t.Errorf("%d graphs were compiled before, want 1", c.Hits())
	}
	for i, want := range []int64{4 * 8 * (2 + 8 + 8), 4 * 8 * (2 + 8)} {
		if got := c.Programs()[i].Weights; got != want {
			t.Errorf("program %d has %d bytes of weights, want %d", i, got, want)
		}
	}
}
