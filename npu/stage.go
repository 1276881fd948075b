package npu

import (
	"errors"
	"time"
)

// Stage brings weights to where a program reads them, in time. A device that runs a program whose graph
// has staged tensors (Tensor.Staged) calls Enter before it reads a node's weights and Leave when it has
// read them for the last time in this run; nodes without weights may be left out.
type Stage interface {
	// Enter returns when the node's weights are in place. On an error the run ends with it.
	Enter(node int) error
	// Leave says that the place of the node's weights may be used for others.
	Leave(node int)
}

// Timekeeper is a device that makes time up: a simulated one. Whoever stages weights on it says what is mapped
// and moved, and the device says how long that takes on its own clock, which runs while it is busy. Nodes
// pass on that clock as the device calls its run's Stage. Its methods may be called during a run.
type Timekeeper interface {
	// Now is the time on the device's clock.
	Now() time.Duration
	// Map says that a mapping of so many bytes is made for weights, beside no transfer. It fails where the
	// device has no addresses left.
	Map(bytes int64) error
	// Unmap says that a mapping is given back.
	Unmap(bytes int64)
	// Largest is how many bytes one mapping may have.
	Largest() int64
	// Move says that so many bytes are brought into a mapping: from the given time on, and after what was
	// mapped and moved before. It returns when that begins and when they are there.
	Move(bytes int64, from time.Duration) (begins, ends time.Duration)
	// Await lets the device wait until then.
	Await(until time.Duration)
}

// ErrLost is wrapped by a run's error when the device has lost what was loaded onto it, as a phone's NPU
// does when its session is restarted. What the run was asked to do can be asked again once everything is
// loaded again.
var ErrLost = errors.New("the device was lost")
