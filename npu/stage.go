package npu

import "errors"

// Stage brings weights to where a program reads them, in time. A device that runs a program whose graph
// has staged tensors (Tensor.Staged) calls Enter before it reads a node's weights and Leave when it has
// read them for the last time in this run; nodes without weights may be left out.
type Stage interface {
	// Enter returns when the node's weights are in place. On an error the run ends with it.
	Enter(node int) error
	// Leave says that the place of the node's weights may be used for others.
	Leave(node int)
}

// ErrLost is wrapped by a run's error when the device has lost what was loaded onto it, as a phone's NPU
// does when its session is restarted. What the run was asked to do can be asked again once everything is
// loaded again.
var ErrLost = errors.New("the device was lost")
