package native

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem/npu"
	"tandem/npu/phone/pass"
	"tandem/npu/reference"
)

// A product with an adapter as an input (Samsung, Eq. 1–4) agrees with the reference, even if the adapter changes from run to
// run. It gives the same bits for any number of rows and threads.
func TestAdaptersAsInputs(t *testing.T) {
	const in, out, rank, rows = 40, 24, 3, 5
	r := rand.New(rand.NewPCG(3, 4))
	base := npu.NewGraph("base", rows)
	w := filled("blk.0.attn_q.weight", out, normal(r, in*out, 0))
	base.MatMul(base.Input(in), w, nil)
	g, err := pass.AddLoRA(rank, 0.5)(base)
	if err != nil {
		t.Fatal(err)
	}
	one, two := New(1), New(2)
	defer one.Close()
	defer two.Close()
	x := normal(r, rows*in, 0)
	run := func(d npu.Device, rows int, f map[string]*npu.Tensor) []float32 {
		p, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float32, rows*out)
		if err := p.Run(npu.Args{Rows: rows, X: x[:rows*in], Out: y, Factors: f}); err != nil {
			t.Fatal(err)
		}
		return y
	}
	var before []float32
	for range 2 {
		f := map[string]*npu.Tensor{
			pass.FactorA(w.Name): filled("a", rank, normal(r, rank*in, 0)), pass.FactorB(w.Name): filled("b", out, normal(r, out*rank, 0))}
		got, want := run(two, rows, f), run(reference.New(), rows, f)
		for i := range want {
			if d := got[i] - want[i]; !(d*d < 1e-6) {
				t.Fatalf("output %d is %g, want %g", i, got[i], want[i])
			}
		}
		if slices.Equal(got, before) {
			t.Error("another adapter changes nothing")
		}
		before = got
		if alone := run(one, 1, f); !slices.Equal(alone, got[:out]) {
			t.Error("the bits depend on rows or threads")
		}
	}
	p, err := one.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(npu.Args{Rows: 1, X: x, Out: make([]float32, out)}); err == nil || !strings.Contains(err.Error(), "lora_a") {
		t.Errorf("Run without factors: error %v", err)
	}
}
