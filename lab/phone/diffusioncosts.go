package phone

import (
	"time"

	"tandem/dllm"
	"tandem/npu"
	"tandem/npu/phone/sim"
)

// A diffusionPhone says how long a simulated phone takes for the passes of a diffusion model in Q4_0. The NPU computes layers
// and logits of the dense path; the processor computes the sparse path at the same time (llada.cpp §3.3). Weights that the
// NPU's address window does not hold are staged, or paged, in every pass (§3.4).
type diffusionPhone struct {
	costs  sim.Costs
	shape  sim.Shape
	stalls map[stallKey]time.Duration
}

type stallKey struct {
	tiles  int
	by     Runtime
	layers bool // only the layers' weights, without the head's
}

// shapeIn returns a model's shape with all matrices of one type.
func shapeIn(name string, typ npu.DType) (sim.Shape, error) {
	s, err := sim.FindShape(name)
	s.Type, s.HeadType = typ, typ
	return s, err
}

func newDiffusionPhone(c sim.Costs, s sim.Shape) *diffusionPhone {
	return &diffusionPhone{c, s, map[stallKey]time.Duration{}}
}

// q4 is the number of bytes of a weight in Q4_0.
const q4 = 4.5 / 8

// dense returns the cost of a dense pass.
func (x *diffusionPhone) dense(p dllm.Pass) sim.Cost {
	cost := x.layers(p)
	if p.Logits > 0 {
		one := x.shape
		one.Layers = 1
		cost = cost.Plus(x.costs.Graph(one.Blocks(p.Logits, p.Logits)[1], 0))
	}
	return cost
}

// layers returns the cost of a dense pass without its logits.
func (x *diffusionPhone) layers(p dllm.Pass) sim.Cost {
	one := x.shape
	one.Layers = 1
	layer := x.costs.Graph(one.Blocks(p.Rows, 1)[0], p.Sees)
	n := time.Duration(x.shape.Layers)
	return sim.Cost{NPU: n * layer.NPU, CPU: n * layer.CPU}
}

// sparse returns the time of the second path.
func (x *diffusionPhone) sparse(p dllm.Pass) time.Duration {
	if p.SparseRows == 0 {
		return 0
	}
	return x.processor(p.SparseRows, p.SparseLogits, p.Sees)
}

// processor returns the processor's time for the products and the attention of rows of all layers, and the logits of some.
func (x *diffusionPhone) processor(rows, logits, sees int) time.Duration {
	s := x.shape
	layers := s.LayerParameters()
	t := x.costs.CPUProducts(rows, layers, layers*q4)
	t += time.Duration(s.Layers) * x.costs.CPUAttention(rows, sees, s.Heads*s.HeadDim, s.KVHeads*s.HeadDim)
	return t + x.logits(logits)
}

// logits returns the processor's time for the logits of rows.
func (x *diffusionPhone) logits(rows int) time.Duration {
	if rows == 0 {
		return 0
	}
	head := x.shape.HeadParameters()
	return x.costs.CPUProducts(rows, head, head*q4)
}

// step returns the time of both paths. What the processor does for the dense path comes on top of its own.
func (x *diffusionPhone) step(p dllm.Pass, by Runtime) time.Duration {
	dense := x.dense(p)
	return max(dense.Time()+x.stall(p.Rows, by, false), dense.CPU+x.sparse(p))
}

// stepWithLogits returns the time of a step if the processor computes the logits of the dense path, too, as in llada.cpp §3.3. Then
// the head's weights take no addresses of the NPU, but the logits wait for the layers and for the second path.
func (x *diffusionPhone) stepWithLogits(p dllm.Pass, by Runtime) time.Duration {
	layers := x.layers(p)
	return max(layers.Time()+x.stall(p.Rows, by, true), layers.CPU+x.sparse(p)) + x.logits(p.Logits)
}

// onProcessor returns the time of both paths without an NPU.
func (x *diffusionPhone) onProcessor(p dllm.Pass) time.Duration {
	return x.processor(p.Rows+p.SparseRows, p.Logits+p.SparseLogits, p.Sees)
}

// stall returns how long a pass waits for weights that one session's window does not hold: those of all graphs, or of the layers
// only.
func (x *diffusionPhone) stall(rows int, by Runtime, layers bool) time.Duration {
	key := stallKey{(rows + x.costs.Tile - 1) / x.costs.Tile, by, layers}
	if t, ok := x.stalls[key]; ok {
		return t
	}
	t := x.replay(key)
	x.stalls[key] = t
	return t
}

// replay plays passes in virtual time and returns the stall of one.
func (x *diffusionPhone) replay(key stallKey) time.Duration {
	graphs := x.shape.Blocks(key.tiles*x.costs.Tile, 1)
	if key.layers {
		graphs = graphs[:x.shape.Layers]
	}
	p, err := weightsIn(x.costs, graphs, 256).player(key.by, x.costs.Window)
	if err != nil {
		return 0 // a window that holds not even two slots: no chip's
	}
	const steps = 2
	d, _ := p.steady(steps)
	return d.Stall / steps
}

// AutoregressiveMs returns the simulated time of as many tokens of Llama-3.1-8B on a chip, one a pass, after a prompt: the
// reference of llada.cpp §5.2.
func AutoregressiveMs(soc string, prompt, tokens int) (float64, error) {
	c, err := sim.Find(soc)
	if err != nil {
		return 0, err
	}
	s, err := shapeIn("Llama-3.1-8B", npu.Q4_0)
	if err != nil {
		return 0, err
	}
	x := newDiffusionPhone(c, s)
	total := prefillPass(c, x.shape, prompt, prompt).Time() + x.stall(prompt, Staging, false)
	for i := range tokens - 1 {
		total += decodePass(c, x.shape, 1, prompt+i+1).Time() + x.stall(1, Staging, false)
	}
	return msOf(total), nil
}

// DiffusionCosts returns the simulated times in seconds of passes of 1 to maxRows rows, all with logits, with LLaDA-8B's shape on
// a chip: the staircase by which llada.cpp's window looks ahead (§3.2).
func DiffusionCosts(soc string, maxRows int) ([]float64, error) {
	c, err := sim.Find(soc)
	if err != nil {
		return nil, err
	}
	s, err := shapeIn("LLaDA-8B", npu.Q4_0)
	if err != nil {
		return nil, err
	}
	x := newDiffusionPhone(c, s)
	var costs []float64
	for rows := 1; rows <= maxRows; rows++ {
		costs = append(costs, x.step(dllm.Pass{Rows: rows, Logits: rows, Sees: 256}, Staging).Seconds())
	}
	return costs, nil
}
