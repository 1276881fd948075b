package npu

import "errors"

// Stage brings weights to where a program reads them. When a device runs a graph with staged tensors (Tensor.Staged),
// it calls Enter before it reads a node's weights and Leave after it has read them for the last time in this run. It
// need not call them for nodes without weights.
type Stage interface {
	// Enter returns when the node's weights are in place. If it returns an error, the run ends with that error.
	Enter(node int) error
	// Leave releases the memory of the node's weights.
	Leave(node int)
}

// ErrLost is wrapped by a run's error if the device has lost what was loaded onto it, as a phone's NPU does when its
// session restarts. The run can be repeated once everything is loaded again.
var ErrLost = errors.New("the device was lost")

// ErrMemory is wrapped by an error of Program.Run if weights, KV caches and activations need more memory than the device may
// use. Shorter sequences may fit.
var ErrMemory = errors.New("not enough memory on the device")
