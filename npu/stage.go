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

// Packer is a device that reads some weights in a layout of its own, which has groups of rows one behind the other.
// Who stages weights for it packs them as they are loaded and sets Tensor.Packed: a device that is handed
// staged weights as files have them packs them again in every run.
type Packer interface {
	// Group returns how many rows of the tensor make a group, and the bytes of one; 0, 0 for weights that the
	// device reads as files have them.
	Group(t *Tensor) (rows, bytes int)
	// PackGroup packs the group that begins with the row: so many rows as Group says, or the last ones.
	PackGroup(dst []byte, t *Tensor, row int)
}

// PackedBytes is the size of a tensor as the device reads it; d need not be a Packer.
func PackedBytes(d Device, t *Tensor) (n int, packed bool) {
	if p, ok := d.(Packer); ok {
		if rows, bytes := p.Group(t); rows > 0 {
			return (t.Rows + rows - 1) / rows * bytes, true
		}
	}
	return t.Rows * t.Type.RowBytes(t.Cols), false
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
