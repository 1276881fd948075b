package pass_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/pass"
	"tandem/npu/quant"
	"tandem/npu/reference"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	dim, heads, kvHeads, headDim, ff = 32, 4, 2, 8, 64
	chunk, context, rank             = 4, 16, 3
)

func matrix(r *rand.Rand, name string, t npu.DType, rows, cols int, mean, spread float64) *npu.Tensor {
	v := make([]float32, rows*cols)
	for i := range v {
		v[i] = float32(mean + spread*(2*r.Float64()-1))
	}
	w := &npu.Tensor{Name: name, Type: t, Rows: rows, Cols: cols, Data: make([]byte, rows*t.RowBytes(cols))}
	if err := quant.Quantize(t, w.Data, v); err != nil {
		panic(err)
	}
	return w
}

// layer returns a transformer layer with biases and with matrices of the given type.
func layer(t npu.DType) *npu.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	w := func(name string, rows, cols int) *npu.Tensor {
		return matrix(r, "blk.0."+name, t, rows, cols, 0, 1/math.Sqrt(float64(cols)))
	}
	v := func(name string, n int, mean float64) *npu.Tensor {
		return matrix(r, "blk.0."+name, npu.F32, 1, n, mean, 0.3)
	}
	g := npu.NewGraph("layer 0", chunk)
	rope := &npu.Rope{Pairing: npu.HalfSplit, HeadDim: headDim, Dims: headDim, Base: 10000, Linear: 1}
	x := g.Input(dim)
	h := g.RMSNorm(x, v("attn_norm.weight", dim, 1), 1e-5)
	q := g.Rope(g.MatMul(h, w("attn_q.weight", dim, dim), v("attn_q.bias", dim, 0)), rope)
	k := g.Rope(g.MatMul(h, w("attn_k.weight", kvHeads*headDim, dim), v("attn_k.bias", kvHeads*headDim, 0)), rope)
	val := g.MatMul(h, w("attn_v.weight", kvHeads*headDim, dim), nil)
	at := g.Attention(q, k, val, &npu.Attention{Heads: heads, KVHeads: kvHeads, HeadDim: headDim, Scale: float32(1 / math.Sqrt(headDim))})
	x = g.Add(x, g.MatMul(at, w("attn_output.weight", dim, dim), nil))
	h = g.RMSNorm(x, v("ffn_norm.weight", dim, 1), 1e-5)
	h = g.SwiGLU(g.MatMul(h, w("ffn_gate.weight", ff, dim), nil), g.MatMul(h, w("ffn_up.weight", ff, dim), nil))
	g.Add(x, g.MatMul(h, w("ffn_down.weight", dim, ff), nil))
	return g
}

// factors returns adapters for the layer's four products, multiplied by the scales that were folded
// into them.
func factors(by map[string]float32) map[string]*npu.Tensor {
	r := rand.New(rand.NewPCG(3, 4))
	out := map[string]*npu.Tensor{}
	for _, w := range []struct {
		name      string
		rows, col int
	}{{"attn_q", dim, dim}, {"attn_k", kvHeads * headDim, dim}, {"attn_v", kvHeads * headDim, dim}, {"attn_output", dim, dim}} {
		name := "blk.0." + w.name + ".weight"
		for _, f := range []*npu.Tensor{matrix(r, pass.FactorA(name), npu.F32, rank, w.col, 0, 0.4), matrix(r, pass.FactorB(name), npu.F32, rank, w.rows, 0, 0.4)} {
			if s, ok := by[f.Name]; ok {
				v := make([]float32, f.Rows*f.Cols)
				quant.Dequantize(npu.F32, v, f.Data)
				for i := range v {
					v[i] *= s
				}
				quant.Quantize(npu.F32, f.Data, v)
			}
			out[f.Name] = f
		}
	}
	return out
}

// compute runs a graph over three chunks that attend to each other.
func compute(t testing.TB, d npu.Device, g *npu.Graph, f map[string]*npu.Tensor) []float32 {
	t.Helper()
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	width := kvHeads * headDim
	span := func(n int) npu.Span {
		return npu.Span{Len: n, K: [][]uint16{make([]uint16, (n+1)*width)}, V: [][]uint16{make([]uint16, (n+1)*width)}}
	}
	kv := &npu.KV{Spans: []npu.Span{span(5), span(context - 5)}}
	var all []float32
	for at := 0; at < 3*chunk; at += chunk {
		x := make([]float32, chunk*dim)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		a := npu.Args{Rows: chunk, X: x, Out: make([]float32, chunk*g.Result().Width), Adapters: slices.Repeat([]*npu.Adapter{{Factors: f}}, chunk)}
		for i := range chunk {
			a.Positions, a.KV = append(a.Positions, int32(at+i)), append(a.KV, kv)
		}
		if err := p.Run(a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a.Out...)
	}
	return all
}

func farthest(a, b []float32) (d float64) {
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}

func apply(t testing.TB, g *npu.Graph, passes ...pass.Pass) *npu.Graph {
	t.Helper()
	before := g.String()
	out, err := pass.Chain(passes...)(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Check(); err != nil {
		t.Fatal(err)
	}
	if g.String() != before {
		t.Fatal("the pass changed its input")
	}
	return out
}

// count counts a graph's nodes by operation.
func count(g *npu.Graph) map[npu.Op]int {
	n := map[npu.Op]int{}
	for i := range g.Nodes {
		n[g.Nodes[i].Op]++
	}
	return n
}

// difference describes what a pass removed and added, by operation: "−2 mul, +1 concat".
func difference(before, after *npu.Graph) string {
	a, b := count(before), count(after)
	ops := maps.Clone(a)
	maps.Copy(ops, b)
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		if d := b[op] - a[op]; d < 0 {
			parts = append(parts, fmt.Sprintf("−%d %v", -d, op))
		} else if d > 0 {
			parts = append(parts, fmt.Sprintf("+%d %v", d, op))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Each pass preserves the numbers up to rounding and removes what it should. The graphs after the
// whole chain, with adapters, are in testdata.
func TestPassesKeepTheNumbers(t *testing.T) {
	const tolerance = 2e-5
	base := layer(npu.F32)
	d := reference.New()
	plain := compute(t, d, base, nil)
	if diff := farthest(plain, compute(t, native.New(1), base, nil)); diff > 1e-3 {
		t.Errorf("native and reference differ by %g", diff)
	}

	exported := apply(t, base, pass.Unfold)
	adapted := apply(t, exported, pass.AddLoRA(rank, 0.5))
	lora := compute(t, d, adapted, factors(nil))
	if farthest(plain, lora) < 0.01 {
		t.Error("the adapters change nothing")
	}
	scales, cutScales := map[string]float32{}, map[string]float32{}
	for _, c := range []struct {
		name    string
		from    *npu.Graph
		pass    pass.Pass
		want    []float32
		factors map[string]float32
		changed string
	}{
		{"unfold", base, pass.Unfold, plain, nil, "−2 rmsnorm, +2 normalize, +2 mul, +1 scale"},
		{"norms", exported, pass.FoldNorms, plain, nil, "−2 mul"},
		{"scales", exported, pass.FoldScales(nil), plain, nil, "−1 scale"},
		{"scales of adapters", adapted, pass.FoldScales(scales), lora, scales, "−5 scale"},
		{"heads", exported, pass.SplitHeads, plain, nil, "+5 matmul, +4 rope, +3 attention, +1 concat, +3 scale"},
		{"heads of adapters", adapted, pass.SplitHeads, lora, nil, "+5 matmul, +4 rope, +3 attention, +5 add, +1 concat, +8 scale, +5 factor"},
		{"scales of cut heads", adapted, pass.Chain(pass.SplitHeads, pass.FoldScales(cutScales)), lora, cutScales, "+5 matmul, +4 rope, +3 attention, +5 add, +1 concat, −5 scale, +5 factor"},
		{"keys", exported, pass.TransposeKeys, plain, nil, "nothing"},
		{"convolutions", exported, pass.Convolve, plain, nil, "−7 matmul, +7 conv"},
		{"everything", adapted, pass.Chain(pass.FoldScales(scales), pass.FoldNorms, pass.FoldConstants, pass.SplitHeads, pass.TransposeKeys, pass.Convolve), lora, scales,
			"−7 matmul, +4 rope, +3 attention, +5 add, +1 concat, −1 mul, −5 scale, +5 factor, +12 conv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := apply(t, c.from, c.pass)
			if got := difference(c.from, g); got != c.changed {
				t.Errorf("changes: %s, want %s", got, c.changed)
			}
			if diff := farthest(c.want, compute(t, d, g, factors(c.factors))); diff > tolerance {
				t.Errorf("the numbers differ by %g", diff)
			}
			golden(t, c.name, g)
		})
	}
}

// An adapter's matrix has one scale, however many nodes use its rows. Scales that would require
// several stay in the graph, and a second graph that would require a different one is rejected.
func TestFactorsHaveOneScale(t *testing.T) {
	adapted := apply(t, layer(npu.F32), pass.Unfold, pass.AddLoRA(rank, 0.5))
	name := pass.FactorB("blk.0.attn_q.weight")
	cut := apply(t, adapted, pass.SplitHeads)
	for i := range cut.Nodes {
		if n := &cut.Nodes[i]; n.Op == npu.OpScale && cut.Nodes[n.Args[0]].Op == npu.OpFactor && cut.Nodes[n.Args[0]].Factor.From == headDim {
			n.Scale = 0.25 // of one of four heads of the queries, and one of two of the keys and of the values
		}
	}
	scales := map[string]float32{}
	folded := apply(t, cut, pass.FoldScales(scales))
	// The other scales fold, those of the scores into the adapters' scales.
	if got := difference(cut, folded); got != "−5 scale" || scales[name] != 1 {
		t.Errorf("changes: %s, %v", got, scales)
	}
	want, got := compute(t, reference.New(), cut, factors(nil)), compute(t, reference.New(), folded, factors(scales))
	if diff := farthest(want, got); diff > 2e-5 {
		t.Errorf("the numbers differ by %g", diff)
	}
	if _, err := pass.FoldScales(scales)(adapted); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
}

func golden(t *testing.T, name string, g *npu.Graph) {
	file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(g.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != g.String() {
		t.Errorf("the graph differs from %s:\n%s", file, g)
	}
}

// After TransposeKeys, a run transposes no keys.
func TestTransposedKeysAreNotMoved(t *testing.T) {
	moved := func(g *npu.Graph) int64 {
		d := reference.New()
		compute(t, d, g, nil)
		return d.Moved.Load()
	}
	g := layer(npu.F32)
	if before, after := moved(g), moved(apply(t, g, pass.TransposeKeys)); before == 0 || after != 0 {
		t.Errorf("%d elements moved before, %d after", before, after)
	}
}

// Quantised weights are not rescaled. Scales next to them fold if they can.
func TestFoldingLeavesQuantisedWeights(t *testing.T) {
	g := apply(t, layer(npu.Q8_0), pass.Unfold)
	folded := apply(t, g, pass.FoldNorms, pass.FoldScales(nil), pass.FoldConstants)
	if got := difference(g, folded); got != "nothing" {
		t.Errorf("changes: %s", got)
	}
}

func TestConstantsFold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	g := npu.NewGraph("constants", chunk)
	add := func(n npu.Node) npu.Value {
		g.Nodes = append(g.Nodes, n)
		return npu.Value(len(g.Nodes) - 1)
	}
	v := g.Input(dim)
	v = add(npu.Node{Op: npu.OpScale, Args: []npu.Value{v}, Width: dim, Scale: 3})
	v = add(npu.Node{Op: npu.OpScale, Args: []npu.Value{v}, Width: dim, Scale: 0.5})
	v = add(npu.Node{Op: npu.OpMul, Args: []npu.Value{v}, Width: dim, Weight: matrix(r, "a", npu.F32, 1, dim, 1, 0.5)})
	v = add(npu.Node{Op: npu.OpMul, Args: []npu.Value{v}, Width: dim, Weight: matrix(r, "b", npu.F32, 1, dim, 1, 0.5)})
	v = add(npu.Node{Op: npu.OpScale, Args: []npu.Value{v}, Width: dim, Scale: 2})
	v = add(npu.Node{Op: npu.OpScale, Args: []npu.Value{v}, Width: dim, Scale: 1})
	g.MatMul(v, matrix(r, "w", npu.F32, dim, dim, 0, 0.2), nil)
	folded := apply(t, g, pass.FoldConstants)
	if got := difference(g, folded); got != "−1 mul, −4 scale" {
		t.Errorf("changes: %s", got)
	}
	if diff := farthest(compute(t, reference.New(), g, nil), compute(t, reference.New(), folded, nil)); diff > 1e-5 {
		t.Errorf("the numbers differ by %g", diff)
	}
	if both := apply(t, g, pass.FoldConstants, pass.FoldNorms); count(both)[npu.OpMul] != 0 {
		t.Errorf("%v", both)
	}
}

// INT4 weights and INT8 activations give nearly the float numbers, and the same bits when split
// into heads.
func TestQuantize(t *testing.T) {
	g := layer(npu.F32)
	d := reference.New()
	largest := map[string]float32{}
	d.Observe = func(n *npu.Node, x []float32) {
		for _, v := range x {
			largest[n.Weight.Name] = max(largest[n.Weight.Name], v, -v)
		}
	}
	want := compute(t, d, g, nil)
	d.Observe = nil
	q := apply(t, g, pass.Quantize(largest))
	if got := difference(g, q); got != "−7 matmul, +7 quantized" {
		t.Errorf("changes: %s", got)
	}
	got := compute(t, d, q, nil)
	var err, power float64
	for i := range want {
		err, power = err+math.Pow(float64(got[i]-want[i]), 2), power+math.Pow(float64(want[i]), 2)
	}
	if noise := math.Sqrt(err / power); noise == 0 || noise > 0.15 {
		t.Errorf("the error is %.3f of the signal", noise)
	}
	if diff := farthest(got, compute(t, d, apply(t, q, pass.SplitHeads), nil)); diff > 1e-5 {
		t.Errorf("split into heads, the numbers differ by %g", diff)
	}
	golden(t, "int4", q)
	c := pass.NewINT4()
	compute(t, c.Observer(), g, nil)
	if p := c.Device(&npu.Graph{}); farthest(got, compute(t, p, g, nil)) != 0 {
		t.Error("the device of INT4 does not round as the pass does")
	}
}

// Native refuses the operations that only the NPU has, and a run refuses adapters of another shape.
func TestUnsupportedGraphsAreRefused(t *testing.T) {
	d := native.New(1)
	defer d.Close()
	for name, p := range map[string]pass.Pass{"unfold": pass.Unfold, "heads": pass.SplitHeads, "keys": pass.TransposeKeys, "conv": pass.Convolve} {
		if _, err := d.Compile(apply(t, layer(npu.F32), p)); err == nil {
			t.Errorf("native accepts %s", name)
		}
	}
	g := apply(t, layer(npu.F32), pass.AddLoRA(rank, 1))
	p, err := reference.New().Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	other := factors(nil)
	name := pass.FactorA("blk.0.attn_q.weight")
	other[name] = other[pass.FactorB("blk.0.attn_k.weight")]
	err = p.Run(npu.Args{Rows: 1, X: make([]float32, dim), Out: make([]float32, dim), Positions: []int32{0}, KV: []*npu.KV{{}},
		Adapters: []*npu.Adapter{{Factors: other}}})
	if err == nil || !strings.Contains(err.Error(), "lora_a") {
		t.Errorf("error %v", err)
	}
	if _, err := pass.AddLoRA(0, 1)(g); err == nil {
		t.Error("rank 0 is accepted")
	}
}
