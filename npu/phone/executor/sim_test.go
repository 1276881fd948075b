package executor_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/executor"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// phone computes the chunks of a prefill in blocks.
type phone struct {
	blocks *executor.Blocks
	x      [][]float32 // of each chunk
	width  int
}

func (p phone) Load(_ context.Context, block int) error { return p.blocks.Load(block, true) }

func (p phone) Compute(_ context.Context, block, chunk int, small bool) error {
	rows := len(p.x[chunk]) / p.width
	if small {
		rows = 2
	}
	for x := range slices.Chunk(p.x[chunk], rows*p.width) {
		if err := p.blocks.Run(block, small, npu.Args{Rows: rows, X: x, Out: x}); err != nil {
			return err
		}
	}
	return nil
}

// On a simulated NPU, in virtual time, every plan takes exactly as long as predicted from the
// chip's costs, and all plans compute the same numbers.
func TestPlansOnASimulatedNPU(t *testing.T) {
	const blocks, chunks, large, small, width = 4, 3, 8, 2, 192
	costs, err := sim.Find("sm8650/mllm")
	if err != nil {
		t.Fatal(err)
	}
	costs.LoadFixed, costs.Load = 0, costs.Load/4 // the matrices are small, but their loads should matter
	var graphs [2][][]*npu.Graph
	p := plan.Uniform(blocks, chunks, large/small, plan.Block{})
	for b := range blocks {
		w := &npu.Tensor{Name: fmt.Sprintf("w%d", b), Type: npu.Q8_0, Rows: width, Cols: width, Data: make([]byte, width*npu.Q8_0.RowBytes(width))}
		for i := range w.Data {
			w.Data[i] = byte(i*7+b) & 0x1f
		}
		for i, chunk := range []int{large, small} {
			g := npu.NewGraph(fmt.Sprintf("block %d", b), chunk)
			g.MatMul(g.Input(width), w, nil)
			graphs[i] = append(graphs[i], []*npu.Graph{g})
		}
		p.Blocks[b] = plan.Block{Large: costs.Graph(graphs[0][b][0], 0).Time(), Small: costs.Graph(graphs[1][b][0], 0).Time(),
			Load: costs.LoadTime(1, costs.Bytes(graphs[1][b][0]))}
	}
	var want [][]float32
	for _, s := range []plan.Strategy{plan.Synchronous, plan.Asynchronous, plan.Greedy, plan.Progressive, plan.Optimal} {
		synctest.Test(t, func(t *testing.T) {
			d := sim.Wrap(native.New(1), costs, sim.Options{Paced: true})
			defer d.Close()
			bs, err := executor.NewBlocks(d, graphs[0], graphs[1])
			if err != nil {
				t.Fatal(err)
			}
			for j := range blocks {
				if err := bs.Load(j, false); err != nil {
					t.Fatal(err)
				}
			}
			m := phone{blocks: bs, width: width}
			for c := range chunks {
				x := make([]float32, large*width)
				for i := range x {
					x[i] = float32((i+c)%13) / 13
				}
				m.x = append(m.x, x)
			}
			before := d.Stats()
			got, err := executor.Run(context.Background(), p.Plan(s), blocks, chunks, m)
			if err != nil {
				t.Fatal(err)
			}
			if line := p.Simulate(p.Plan(s)); got.Total() != line.Total() || got.Stall != line.Stall {
				t.Errorf("%v: took %v with stalls of %v, planned %v with %v", s, got.Total(), got.Stall, line.Total(), line.Stall)
			}
			if st := d.Stats().Sub(before); st.Switches != blocks || st.Loading != p.Loads() || st.Staging != 0 {
				t.Errorf("%v: %+v, loads of %v", s, st, p.Loads())
			}
			if want == nil {
				want = m.x
			}
			for c := range m.x {
				if !slices.Equal(m.x[c], want[c]) {
					t.Errorf("%v: chunk %d has different numbers", s, c)
				}
			}
		})
	}
}
