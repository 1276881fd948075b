package phone

import (
	"time"

	"tandem/npu"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/sim"
)

// Runtime is a way to compute with more weights than may be mapped at once (llada.cpp §3.4).
type Runtime string

const (
	Staging Runtime = "staging" // weights have a place, or pass through slots, as a profile advises
	Paging  Runtime = "paging"  // the baseline: each weight is mapped when it is needed, in place of the least recently used
)

// runtimes are all, in the order of the tables.
var runtimes = []Runtime{Staging, Paging}

// weights are the matrices that a step of a model reads on a chip.
type weights struct {
	sizes  []int64      // bytes, in the order of reading
	uses   []memory.Use // how long the NPU computes from one to the next; products of the same input may change places
	costs  memory.Costs
	window int64 // bytes that a session of the NPU can map
}

// weightsOf returns the weights that a step reads, with its number of rows and the positions before them.
func weightsOf(c sim.Costs, s sim.Shape, rows, context int) weights {
	return weightsIn(c, s.Blocks(rows, 1), context)
}

// weightsIn returns the weights that graphs read, which run one after the other.
func weightsIn(c sim.Costs, graphs []*npu.Graph, context int) weights {
	w := weights{costs: memory.Costs{PerByte: 1e9 / c.Stage, PerMapping: c.Map, MapPerByte: 1e9 / c.MapRate}, window: c.Window}
	group := 0
	for _, g := range graphs {
		input := npu.Value(-1)
		first := len(w.uses)
		var products time.Duration
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if n.Op != npu.OpMatMul {
				continue
			}
			if n.Args[0] != input {
				input, group = n.Args[0], group+1
			}
			b := c.WeightBytes(n.Weight)
			t := c.Product(g.Chunk, n.Weight.Cols, n.Weight.Rows, b)
			w.uses = append(w.uses, memory.Use{Object: len(w.sizes), Compute: t, Group: group})
			w.sizes = append(w.sizes, b)
			products += t
		}
		// Whatever else the block does comes between the products.
		rest := (c.Graph(g, context).Time() - products) / time.Duration(max(1, len(w.uses)-first))
		for i := range w.uses[first:] {
			w.uses[first+i].Compute += max(0, rest)
		}
	}
	return w
}

// player plays steps from the beginning, in virtual time.
type player struct {
	play func(steps int) memory.Counters
	once memory.Counters // of the mappings that are made before the first step and stay
}

// player returns what plays steps with at most as many bytes mapped. It is an error if they do not hold what the runtime needs.
func (w weights) player(by Runtime, budget int64) (player, error) {
	if by == Paging {
		size := func(object int) int64 { return w.sizes[object] }
		return player{play: func(steps int) memory.Counters {
			return memory.Replay(memory.NewLRU(size, budget), w.sizes, w.uses, w.costs, steps, memory.Counters{})
		}}, nil
	}
	placement, err := memory.Place(w.sizes, w.uses, w.costs, budget)
	if err != nil {
		return player{}, err
	}
	order, placement := memory.Reorder(w.sizes, w.uses, placement, w.costs)
	fixed := placement.Fixed(w.sizes, w.window)
	return player{once: fixed, play: func(steps int) memory.Counters {
		return memory.Replay(memory.NewStaging(placement), w.sizes, order, w.costs, steps, fixed)
	}}, nil
}

// warmSteps are played before those that count, since the first ones map everything.
const warmSteps = 2

// steady returns the counters of steps behind the first ones, and those of all.
func (p player) steady(steps int) (counted, all memory.Counters) {
	all = p.play(warmSteps + steps)
	return all.Sub(p.play(warmSteps)), all
}
