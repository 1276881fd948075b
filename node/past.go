package node

import (
	"sync"

	"tandem/pair"
	"tandem/profiler"
	"tandem/specdec"
)

// Past is what a side has learnt from its answers so far: what passes cost, and which guesses are right. Each answer begins
// with it. It affects how fast tokens come, but never which ones. The zero value has learnt nothing.
type Past struct {
	guesses specdec.Experience

	mu      sync.Mutex
	planner profiler.PassPlanner
}

// passPlanner returns what a machine begins with.
func (p *Past) passPlanner() (a profiler.PassPlanner) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		a = p.planner
	}
	return a
}

// learn takes what a machine has learnt.
func (p *Past) learn(m *pair.Machine) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.planner = m.Learned()
	}
}

// experience returns the part for a decoder.
func (p *Past) experience() *specdec.Experience {
	if p == nil {
		return nil
	}
	return &p.guesses
}
