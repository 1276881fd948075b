package native

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tandem/npu"
	"tandem/npu/quant"
	"tandem/npu/reference"
)

const adaptIn, adaptOut, adaptRank = 40, 300, 16 // four blocks, five, and a part of one
const adaptIn8, adaptOut8 = 96, 352              // for Q8_0, which has whole blocks

// adapted is a product with adapters as inputs (Samsung, Eq. 1–4), and the product without.
func adapted(r *rand.Rand, rows int) (with, without *npu.Graph) {
	return adaptedOf(r, rows, adaptIn, adaptOut, adaptRank)
}

func adaptedOf(r *rand.Rand, rows, in, out, rank int) (with, without *npu.Graph) {
	w := filled("w", out, normal(r, in*out, 0))
	without = npu.NewGraph("base", rows)
	without.MatMul(without.Input(in), w, nil)
	with = npu.NewGraph("adapted", rows)
	x := with.Input(in)
	with.LoRA(with.MatMul(x, w, nil), x, rank, "a", "b")
	return with, without
}

// someAdapter returns an adapter of the given rank and type, which may lack a factor.
func someAdapter(r *rand.Rand, typ npu.DType, rank int) *npu.Adapter {
	return adapterOf(r, typ, adaptIn, adaptOut, rank)
}

func adapterOf(r *rand.Rand, typ npu.DType, in, out, rank int) *npu.Adapter {
	factor := func(name string, cols int) *npu.Tensor {
		f := &npu.Tensor{Name: name, Type: typ, Rows: rank, Cols: cols, Data: make([]byte, typ.RowBytes(rank*cols))}
		if err := quant.Quantize(typ, f.Data, normal(r, rank*cols, 0)); err != nil {
			panic(err)
		}
		return f
	}
	return &npu.Adapter{Factors: map[string]*npu.Tensor{"a": factor("a", in), "b": factor("b", out)}}
}

// packedFor returns the adapter in the device's layout.
func packedFor(d *Device, a *npu.Adapter) *npu.Adapter {
	low, up := *a.Factors["a"], *a.Factors["b"]
	d.PackFactors([]*npu.Tensor{&low}, []*npu.Tensor{&up})
	return &npu.Adapter{Factors: map[string]*npu.Tensor{"a": &low, "b": &up}}
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

// The same holds for factors in Q8_0, of ranks that groups do not divide, packed or not, and for neighbouring rows that share an
// adapter. They agree with the reference, which does not round inputs, up to that rounding.
func TestEightBitFactors(t *testing.T) {
	const rows = 11
	for _, rank := range []int{adaptRank, 37} {
		r := rand.New(rand.NewPCG(uint64(rank), 4))
		with, _ := adaptedOf(r, rows, adaptIn8, adaptOut8, rank)
		make8 := func(rank int) *npu.Adapter { return adapterOf(r, npu.Q8_0, adaptIn8, adaptOut8, rank) }
		kinds := []*npu.Adapter{make8(rank), nil, make8(rank), make8(3), adapterOf(r, npu.F16, adaptIn8, adaptOut8, 9), make8(rank - 1)}
		which := [rows]int{0, 1, 2, 2, 2, 3, 3, 4, 5, 0, 1}
		x, mix := normal(r, rows*adaptIn8, 0), make([]*npu.Adapter, rows)
		for i, k := range which {
			mix[i] = kinds[k]
		}
		want := runOn(t, reference.New(), with, x, mix)
		var first []float32
		for _, k := range available() {
			one, two := newDevice(1, k), newDevice(2, k)
			defer one.Close()
			defer two.Close()
			packed := slices.Clone(mix)
			for i, a := range mix {
				switch {
				case i > 0 && a == mix[i-1]:
					packed[i] = packed[i-1]
				case a != nil:
					packed[i] = packedFor(two, a)
				}
			}
			got := runOn(t, two, with, x, packed)
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Errorf("rank %d, %s: the bits differ from plain Go's", rank, k.name)
			}
			if !slices.Equal(got, runOn(t, one, with, x, mix)) {
				t.Errorf("rank %d, %s: factors that are not packed give other bits", rank, k.name)
			}
			for i := range mix {
				if !slices.Equal(got[i*adaptOut8:][:adaptOut8], runOn(t, one, with, x[i*adaptIn8:][:adaptIn8], packed[i:i+1])) {
					t.Errorf("rank %d, %s: row %d has different bits alone", rank, k.name, i)
				}
			}
		}
		scale := 0.0
		for _, w := range want {
			scale += float64(w) * float64(w) / float64(len(want))
		}
		for i, w := range want {
			if d := float64(first[i] - w); math.Abs(d) > 0.04*math.Sqrt(scale) { // inputs are rounded to a 127th of the largest
				t.Fatalf("rank %d: output %d is %g, want %g", rank, i, first[i], w)
			}
		}
	}
}

// Factors outside the heap are read as they were packed, and the memory is given back with the last of them.
func TestFactorsOutsideTheHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	d := New(1)
	defer d.Close()
	const n, cols = 9, 16384
	var a, b []*npu.Tensor
	for range n {
		one := adapterOf(r, npu.Q8_0, cols, cols, adaptRank)
		a, b = append(a, one.Factors["a"]), append(b, one.Factors["b"])
	}
	raw := slices.Clone(b[n-1].Data)
	d.PackFactors(a, b)
	want := make([]byte, factorBytes(b[n-1], true))
	packMix(want, &npu.Tensor{Type: npu.Q8_0, Rows: adaptRank, Cols: cols, Data: raw}, 0)
	clear(a)
	clear(b[:n-1])
	runtime.GC() // the memory stays as long as one tensor uses it
	runtime.GC()
	if last := b[n-1]; !last.Packed || !slices.Equal(last.Data, want) {
		t.Error("the last factor is not as it was packed")
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
			bad.Factors["a"] = &npu.Tensor{Name: "a", Type: npu.Q4_0, Rows: 4, Cols: adaptIn}
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

// Two adapters of one product are added one after the other, both in place. The results agree with the reference.
func TestSumsOfTwoAdapters(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const rows = 5
	w, back := filled("w", adaptOut, normal(r, adaptIn*adaptOut, 0)), filled("back", adaptIn, normal(r, adaptIn*adaptOut, 0))
	g := npu.NewGraph("two adapters", rows)
	x := g.Input(adaptIn)
	y := g.LoRA(g.LoRA(g.MatMul(x, w, nil), x, adaptRank, "a", "b"), x, adaptRank, "a2", "b2")
	g.Add(g.MatMul(y, back, nil), x)
	one, two := someAdapter(r, npu.F32, adaptRank), someAdapter(r, npu.F32, adaptRank)
	one.Factors["a2"], one.Factors["b2"] = two.Factors["a"], two.Factors["b"]
	in, adapters := normal(r, rows*adaptIn, 0), slices.Repeat([]*npu.Adapter{one}, rows)
	d := New(1)
	defer d.Close()
	got := runOn(t, d, g, in, adapters)
	for i, want := range runOn(t, reference.New(), g, in, adapters) {
		if e := got[i] - want; !(e*e < 1e-8*(1+want*want)) {
			t.Fatalf("output %d is %g, want %g", i, got[i], want)
		}
	}
}

// A product may use some ranks of a factor in Q8_0, from any on. They have the bits that they have among all ranks.
func TestSomeRanksOfAFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const rows, ranks = 3, 40
	a := adapterOf(r, npu.Q8_0, adaptIn8, adaptOut8, ranks)
	d := New(1)
	defer d.Close()
	product := func(from, n int, of *npu.Adapter, in []float32) []float32 {
		g := npu.NewGraph("ranks", rows)
		g.Nodes = append(g.Nodes, npu.Node{Op: npu.OpInput, Width: adaptIn8}, npu.Node{Op: npu.OpFactor, Args: []npu.Value{0}, Width: n,
			Factor: &npu.Factor{Name: "a", Rows: ranks, Cols: adaptIn8, From: from}})
		return runOn(t, d, g, in, slices.Repeat([]*npu.Adapter{of}, rows))
	}
	in := normal(r, rows*adaptIn8, 0)
	all := product(0, ranks, a, in)
	for _, of := range []*npu.Adapter{a, packedFor(d, a)} {
		for _, part := range [][2]int{{0, 8}, {3, 5}, {8, 8}, {16, 16}, {9, 31}, {31, 9}, {39, 1}} {
			from, n := part[0], part[1]
			got := product(from, n, of, in)
			for row := range rows {
				if want := all[row*ranks+from:][:n]; !slices.Equal(got[row*n:][:n], want) {
					t.Errorf("row %d, ranks from %d: %v, want %v", row, from, got[row*n:][:n], want)
				}
			}
		}
	}
}
