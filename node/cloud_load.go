package node

import (
	"sync"
	"sync/atomic"
)

// counter counts who is there, and tells when nobody is.
type counter struct {
	mu    sync.Mutex
	n     int
	empty chan struct{} // closed when nobody is there any more; nil while nobody waits for that
}

// enter counts one more until leave is called.
func (c *counter) enter() (leave func()) {
	c.add(1)
	return func() { c.add(-1) }
}

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n += n; c.n == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// whenEmpty returns a channel that is closed when nobody is there.
func (c *counter) whenEmpty() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.empty == nil {
		c.empty = make(chan struct{})
	}
	left := c.empty
	if c.n == 0 {
		close(left)
		c.empty = nil
	}
	return left
}

// Load is what a cloud is doing at a moment.
type Load struct {
	Devices    int   // connections
	Answers    int   // that it takes part in
	Waiting    int   // questions that have no slot yet
	KVReserved int64 // bytes of keys and values that the answers may need; 0 if nothing bounds them
}

// Load may be called at any time.
func (c *Cloud) Load() Load {
	return Load{
		Devices: int(c.connected.Load()), Answers: int(c.answering.Load()), Waiting: int(c.waiting.Load()), KVReserved: c.memory.taken.Load(),
	}
}

// during counts one more until the returned function is called.
func during(n *atomic.Int64) (end func()) {
	n.Add(1)
	return func() { n.Add(-1) }
}
