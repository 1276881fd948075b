package phone

import (
	"context"
	"sync"
	"time"

	"tandem/npu"
)

// bidirectionalSchedule is the schedule of a pass whose rows attend both ways: all its chunks run on the same graphs.
type bidirectionalSchedule struct {
	d        *Device
	all      []*npu.Programs
	programs *npu.Programs
}

// Next implements npu.Schedule.
func (s *bidirectionalSchedule) Next(int) *npu.Programs { return s.programs }

// Head implements npu.Schedule.
func (s *bidirectionalSchedule) Head(rows int) npu.Program {
	return s.d.headChoice.choose(s.d, s.all, rows, 0).Head
}

// End implements npu.Schedule.
func (s *bidirectionalSchedule) End(context.Context) error { return nil }

// A programChoice chooses the graphs for a series of passes with fewer and fewer rows, and passes of only a few rows in between.
// It does not immediately load the graphs that would be fastest. It keeps using the loaded ones until that has cost as
// much time as loading the others and loading these again would. So the total time is at most a constant factor above the
// optimum for a known series (a competitive online algorithm).
type programChoice struct {
	ofHeads bool // of the heads, else of the layers

	mu       sync.Mutex
	overpaid time.Duration
}

// choose returns the programs for a number of rows that attend to context positions, among those that hold all rows if
// there are any.
func (c *programChoice) choose(d *Device, all []*npu.Programs, rows, context int) *npu.Programs {
	var best, here *npu.Programs // the fastest, and the fastest of those that are loaded
	var least, now time.Duration
	for _, p := range all {
		if p != all[len(all)-1] && p.Chunk < rows {
			continue
		}
		took := c.runTime(d, p, rows, context)
		if best == nil || took < least {
			best, least = p, took
		}
		if c.loaded(d, p) && (here == nil || took < now) {
			here, now = p, took
		}
	}
	if here == nil || here == best {
		return best
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.overpaid += now - least; c.overpaid < 2*c.loadTime(d, best) {
		return here
	}
	c.overpaid = 0
	return best
}

// graphs returns the graphs that are chosen together.
func (c *programChoice) graphs(p *npu.Programs) (list []*npu.Graph) {
	if c.ofHeads {
		return []*npu.Graph{p.Head.Graph()}
	}
	for _, l := range p.Layers {
		list = append(list, l.Graph())
	}
	return list
}

// runTime returns how long the graphs take. Of a pass in both directions that takes several chunks, layers compute all but the last chunk twice.
func (c *programChoice) runTime(d *Device, p *npu.Programs, rows, context int) time.Duration {
	runs := (rows + p.Chunk - 1) / p.Chunk
	if !c.ofHeads {
		runs = 2*runs - 1
	}
	var sum time.Duration
	for _, g := range c.graphs(p) {
		sum += d.sim.Cost(g, context).Time()
	}
	return sum * time.Duration(runs)
}

// loaded reports whether the graphs are loaded.
func (c *programChoice) loaded(d *Device, p *npu.Programs) bool {
	for _, g := range c.graphs(p) {
		if !d.sim.Loaded(g.Name, p.Chunk) {
			return false
		}
	}
	return true
}

// loadTime returns how long it takes to load the graphs.
func (c *programChoice) loadTime(d *Device, p *npu.Programs) (sum time.Duration) {
	costs := d.sim.Costs()
	for _, g := range c.graphs(p) {
		sum += costs.LoadTime(1, d.sim.Bytes(g))
	}
	return sum
}
