package sim

import (
	"sync"
	"time"

	"tandem/npu"
)

// A StandIn makes a device charge the costs of a model of another shape than the one that runs. So a small model that this
// machine can run follows the rules and the clock of a large one: the passes, chunks and rows are those of the small model, and
// their costs are those of the large one.
type StandIn struct {
	Shape  Shape // whose costs are charged
	Layers int   // of the model that runs; each stands for an equal share of Shape's

	mu     sync.Mutex
	blocks map[int][]*npu.Graph // one layer and the head, by rows
}

// graph returns what a graph with products stands for, a layer of Shape or its head, and how often.
func (s *StandIn) graph(g *npu.Graph) (of *npu.Graph, times, parts int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	blocks := s.blocks[g.Chunk]
	if blocks == nil {
		one := s.Shape
		one.Layers = 1
		blocks = one.Blocks(g.Chunk, g.Chunk)
		if s.blocks == nil {
			s.blocks = map[int][]*npu.Graph{}
		}
		s.blocks[g.Chunk] = blocks
	}
	if attends(g) {
		return blocks[0], int64(s.Shape.Layers), int64(s.Layers)
	}
	return blocks[1], 1, 1
}

// transientCost is the cost of a graph that is made for one text: the host computes its products.
func (d *Device) transientCost(g *npu.Graph) (c Cost) {
	for i := range g.Nodes {
		if cols, bytes := d.costs.matrix(&g.Nodes[i]); bytes > 0 {
			if d.opt.StandIn != nil {
				cols = d.opt.StandIn.Shape.Dim
			}
			weights := float64(cols) * float64(g.Nodes[i].Width)
			c.CPU += d.costs.CPUProducts(g.Chunk, weights, weights)
		}
	}
	return c
}

// Bytes returns the memory that the weights of a graph's products need on the device, or those of the graph that it stands for.
func (d *Device) Bytes(g *npu.Graph) int64 {
	bytes := d.costs.Bytes(g)
	switch {
	case g.Transient:
		return 0
	case d.opt.StandIn == nil || bytes == 0:
		return bytes
	}
	graph, times, parts := d.opt.StandIn.graph(g)
	return d.costs.Bytes(graph) * times / parts
}

// Cost returns the cost of one run of a graph, or of what it stands for, that attends to the given number of positions.
func (d *Device) Cost(g *npu.Graph, context int) Cost {
	switch {
	case g.Transient:
		return d.transientCost(g)
	case d.opt.StandIn == nil || d.onHost(g):
		return d.costs.Graph(g, context)
	}
	of, times, parts := d.opt.StandIn.graph(g)
	c := d.costs.Graph(of, context)
	return Cost{NPU: c.NPU * time.Duration(times) / time.Duration(parts), CPU: c.CPU * time.Duration(times) / time.Duration(parts), Weights: c.Weights * times / parts}
}
