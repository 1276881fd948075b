package model

import (
	"fmt"
	"math"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/quant"
)

// plainOPT computes OPT's logits from a file's tensors in float64, following the definition (Zhang et al. 2022: LayerNorm
// before attention and before the feed-forward layer with ReLU, learned positions, biases everywhere).
type plainOPT struct {
	spec tinymodel.Spec
	w    map[string][]float64
}

func newPlainOPT(t *testing.T, s tinymodel.Spec) plainOPT {
	_, tensors := tinymodel.Parts(s)
	p := plainOPT{s, map[string][]float64{}}
	for _, tensor := range tensors {
		x := make([]float32, tensor.Rows*tensor.Cols)
		if err := quant.Dequantize(tensor.Type, x, tensor.Data); err != nil {
			t.Fatal(err)
		}
		for _, v := range x {
			p.w[tensor.Name] = append(p.w[tensor.Name], float64(v))
		}
	}
	return p
}

// linear returns x·Wᵀ + b.
func (p plainOPT) linear(x []float64, name string) []float64 {
	w, bias := p.w[name+".weight"], p.w[name+".bias"]
	y := make([]float64, len(w)/len(x))
	for i := range y {
		for j, v := range x {
			y[i] += w[i*len(x)+j] * v
		}
		if bias != nil {
			y[i] += bias[i]
		}
	}
	return y
}

func (p plainOPT) norm(x []float64, name string) []float64 {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (v-mean)/math.Sqrt(variance+1e-5)*p.w[name+".weight"][i] + p.w[name+".bias"][i]
	}
	return y
}

func (p plainOPT) logits(tokens []int) [][]float64 {
	dim, heads := p.spec.Dim, p.spec.Heads
	size := dim / heads
	x := make([][]float64, len(tokens))
	for i, id := range tokens {
		x[i] = make([]float64, dim)
		for j := range x[i] {
			x[i][j] = p.w["token_embd.weight"][id*dim+j] + p.w["position_embd.weight"][i*dim+j]
		}
	}
	for l := range p.spec.Layers {
		b := fmt.Sprintf("blk.%d.", l)
		var keys, values [][]float64
		for i := range x {
			h := p.norm(x[i], b+"attn_norm")
			q := p.linear(h, b+"attn_q")
			keys, values = append(keys, p.linear(h, b+"attn_k")), append(values, p.linear(h, b+"attn_v"))
			out := make([]float64, dim)
			for head := range heads {
				scores, sum := make([]float64, i+1), 0.0
				for j := range scores {
					for k := head * size; k < (head+1)*size; k++ {
						scores[j] += q[k] * keys[j][k]
					}
					scores[j] = math.Exp(scores[j] / math.Sqrt(float64(size)))
					sum += scores[j]
				}
				for j := range scores {
					for k := head * size; k < (head+1)*size; k++ {
						out[k] += scores[j] / sum * values[j][k]
					}
				}
			}
			add(x[i], p.linear(out, b+"attn_output"))
			h = p.linear(p.norm(x[i], b+"ffn_norm"), b+"ffn_up")
			for j := range h {
				h[j] = max(0, h[j])
			}
			add(x[i], p.linear(h, b+"ffn_down"))
		}
	}
	for i := range x {
		x[i] = p.linear(p.norm(x[i], "output_norm"), "token_embd")
	}
	return x
}

func add(x, y []float64) {
	for i := range x {
		x[i] += y[i]
	}
}

func TestOPTAgreesWithItsDefinition(t *testing.T) {
	spec := tinymodel.Spec{Arch: "opt", Type: npu.F32, Layers: 2, Dim: 48, Heads: 3, FF: 96, Context: 40, Seed: 7}
	m := openTiny(t, spec)
	tokens := pattern(40) // the whole context: every learned position
	ids := make([]int, len(tokens))
	for i, id := range tokens {
		ids[i] = int(id)
	}
	want := newPlainOPT(t, spec).logits(ids)
	got := forward(t, m, Input{Seq: m.NewSeq(), Tokens: tokens, All: true})
	for i := range want {
		var worst, square float64
		for j, v := range want[i] {
			worst, square = max(worst, math.Abs(float64(got[i][j])-v)), square+v*v
		}
		// The cache rounds keys and values to F16: a relative error of 2^-11.
		if limit := 2e-3 * math.Sqrt(square/float64(len(want[i]))); worst > limit {
			t.Fatalf("position %d: logits differ by %.2g, want at most %.2g", i, worst, limit)
		}
	}
}
