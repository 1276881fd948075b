package native

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
)

// drawLayers returns a few small transformer layers that contain products of the same input and long-lived values.
func drawLayers(t *rapid.T, r *rand.Rand, chunk, width int) *npu.Graph {
	g := npu.NewGraph("layers", chunk)
	matrix := func(rows, cols int) *npu.Tensor { return filled("w", rows, normal(r, rows*cols, 0)) }
	x := g.Input(width)
	first := x
	for layer := range rapid.IntRange(1, 3).Draw(t, "layers") {
		h := g.RMSNorm(x, filled("n", 1, normal(r, width, 1)), 1e-5)
		rope := &npu.Rope{HeadDim: width, Dims: width, Base: 100, Linear: 1}
		// The products are computed together, before the nodes between them.
		q := g.Rope(g.MatMul(h, matrix(width, width), nil), rope)
		k := g.Rope(g.MatMul(h, matrix(width, width), nil), rope)
		v := g.MatMul(h, matrix(width, width), nil)
		x = g.Add(x, g.Attention(q, k, v, &npu.Attention{Layer: layer, Heads: 1, KVHeads: 1, HeadDim: width, Scale: .1}))
		if ff := rapid.IntRange(0, 3).Draw(t, "ff"); ff > 0 {
			x = g.Add(x, g.MatMul(g.SwiGLU(g.MatMul(x, matrix(32*ff, width), nil), g.MatMul(x, matrix(32*ff, width), nil)), matrix(width, 32*ff), nil))
		}
	}
	if rapid.Bool().Draw(t, "concatenate") {
		g.Concat(first, x, first)
	}
	return g
}

// Values share memory in the arena. The results are the same as in an arena in which each value has its own memory, whatever
// the memory contained before.
func TestValuesShareTheArena(t *testing.T) {
	d := New(1)
	defer d.Close()
	rapid.Check(t, func(t *rapid.T) {
		const width = 32 // offsets are multiples of 32 numbers
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := rapid.IntRange(1, 5).Draw(t, "rows")
		compiled, err := d.Compile(drawLayers(t, r, 5, width))
		if err != nil {
			t.Fatal(err)
		}
		shared := compiled.(*program)
		alone := *shared
		alone.offset, alone.room = nil, 0
		for _, n := range alone.graph.Nodes {
			alone.offset, alone.room = append(alone.offset, alone.room), alone.room+n.Width
		}
		if shared.room > alone.room*3/4 {
			t.Errorf("arena has %d values per row, %d without sharing", shared.room, alone.room)
		}
		x := normal(r, rows*width, 0)
		compute := func(p *program) []float32 {
			cache := npu.Span{Len: 5}
			for range 3 {
				cache.K, cache.V = append(cache.K, make([]uint16, 5*width)), append(cache.V, make([]uint16, 5*width))
			}
			kv := &npu.KV{Spans: []npu.Span{cache}}
			a := npu.Args{Rows: rows, X: x, Out: make([]float32, rows*p.graph.Result().Width), Positions: []int32{0, 1, 2, 3, 4}, KV: slices.Repeat([]*npu.KV{kv}, 5)}
			if err := p.Run(a); err != nil {
				t.Fatal(err)
			}
			return a.Out
		}
		want := compute(&alone)
		used := d.runs.Get().(*run)
		for i := range used.arena {
			used.arena[i] = float32(math.NaN())
		}
		d.runs.Put(used)
		if got := compute(shared); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwith separate memory for each value: %v", got, want)
		}
	})
}
