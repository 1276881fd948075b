package ggml

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/pass"
	"tandem/npu/quant"
	"tandem/npu/reference"
)

const (
	loraRank  = 4
	loraScale = 0.5
)

// adaptable returns the probe with names for adapters.
func adaptable() *npu.Graph {
	g := probe(npu.HalfSplit)
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == npu.OpMatMul {
			n.Weight.Name = fmt.Sprintf("blk.0.attn_%d.weight", i)
		}
	}
	return g
}

func wave(name string, rows, cols int, f func(j int) float64) *npu.Tensor {
	x := make([]float32, rows*cols)
	for j := range x {
		x[j] = float32(f(j))
	}
	t := &npu.Tensor{Name: name, Type: npu.F32, Rows: rows, Cols: cols, Data: make([]byte, 4*len(x))}
	if err := quant.Quantize(npu.F32, t.Data, x); err != nil {
		panic(err)
	}
	return t
}

// adapter returns factors for every product of a graph.
func adapter(g *npu.Graph, seed int) map[string]*npu.Tensor {
	all := map[string]*npu.Tensor{}
	for i, n := range g.Nodes {
		if n.Op == npu.OpMatMul {
			a, b := pass.FactorA(n.Weight.Name), pass.FactorB(n.Weight.Name)
			all[a] = wave(a, loraRank, n.Weight.Cols, func(j int) float64 { return 0.2 * math.Sin(float64(j*j*seed+i)) })
			all[b] = wave(b, loraRank, n.Weight.Rows, func(j int) float64 { return 0.4 * math.Cos(float64(j*j*seed+i)) })
		}
	}
	return all
}

func floats(t *npu.Tensor) []float32 {
	x := make([]float32, t.Rows*t.Cols)
	if err := quant.Dequantize(t.Type, x, t.Data); err != nil {
		panic(err)
	}
	return x
}

// merged returns the graph with the adapter in its weights: W + scale·B·A (Samsung Eq. 1).
func merged(g *npu.Graph, factors map[string]*npu.Tensor) *npu.Graph {
	out := *g
	out.Nodes = append([]npu.Node(nil), g.Nodes...)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if n.Op != npu.OpMatMul {
			continue
		}
		w, a, b := floats(n.Weight), floats(factors[pass.FactorA(n.Weight.Name)]), floats(factors[pass.FactorB(n.Weight.Name)])
		cols := n.Weight.Cols
		n.Weight = wave(n.Weight.Name, n.Weight.Rows, cols, func(j int) float64 {
			sum := 0.0
			for k := range loraRank {
				sum += float64(b[npu.FactorAt(loraRank, n.Weight.Rows, k, j/cols)]) * float64(a[k*cols+j%cols])
			}
			return float64(w[j]) + loraScale*sum
		})
	}
	return &out
}

// A program with adapters as inputs agrees with native with the adapter merged into the weights, and with the reference with
// the same inputs. So do its keys and values, even if the adapter and the number of rows change from run to run.
func TestFactorsAgreeWithNative(t *testing.T) { each(t, 1, testFactorsAgreeWithNative) }

func testFactorsAgreeWithNative(t *testing.T, d *Device) {
	n, r := native.New(1), reference.New()
	defer n.Close()
	base := adaptable()
	adapted, err := pass.AddLoRA(loraRank, loraScale)(base)
	if err != nil {
		t.Fatal(err)
	}
	first, second := adapter(base, 1), adapter(base, 2)
	steps := []struct {
		factors map[string]*npu.Tensor
		rows    int
	}{{first, 3}, {second, 1}, {second, 4}, {first, 1}}
	var adapters []*npu.Adapter
	one, two := &npu.Adapter{Factors: first}, &npu.Adapter{Factors: second}
	adapters = append(adapters, one, two, two, one)
	compile := func(d npu.Device, g *npu.Graph) npu.Program {
		p, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	run := func(program func(step int) npu.Program) (all []float32) {
		kv, at := probeCache(1, 40, 60, 32), 40
		for i, s := range steps {
			a := npu.Args{Rows: s.rows, X: make([]float32, s.rows*64), Out: make([]float32, s.rows*64),
				Adapters: slices.Repeat([]*npu.Adapter{adapters[i]}, s.rows)}
			for j := range a.X {
				a.X[j] = float32(math.Sin(float64(j*j + 64*at)))
			}
			for range s.rows {
				a.Positions, a.KV, at = append(a.Positions, int32(at)), append(a.KV, kv), at+1
			}
			if err := program(i).Run(a); err != nil {
				t.Fatal(err)
			}
			all = append(all, a.Out...)
		}
		for _, c := range [][]uint16{kv.Spans[1].K[0], kv.Spans[1].V[0]} {
			for _, v := range c[20*32 : (at-20)*32] { // what the rows wrote: the second span begins at 20
				all = append(all, quant.F16ToF32(v))
			}
		}
		return all
	}
	onReference, onGGML := compile(r, adapted), compile(d, adapted)
	got := run(func(int) npu.Program { return onGGML })
	largest := func(want []float32) (off float64) {
		for i, v := range want {
			if diff := math.Abs(float64(v - got[i])); !(diff <= off) {
				off = diff
			}
		}
		return off
	}
	const bound = 0.02 // as for joined layers: keys and values are F16
	if off := largest(run(func(int) npu.Program { return onReference })); !(off < bound) {
		t.Errorf("off by %.3g from the reference with the same inputs", off)
	}
	if off := largest(run(func(i int) npu.Program { return compile(n, merged(base, steps[i].factors)) })); !(off < bound) {
		t.Errorf("off by %.3g from native with the adapter in its weights", off)
	}
	if off := largest(run(func(int) npu.Program { return compile(n, base) })); !(off > 10*bound) {
		t.Errorf("native without the adapter is off by only %.3g, so this test proves nothing", off)
	}
}

// Nodes that share a matrix, such as single heads, use their own rows of it.
func TestFactorRows(t *testing.T) { each(t, 1, testFactorRows) }

func testFactorRows(t *testing.T, d *Device) {
	const in, rows = 32, 11
	parts := func(cuts ...int) *npu.Graph {
		g := npu.NewGraph("rows", 2)
		x, from := g.Input(in), 0
		var list []npu.Value
		for _, n := range cuts {
			g.Nodes = append(g.Nodes, npu.Node{Op: npu.OpFactor, Args: []npu.Value{x}, Width: n,
				Factor: &npu.Factor{Name: "f", Rows: rows, Cols: in, From: from}})
			list, from = append(list, npu.Value(len(g.Nodes)-1)), from+n
		}
		g.Concat(list...)
		return g
	}
	f := map[string]*npu.Tensor{"f": wave("f", rows, in, func(j int) float64 { return math.Sin(float64(j * j)) })}
	var out [2][]float32
	for i, dev := range []npu.Device{d, reference.New()} {
		p, err := dev.Compile(parts(3, 1, 7))
		if err != nil {
			t.Fatal(err)
		}
		a := npu.Args{Rows: 1, X: make([]float32, in), Out: make([]float32, rows), Adapters: []*npu.Adapter{{Factors: f}}}
		for j := range a.X {
			a.X[j] = float32(math.Cos(float64(3 * j)))
		}
		if err := p.Run(a); err != nil {
			t.Fatal(err)
		}
		out[i] = a.Out
	}
	for i, v := range out[1] {
		if off := math.Abs(float64(v - out[0][i])); !(off < 1e-3) {
			t.Errorf("row %d gives %v, the reference %v", i, out[0][i], v)
		}
	}
}

func TestFactorsAreChecked(t *testing.T) {
	d := need(t, 1)
	g := npu.NewGraph("g", 2)
	x := g.Input(32)
	g.Nodes = append(g.Nodes, npu.Node{Op: npu.OpFactor, Args: []npu.Value{x}, Width: 4, Factor: &npu.Factor{Name: "f", Rows: 8, Cols: 32}})
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	short := *numbers("f", npu.F32, 8, 32)
	short.Data = short.Data[:4*32*4]
	for name, f := range map[string]*npu.Tensor{
		"other rows": numbers("f", npu.F32, 9, 32), "other columns": numbers("f", npu.F32, 8, 16),
		"another type": numbers("f", npu.BF16, 8, 32), "cut off": &short,
	} {
		a := npu.Args{Rows: 1, X: make([]float32, 32), Out: make([]float32, 4), Adapters: []*npu.Adapter{{Factors: map[string]*npu.Tensor{"f": f}}}}
		if err := p.Run(a); err == nil || !strings.Contains(err.Error(), `"f"`) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Rows of one run may have more adapters than the device holds, of several ranks, or none. Each agrees with the reference.
func TestMixedRows(t *testing.T) { each(t, 1, testMixedRows) }

func testMixedRows(t *testing.T, d *Device) {
	const in, out, rank, rows = 32, 48, 8, 24
	g := npu.NewGraph("mixed", rows)
	x := g.Input(in)
	y := g.MatMul(x, wave("w", out, in, func(j int) float64 { return 0.2 * math.Sin(float64(j*j)) }), nil)
	g.LoRA(y, x, rank, "a", "b")
	var list []*npu.Adapter
	for i := range maxSlots + 3 {
		r := 1 + i%rank
		list = append(list, &npu.Adapter{Factors: map[string]*npu.Tensor{
			"a": wave("a", r, in, func(j int) float64 { return 0.3 * math.Sin(float64(j*j*(i+2))) }),
			"b": wave("b", r, out, func(j int) float64 { return 0.3 * math.Cos(float64(j*j*(i+3))) })}})
	}
	list = append(list, nil)
	programs := make([]npu.Program, 2)
	for i, dev := range []npu.Device{d, reference.New()} {
		var err error
		if programs[i], err = dev.Compile(g); err != nil {
			t.Fatal(err)
		}
	}
	for _, some := range [][]*npu.Adapter{list, {nil}, list[:1], list[3:5], {list[9], nil}} {
		a := npu.Args{Rows: rows, X: waves(rows*in, 5)}
		for i := range rows {
			a.Adapters = append(a.Adapters, some[i%len(some)])
		}
		var outs [2][]float32
		for i, p := range programs {
			a.Out = make([]float32, rows*out)
			if err := p.Run(a); err != nil {
				t.Fatal(err)
			}
			outs[i] = a.Out
		}
		if off := distance(outs[0], outs[1]); !(off < 2e-3) {
			t.Errorf("%d adapters: off by %.3g", len(some), off)
		}
	}
}

// A graph that holds two adapters and keeps one of them by a mask agrees with the reference.
func TestSelect(t *testing.T) { each(t, 1, testSelect) }

func testSelect(t *testing.T, d *Device) {
	const in, rank, rows = 32, 4, 5
	g := npu.NewGraph("select", rows)
	x := g.Input(in)
	g.Select(g.MatMul(x, wave("w", 2*rank, in, func(j int) float64 { return 0.2 * math.Sin(float64(j*j)) }), nil), 2)
	a := npu.Args{Rows: rows, X: waves(rows*in, 5), Adapters: []*npu.Adapter{{Task: 1}, nil, {Task: 0}, {Task: 1}, nil}}
	var outs [2][]float32
	for i, dev := range []npu.Device{d, reference.New()} {
		p, err := dev.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		a.Out = make([]float32, rows*2*rank)
		if err := p.Run(a); err != nil {
			t.Fatal(err)
		}
		outs[i] = a.Out
	}
	if off := distance(outs[0], outs[1]); !(off < 1e-3) {
		t.Errorf("off by %.3g", off)
	}
}
