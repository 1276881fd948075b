package ggml

import (
	"math"
	"time"
)

// pace chooses how many threads of a processor compute a graph. ggml's threads wait for each other after every operation by
// spinning. So if something else needs a core, such as the other side of a pair on the same machine, two threads can be a
// hundred times slower than one. For each size of work, pace measures during computation which number of threads is
// fastest, and tries others from time to time.
//
// It has no clock and starts no threads. Callers pass it the times.
type pace struct {
	levels  []int // numbers of threads to choose from, ascending
	classes map[int]*paceClass
	debt    float64 // time to spend before the next try of any class, after a try that lost
}

// paceClass holds the measurements of graphs with about the same work.
type paceClass struct {
	now   int       // the level in use
	took  []float64 // time per work at each level, 0 if never tried
	spent float64   // time since another level was tried
	other int       // which neighbour of now is tried next: +1 or -1
	bar   float64   // time to spend before the next try, as a multiple of the time that the try takes
}

const (
	minBar = 100  // so trying takes some 1 % of the time
	maxBar = 1000 // for a level that has often lost
)

func newPace(threads int) *pace {
	p := &pace{classes: map[int]*paceClass{}}
	for n := threads; n > 0; n /= 2 {
		p.levels = append([]int{n}, p.levels...)
	}
	return p
}

func (p *pace) class(work float64) *paceClass {
	k := int(math.Log2(max(work, 1)))
	if p.classes[k] == nil {
		p.classes[k] = &paceClass{took: make([]float64, len(p.levels)), other: 1, bar: minBar}
	}
	return p.classes[k]
}

// choose returns the level for the given work. It starts with one thread, which is never much slower, and moves up as long as
// more threads are faster.
func (p *pace) choose(work float64) int {
	c := p.class(work)
	if n := c.neighbour(); c.took[c.now] > 0 && c.spent >= c.bar*c.took[n]*work && p.debt <= 0 {
		return n
	}
	return c.now
}

// neighbour returns the level to try next.
func (c *paceClass) neighbour() int {
	if n := c.now + c.other; n >= 0 && n < len(c.took) {
		return n
	}
	if n := c.now - c.other; n >= 0 && n < len(c.took) {
		return n
	}
	return c.now
}

// done records how long the work took at a level that choose returned.
func (p *pace) done(work float64, level int, took time.Duration) {
	c, t := p.class(work), float64(took)
	rate := max(t, 1) / max(work, 1)
	p.debt = max(0, p.debt-t)
	if level == c.now {
		if c.took[level] > 0 {
			rate = (rate + c.took[level]) / 2
		}
		c.took[level] = rate
		c.spent += t
		if n := c.neighbour(); c.took[n] > 0 && c.took[n] < rate/2 { // it has become slow
			c.move(n)
		}
		return
	}
	// Another was tried.
	c.took[level], c.spent = rate, 0
	if rate < c.took[c.now] {
		c.move(level)
		return
	}
	p.debt += minBar * (t - c.took[c.now]*work)
	c.other, c.bar = c.now-level, min(2*c.bar, maxBar)
}

// move changes to another level. The next level in that direction is tried at once if it never was.
func (c *paceClass) move(level int) {
	c.other, c.now, c.bar, c.spent = level-c.now, level, minBar, 0
}
