package native

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem/npu"
	"tandem/npu/quant"
	"tandem/npu/reference"
)

const adaptIn, adaptOut, adaptRank = 40, 300, 16 // four blocks, five, and a part of one

// adapted is a product with adapters as inputs (Samsung, Eq. 1–4), and the product without.
func adapted(r *rand.Rand, rows int) (with, without *npu.Graph) {
	w := filled("w", adaptOut, normal(r, adaptIn*adaptOut, 0))
	without = npu.NewGraph("base", rows)
	without.MatMul(without.Input(adaptIn), w, nil)
	with = npu.NewGraph("adapted", rows)
	x := with.Input(adaptIn)
	with.LoRA(with.MatMul(x, w, nil), x, adaptRank, "a", "b")
	return with, without
}

// someAdapter returns an adapter of the given rank and type, which may lack a factor.
func someAdapter(r *rand.Rand, typ npu.DType, rank int) *npu.Adapter {
	factor := func(name string, cols int) *npu.Tensor {
		f := &npu.Tensor{Name: name, Type: typ, Rows: rank, Cols: cols, Data: make([]byte, typ.RowBytes(rank*cols))}
		if err := quant.Quantize(typ, f.Data, normal(r, rank*cols, 0)); err != nil {
			panic(err)
		}
		return f
	}
	return &npu.Adapter{Factors: map[string]*npu.Tensor{"a": factor("a", adaptIn), "b": factor("b", adaptOut)}}
}

func runOn(t *testing.T, d npu.Device, g *npu.Graph, x []float32, adapters []*npu.Adapter) []float32 {
	t.Helper()
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	width := g.Nodes[0].Width
	y := make([]float32, len(x)/width*g.Result().Width)
	if err := p.Run(npu.Args{Rows: len(x) / width, X: x, Out: y, Adapters: adapters}); err != nil {
		t.Fatal(err)
	}
	return y
}

// In a batch whose rows have adapters of different ranks and types, or none, each row has the same bits as alone, for
// any kernels and threads, and agrees with the reference. Rows without an adapter have the bits of the graph without adapters.
func TestMixedBatchEqualsRowsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows = 9
	with, without := adapted(r, rows)
	none := someAdapter(r, npu.F16, 4)
	none.Factors = nil
	half := someAdapter(r, npu.F16, 4)
	delete(half.Factors, "b")
	kinds := []*npu.Adapter{nil, someAdapter(r, npu.F16, adaptRank), someAdapter(r, npu.F32, 3), someAdapter(r, npu.F16, 5), none, half}
	x, mix := normal(r, rows*adaptIn, 0), make([]*npu.Adapter, rows)
	var first []float32
	for i := range mix {
		mix[i] = kinds[i%len(kinds)]
	}
	for _, k := range available() {
		one, two := newDevice(1, k), newDevice(2, k)
		defer one.Close()
		defer two.Close()
		got, base := runOn(t, two, with, x, mix), runOn(t, one, without, x, nil)
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%s: the bits differ from plain Go's", k.name)
		}
		for i := range mix {
			row, in := got[i*adaptOut:][:adaptOut], x[i*adaptIn:][:adaptIn]
			if !slices.Equal(row, runOn(t, one, with, in, mix[i:i+1])) {
				t.Errorf("%s: row %d has different bits alone", k.name, i)
			}
			plain := mix[i] == nil || mix[i].Factors["b"] == nil
			if same := slices.Equal(row, base[i*adaptOut:][:adaptOut]); same != plain {
				t.Errorf("%s: row %d has the bits of the base: %v, want %v", k.name, i, same, plain)
			}
		}
		if !slices.Equal(runOn(t, two, with, x, nil), base) {
			t.Errorf("%s: without adapters, the bits differ from the base's", k.name)
		}
	}
	for i, want := range runOn(t, reference.New(), with, x, mix) {
		if d := first[i] - want; !(d*d < 1e-6) {
			t.Fatalf("output %d is %g, want %g", i, first[i], want)
		}
	}
}

// A graph that holds all adapters and keeps one of them gives what that adapter gives as an input.
func TestSelectKeepsOne(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, tasks = 6, 3
	with, without := adapted(r, rows)
	var list []*npu.Adapter
	masked := npu.NewGraph("masked", rows)
	x := masked.Input(adaptIn)
	y := masked.MatMul(x, without.Nodes[1].Weight, nil)
	var parts []npu.Value
	up := make([]float32, adaptOut*tasks*adaptRank) // [out × tasks·rank]
	for i := range tasks {
		a := someAdapter(r, npu.F32, adaptRank)
		a.Task = i
		list = append(list, a)
		parts = append(parts, masked.MatMul(x, a.Factors["a"], nil))
		b := make([]float32, adaptRank*adaptOut)
		if err := quant.Dequantize(npu.F32, b, a.Factors["b"].Data); err != nil {
			t.Fatal(err)
		}
		for j := range b {
			up[(j%adaptOut)*tasks*adaptRank+i*adaptRank+j/adaptOut] = b[npu.FactorAt(adaptRank, adaptOut, j/adaptOut, j%adaptOut)]
		}
	}
	kept := masked.Select(masked.Concat(parts...), tasks)
	masked.Add(y, masked.MatMul(kept, filled("up", adaptOut, up), nil))
	in, rowsOf := normal(r, rows*adaptIn, 0), []*npu.Adapter{list[2], nil, list[0], list[1], list[1], nil}
	d := New(1)
	defer d.Close()
	want := runOn(t, d, with, in, rowsOf)
	for _, d := range []npu.Device{d, reference.New()} {
		for i, v := range runOn(t, d, masked, in, rowsOf) {
			if off := v - want[i]; !(off*off < 1e-6) {
				t.Fatalf("%s: output %d is %g, want %g", d.Name(), i, v, want[i])
			}
		}
	}
}

// A run refuses factors that do not fit, and says which.
func TestAdaptersAreChecked(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	with, _ := adapted(r, 2)
	d := New(1)
	defer d.Close()
	p, err := d.Compile(with)
	if err != nil {
		t.Fatal(err)
	}
	good := someAdapter(r, npu.F16, 4)
	short := *good.Factors["b"]
	short.Data = short.Data[:len(short.Data)-2]
	turned := *good.Factors["a"]
	turned.Rows, turned.Cols = turned.Cols, turned.Rows
	for what, bad := range map[string]*npu.Adapter{
		"rank too high": someAdapter(r, npu.F16, adaptRank+1), "other type": {Factors: map[string]*npu.Tensor{"a": filled("a", 4, nil)}},
		"cut off": {Factors: map[string]*npu.Tensor{"b": &short}}, "turned": {Factors: map[string]*npu.Tensor{"a": &turned}},
	} {
		if what == "other type" {
			bad.Factors["a"] = &npu.Tensor{Name: "a", Type: npu.Q8_0, Rows: 4, Cols: adaptIn}
		}
		a := npu.Args{Rows: 2, X: make([]float32, 2*adaptIn), Out: make([]float32, 2*adaptOut), Adapters: []*npu.Adapter{nil, bad}}
		if err := p.Run(a); err == nil || !strings.Contains(err.Error(), "row 1") || !strings.Contains(err.Error(), "\"") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if err := p.Run(npu.Args{Rows: 2, X: make([]float32, 2*adaptIn), Out: make([]float32, 2*adaptOut), Adapters: []*npu.Adapter{nil}}); err == nil {
		t.Error("fewer adapters than rows are accepted")
	}
}
