package npu

import (
	"fmt"
	"strings"
	"testing"
)

func tensor(name string, rows, cols int) *Tensor {
	return &Tensor{Name: name, Type: F32, Rows: rows, Cols: cols, Data: make([]byte, 4*rows*cols)}
}

// small is a layer of width 8 with two heads over one key-value head.
func small() *Graph {
	g := NewGraph("small", 4)
	rope := &Rope{Pairing: HalfSplit, HeadDim: 4, Dims: 4, Base: 10000, Linear: 1}
	x := g.Input(8)
	h := g.RMSNorm(x, tensor("norm", 1, 8), 1e-5)
	q := g.Rope(g.MatMul(h, tensor("q", 8, 8), tensor("qb", 1, 8)), rope)
	k := g.Rope(g.MatMul(h, tensor("k", 4, 8), nil), rope)
	v := g.MatMul(h, tensor("v", 4, 8), nil)
	g.Add(x, g.Attention(q, k, v, &Attention{Heads: 2, KVHeads: 1, HeadDim: 4, Scale: 0.5}))
	return g
}

func TestCheckFindsTheNodeThatDoesNotFit(t *testing.T) {
	if err := small().Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bend func(g *Graph)
		want string
	}{
		{func(g *Graph) { g.Chunk = 0 }, "chunks of 0 rows"},
		{func(g *Graph) { g.Nodes = nil }, "0 nodes"},
		{func(g *Graph) { g.Nodes[1].Weight = tensor("norm", 1, 7) }, "%1 rmsnorm: norm F32[1×7], want 1×8"},
		{func(g *Graph) { g.Nodes[1].Weight = nil }, "%1 rmsnorm: a weight is missing"},
		{func(g *Graph) { g.Nodes[1].Args[0] = 1 }, "%1 rmsnorm: argument %1 does not come before it"},
		{func(g *Graph) { g.Nodes[2].Bias = tensor("qb", 1, 4) }, "%2 matmul: qb F32[1×4], want 1×8"},
		{func(g *Graph) { g.Nodes[2].Weight.Data = nil }, "%2 matmul: tensor \"q\": 0 bytes of data"},
		{func(g *Graph) { g.Nodes[3].Rope = &Rope{HeadDim: 3, Dims: 2} }, "%3 rope: width 8 in heads of 3"},
		{func(g *Graph) { g.Nodes[3].Rope = &Rope{HeadDim: 4, Dims: 4, Factors: make([]float32, 3)} }, "3 frequency factors for 2 pairs"},
		{func(g *Graph) { g.Nodes[7].Attention.KVHeads = 2 }, "%7 attention: widths 8, 4, 4"},
		{func(g *Graph) { g.Nodes[8].Args[1] = 4 }, "%8 add: widths 8 and 4 differ"},
		{func(g *Graph) { g.Nodes[8].Op = 99 }, "%8 op(99)"},
	} {
		g := small()
		c.bend(g)
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestTensorCheck(t *testing.T) {
	for _, c := range []struct {
		t    Tensor
		want string
	}{
		{Tensor{Name: "a", Type: 99, Cols: 1, Rows: 1}, "type(99) is not a supported type"},
		{Tensor{Name: "a", Type: Q8_0, Cols: 31, Rows: 1}, "not whole blocks of 32"},
		{Tensor{Name: "a", Type: Q8_0, Cols: 32, Rows: 2, Data: make([]byte, 34)}, "34 bytes of data, not 2 rows of 1 blocks of 34"},
		{Tensor{Name: "a", Type: F32, Cols: 0, Rows: 2}, "empty shape"},
		{Tensor{Name: "a", Type: F32, Cols: 1 << 62, Rows: 1 << 62, Data: make([]byte, 4)}, "not"},
	} {
		if err := c.t.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.t, err, c.want)
		}
	}
	for _, typ := range DTypes {
		if typ.RowBytes(512) != 512/typ.BlockSize()*typ.BlockBytes() {
			t.Errorf("%v: %d bytes for 512 values", typ, typ.RowBytes(512))
		}
	}
}

func TestKVAt(t *testing.T) {
	kv := KV{Spans: []Span{{Len: 3}, {Len: 0}, {Len: 2}}}
	for pos, want := range []struct{ span, at int }{{0, 0}, {0, 1}, {0, 2}, {2, 0}, {2, 1}} {
		if s, at := kv.At(pos); s != &kv.Spans[want.span] || at != want.at {
			t.Errorf("position %d is at %d of another span", pos, at)
		}
	}
	if s, _ := kv.At(5); s != nil {
		t.Error("position 5 of 5 exists")
	}
}

func ExampleGraph() {
	g := NewGraph("head", 1)
	g.MatMul(g.RMSNorm(g.Input(8), tensor("output_norm.weight", 1, 8), 1e-5), tensor("output.weight", 32, 8), nil)
	fmt.Print(g)
	// Output:
	// graph head, 1 rows
	//   input "x" F32[1×8]
	//   %0  = input "x"  → 8
	//   %1  = rmsnorm %0 [output_norm.weight F32[1×8]]  → 8
	//   %2  = matmul %1 [output.weight F32[32×8]]  → 32
}
