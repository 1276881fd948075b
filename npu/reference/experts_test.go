package reference

import (
	"testing"

	"tandem/npu"
	"tandem/npu/quant"
)

// The weights of experts depend on the differences of their scores alone, however large the scores are.
func TestLargeExpertScores(t *testing.T) {
	matrix := func(values ...float32) *npu.Tensor {
		w := &npu.Tensor{Name: "w", Type: npu.F32, Rows: len(values), Cols: 1, Data: make([]byte, 4*len(values))}
		if err := quant.Quantize(npu.F32, w.Data, values); err != nil {
			t.Fatal(err)
		}
		return w
	}
	for _, score := range []float32{0, 800, -800} {
		e := &npu.Experts{TopK: 2}
		for _, factor := range []float32{1, 3} {
			g := npu.NewGraph("expert", 1)
			g.MatMul(g.Input(1), matrix(factor), nil)
			e.Graphs = append(e.Graphs, g)
		}
		g := npu.NewGraph("layer", 1)
		x := g.Input(1)
		g.Experts(x, g.MatMul(x, matrix(score, score), nil), e)
		p, err := New().Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, 1)
		if err := p.Run(npu.Args{Rows: 1, X: []float32{1}, Out: out}); err != nil {
			t.Fatal(err)
		}
		if out[0] != 2 {
			t.Errorf("two experts with scores of %g: %g, want the mean of their results, 2", score, out[0])
		}
	}
}
