package pairtest

import (
	"container/heap"
	"time"
)

// Clock is virtual time: a queue of what will happen. Events of the same instant happen in the order in which they were
// planned.
type Clock struct {
	Now    time.Duration
	events events
	seq    int
}

// After plans an event d from now.
func (c *Clock) After(d time.Duration, do func()) {
	c.seq++
	heap.Push(&c.events, event{c.Now + d, c.seq, do})
}

// Next plays the next event, and reports whether there was one.
func (c *Clock) Next() bool {
	if len(c.events) == 0 {
		return false
	}
	e := heap.Pop(&c.events).(event)
	c.Now = e.at
	e.do()
	return true
}

// Planned returns how many events have been planned so far.
func (c *Clock) Planned() int { return c.seq }

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	x := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return x
}
