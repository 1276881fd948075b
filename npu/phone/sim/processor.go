package sim

import (
	"fmt"
	"sync"
	"time"

	"tandem/npu"
)

// A processor is that of the phone. It computes a second path while the NPU computes the first (llada.cpp §3.3). What it
// computes takes the processor's time. Its clock runs from where both met last.
type processor struct {
	npu.Device // of this machine
	phone      *Device

	mu   sync.Mutex // held while the processor is busy
	pace pace
	now  time.Duration // guarded by phone.statsMu
}

// Traits implements npu.Device.
func (c *processor) Traits() npu.Traits {
	t := c.Device.Traits()
	t.Second, t.SyncClocks = nil, c.syncClocks
	return t
}

// syncClocks lets the NPU and the processor go on from the later of their times.
func (c *processor) syncClocks() {
	d := c.phone
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	d.stats.Busy = max(d.stats.Busy, c.now)
	c.now = d.stats.Busy
}

// Compile implements npu.Device. The phone keeps the weights once for both paths.
func (c *processor) Compile(g *npu.Graph) (npu.Program, error) {
	if g.HasExperts() {
		return nil, fmt.Errorf("graph %s: a phone's second path has no costs for a mixture of experts: use a dense model", g.Name)
	}
	p, err := c.Device.Compile(g)
	return &processorProgram{p, c}, err
}

type processorProgram struct {
	npu.Program
	processor *processor
}

// Run computes on this machine and charges the processor's time, or takes it if paced.
func (p *processorProgram) Run(a npu.Args) error {
	c, d := p.processor, p.processor.phone
	c.mu.Lock()
	defer c.mu.Unlock()
	start := time.Now()
	if err := p.Program.Run(a); err != nil {
		return err
	}
	context := 0
	if attends(p.Graph()) {
		for row := range a.Rows {
			context = max(context, a.Mask(row).Reach())
		}
	}
	took := d.onProcessor(p.Graph(), a.Rows, context)
	d.statsMu.Lock()
	c.now += took
	d.stats.CPU += took
	d.stats.Joules += took.Seconds() * d.costs.CPUWatts
	d.statsMu.Unlock()
	if d.opt.Paced {
		c.pace.wait(d.opt.Sleep, took, time.Since(start))
	}
	return nil
}

// onProcessor returns the processor's time for the products and the attention of rows of a graph, or of what it stands for.
func (d *Device) onProcessor(g *npu.Graph, rows, context int) (took time.Duration) {
	times, parts := int64(1), int64(1)
	if d.opt.StandIn != nil && !d.onHost(g) {
		g, times, parts = d.opt.StandIn.graph(g)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if cols, bytes := d.costs.matrix(n); bytes > 0 {
			took += d.costs.CPUProducts(rows, float64(cols)*float64(n.Width), float64(bytes))
		}
		if a := n.Attention; a != nil {
			took += d.costs.CPUAttention(rows, context, a.Heads*a.HeadDim, a.Cache.Row(a.KVHeads*a.HeadDim))
		}
	}
	return took * time.Duration(times) / time.Duration(parts)
}
