package sim

import (
	"testing"
	"time"

	"tandem/npu"
	"tandem/npu/native"
)

// A device that stands for another shape charges that shape's whole cost, shared among the layers that run, and nothing of
// what runs. A head that is made for one text is the host's, whose products have the shape's width.
func TestStandIn(t *testing.T) {
	c, err := Find("sm8550/mllm")
	if err != nil {
		t.Fatal(err)
	}
	shape, err := FindShape("Qwen2.5-1.5B")
	if err != nil {
		t.Fatal(err)
	}
	shape.Type, shape.HeadType = npu.Q8_0, npu.Q8_0
	small := shape
	small.Layers, small.Dim, small.FF, small.Heads, small.KVHeads, small.HeadDim, small.Vocab = 4, 64, 64, 2, 1, 32, 100
	d := Wrap(native.New(1), c, Options{StandIn: &StandIn{Shape: shape, Layers: small.Layers}})
	defer d.Close()
	own, other := small.Blocks(32, 32), shape.Blocks(32, 32)
	var want, got Cost
	var wantBytes, gotBytes int64
	for _, g := range other {
		want, wantBytes = want.Plus(c.Graph(g, 300)), wantBytes+c.Bytes(g)
	}
	for _, g := range own {
		got, gotBytes = got.Plus(d.Cost(g, 300)), gotBytes+d.Bytes(g)
	}
	if diff := (got.Time() - want.Time()).Abs(); diff > time.Microsecond || got.Weights != want.Weights || gotBytes != wantBytes {
		t.Errorf("%v, %d bytes to load; want %v, %d", got, gotBytes, want, wantBytes)
	}
	once := own[len(own)-1]
	once.Transient = true
	weights := float64(shape.Dim * small.Vocab)
	if cost := d.Cost(once, 300); d.Bytes(once) != 0 || cost.NPU != 0 || cost.CPU != c.CPUProducts(32, weights, weights) {
		t.Errorf("a head for one text costs %v and %d bytes", cost, d.Bytes(once))
	}
}
