package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"tandem/npu"
)

func TestPoolCoversEveryIndexOnce(t *testing.T) {
	p := newPool(3)
	defer p.close()
	var wg sync.WaitGroup
	for range 4 { // from several goroutines at once
		wg.Go(func() {
			for _, n := range []int{1, 2, 7, 100, 1000} {
				counts := make([]atomic.Int32, n)
				p.each(n, shareFrom, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						counts[i].Add(1)
					}
				})
				for i := range counts {
					if c := counts[i].Load(); c != 1 {
						t.Errorf("index %d of %d was visited %d times", i, n, c)
					}
				}
			}
		})
	}
	wg.Wait()
}

// Idle helpers sleep, and they exit when the device is closed. A synctest bubble waits until every goroutine is blocked and
// fails if one is left when the test returns.
func TestPoolParksAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(4)
		ran := 0
		d.pool.each(10, 1, func(lo, hi int) { ran += hi - lo }) // too little to share, so there is no race
		synctest.Wait()
		if ran != 10 {
			t.Errorf("%d of 10", ran)
		}
		d.Close()
		d.Close() // a second call does nothing
	})
}

// A device that Second returns has threads of its own, reads the same packed weights, and gives the same bits at the same time.
func TestSecondDevice(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const rows, in, out = 5, 64, 96
	g := npu.NewGraph("g", rows)
	w := &npu.Tensor{Name: "w", Type: npu.Q4_0, Rows: out, Cols: in, Data: randomBlocks(r, npu.Q4_0, out*in)}
	g.MatMul(g.Input(in), w, nil)
	one := New(3)
	defer one.Close()
	two := one.Traits().Second().(*Device)
	defer two.Close()
	if two.pool == one.pool || two.pool.helpers != 0 {
		t.Errorf("the second group has %d helpers", two.pool.helpers)
	}
	p, err := one.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	q, err := two.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	if a := p.(*program).packed[1]; a == nil || a != q.(*program).packed[1] {
		t.Error("the weights are packed twice")
	}
	x := normal(r, rows*in, 0)
	want := runOn(t, one, g, x, nil)
	var wg sync.WaitGroup
	for _, program := range []npu.Program{p, q} {
		wg.Go(func() {
			for range 20 {
				y := make([]float32, rows*out)
				if err := program.Run(npu.Args{Rows: rows, X: x, Out: y}); err != nil || !slices.Equal(y, want) {
					t.Errorf("other bits, or %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func vector(name string, n int) *npu.Tensor {
	return &npu.Tensor{Name: name, Type: npu.F32, Rows: 1, Cols: n, Data: make([]byte, 4*n)}
}

func TestCompileAndRunRefuse(t *testing.T) {
	d := New(1)
	defer d.Close()
	if !strings.Contains(d.Name(), "1 thread)") {
		t.Errorf("name %q", d.Name())
	}
	g := npu.NewGraph("g", 2)
	g.Add(g.Input(4), 7)
	if _, err := d.Compile(g); err == nil {
		t.Error("Compile accepted a graph with mismatched shapes")
	}
	g = npu.NewGraph("g", 2)
	half := &npu.Tensor{Name: "n", Type: npu.F16, Rows: 1, Cols: 4, Data: make([]byte, 8)}
	g.RMSNorm(g.Input(4), half, 1e-5)
	if _, err := d.Compile(g); err == nil || !strings.Contains(err.Error(), "must be F32") {
		t.Errorf("Compile with an F16 norm: %v", err)
	}

	g = npu.NewGraph("layer", 2)
	x := g.Input(4)
	h := g.RMSNorm(x, vector("n", 4), 1e-5)
	g.Attention(g.Rope(h, &npu.Rope{HeadDim: 4, Dims: 4, Base: 10, Linear: 1}), h, h, &npu.Attention{Layer: 1, Heads: 1, KVHeads: 1, HeadDim: 4})
	layer, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	e := npu.NewGraph("embed", 2)
	e.Embed(&npu.Tensor{Name: "e", Type: npu.F32, Rows: 3, Cols: 4, Data: make([]byte, 48)})
	embed, err := d.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]float32, 8)
	kv := &npu.KV{Spans: []npu.Span{{Len: 3, K: make([][]uint16, 1), V: make([][]uint16, 1)}}}
	short := &npu.KV{Spans: []npu.Span{{Len: 3, K: [][]uint16{nil, make([]uint16, 12)}, V: [][]uint16{nil, make([]uint16, 11)}}}}
	for _, c := range []struct {
		p    npu.Program
		a    npu.Args
		want string
	}{
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{2}, KV: []*npu.KV{short}}, "slots without memory in layer 1"},
		{layer, npu.Args{Rows: 3, X: buf, Out: buf}, "takes 1 to 2 rows, not 3"},
		{layer, npu.Args{Rows: 2, X: buf, Out: buf[:7]}, "output too short"},
		{layer, npu.Args{Rows: 2, X: buf[:7], Out: buf}, "input has 7 values"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf}, "0 positions"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{0}}, "0 caches"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{3}, KV: []*npu.KV{kv}}, "cache has no slot 3"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{1}, KV: []*npu.KV{kv}}, "in layer 1"},
		{embed, npu.Args{Rows: 2, Out: buf, Tokens: []int32{1}}, "1 tokens for 2 rows"},
		{embed, npu.Args{Rows: 2, Out: buf, Tokens: []int32{1, 3}}, "token 3 is out of range 0 to 2"},
	} {
		if err := c.p.Run(c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// Elementwise operations give the same bits for any number of rows and threads as for each row alone. There are enough rows
// for the threads to share.
func TestElementsDependOnlyOnTheirRow(t *testing.T) {
	const rows, width = 60, 1152
	r := rand.New(rand.NewPCG(9, 10))
	x, positions := awkward(r, rows*width), make([]int32, rows)
	for i := range positions {
		positions[i] = int32(r.IntN(500))
	}
	for _, pairing := range []npu.Pairing{npu.Adjacent, npu.HalfSplit} {
		g := npu.NewGraph("elements", rows)
		in := g.Input(width)
		turned := g.Rope(in, &npu.Rope{HeadDim: 48, Dims: 40, Base: 100, Linear: 1, Pairing: pairing})
		g.Nodes = append(g.Nodes, npu.Node{Op: npu.OpScale, Args: []npu.Value{turned}, Width: width, Scale: 0.3})
		g.Add(g.ReLU(turned+1), in)
		run := func(threads, from, rows int) []float32 {
			d := New(threads)
			defer d.Close()
			p, err := d.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float32, rows*width)
			if err := p.Run(npu.Args{Rows: rows, X: x[from*width:], Positions: positions[from:], Out: out}); err != nil {
				t.Fatal(err)
			}
			return out
		}
		var want []float32
		for i := range rows {
			want = append(want, run(1, i, 1)...)
		}
		for _, threads := range []int{1, 2, 5} {
			same(t, fmt.Sprintf("pairing %v, %d threads", pairing, threads), run(threads, 0, rows), want)
		}
	}
}
