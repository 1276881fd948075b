package native

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tandem/npu"
)

// filled returns an F32 tensor of the given values.
func filled(name string, rows int, x []float32) *npu.Tensor {
	t := &npu.Tensor{Name: name, Type: npu.F32, Rows: rows, Cols: len(x) / rows, Data: make([]byte, 4*len(x))}
	for i, v := range x {
		binary.LittleEndian.PutUint32(t.Data[4*i:], math.Float32bits(v))
	}
	return t
}

func normal(r *rand.Rand, n int, mean float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() + mean)
	}
	return x
}

// Learned positions, LayerNorm and ReLU, as in OPT (Zhang et al. 2022, §2), agree with their definitions in float64.
func TestLearnedPositionsLayerNormReLU(t *testing.T) {
	d := New(2)
	defer d.Close()
	const width, places, rows = 33, 7, 5
	r := rand.New(rand.NewPCG(5, 6))
	table, w, b := normal(r, places*width, 0), normal(r, width, 1), normal(r, width, 0)
	x := normal(r, rows*width, 100) // a mean that is large compared with the deviation
	positions := []int32{0, 6, 3, 3, 1}

	g := npu.NewGraph("learned", 8)
	sum := g.Add(g.Input(width), g.Position(filled("positions", places, table)))
	g.ReLU(g.LayerNorm(sum, filled("w", 1, w), filled("b", 1, b), 1e-5))
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, rows*width)
	if err := p.Run(npu.Args{Rows: rows, X: x, Positions: positions, Out: out}); err != nil {
		t.Fatal(err)
	}
	for i, pos := range positions {
		var row [width]float64
		mean, variance := 0.0, 0.0
		for j := range row {
			row[j] = float64(x[i*width+j] + table[int(pos)*width+j])
			mean += row[j] / width
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / width
		}
		for j, v := range row {
			want := math.Max(0, (v-mean)/math.Sqrt(variance+1e-5)*float64(w[j])+float64(b[j]))
			if got := float64(out[i*width+j]); math.Abs(got-want) > 1e-5 {
				t.Fatalf("row %d, element %d: %v, want %v", i, j, got, want)
			}
		}
	}

	for _, bad := range [][]int32{{0, 1, 2, 3}, {0, 0, 0, 0, 7}, {-1, 0, 0, 0, 0}} {
		if err := p.Run(npu.Args{Rows: rows, X: x, Positions: bad, Out: out}); err == nil || !strings.Contains(err.Error(), "position") {
			t.Errorf("positions %d: %v", bad, err)
		}
	}
	g = npu.NewGraph("bare", 1)
	g.LayerNorm(g.Input(4), vector("w", 4), nil, 1e-5)
	if _, err := d.Compile(g); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("Compile of LayerNorm without a bias: %v", err)
	}
}
