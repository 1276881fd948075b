package pass

import (
	"maps"

	"tandem/npu"
	"tandem/npu/reference"
)

// INT4 rounds a model's layers: weights to 4 bits by channel, activations to 8 bits by tensor (Samsung §3.3).
// Embedding, norms, attention and head stay as they are. Run a text through a model on Observer first.
type INT4 struct{ largest map[string]float32 }

// NewINT4 returns an INT4 that has seen nothing yet.
func NewINT4() *INT4 { return &INT4{map[string]float32{}} }

// Observer returns a device that computes without rounding and notes the inputs of every product.
func (c *INT4) Observer() npu.Device {
	d := reference.New()
	d.Observe = func(n *npu.Node, x []float32) {
		top := c.largest[n.Weight.Name]
		for _, v := range x {
			top = max(top, v, -v)
		}
		c.largest[n.Weight.Name] = top
	}
	return d
}

// Device returns a device that rounds what has been observed, without the products of the head's graph.
func (c *INT4) Device(head *npu.Graph) npu.Device {
	largest := maps.Clone(c.largest)
	for i := range head.Nodes {
		delete(largest, nameOf(&head.Nodes[i]))
	}
	return device{Device: reference.New(), pass: quantize(largest)}
}
