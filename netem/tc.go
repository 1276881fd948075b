package netem

import (
	"errors"
	"fmt"
	"time"
)

// Kernel is a path that the kernel emulates on a network interface, as "tc qdisc … netem" sets it up. It
// shapes what leaves the interface, for every program that sends there; a path both ways takes an interface
// at each end, or one in the middle.
type Kernel struct{ Interface string }

// KernelState is what a Kernel does at present.
type KernelState struct {
	Interface string        `json:"interface"`
	Qdisc     string        `json:"qdisc"` // the kind of the interface's root queue; the rest is about "netem" only
	Delay     time.Duration `json:"delay_ns,omitempty"`
	Jitter    time.Duration `json:"jitter_ns,omitempty"` // as the kernel scales it: four times that of a pareto path's table
	Loss      float64       `json:"loss,omitempty"`
	Duplicate float64       `json:"duplicate,omitempty"`
	Reorder   float64       `json:"reorder,omitempty"`
	Rate      float64       `json:"rate,omitempty"`  // bits a second
	Limit     int           `json:"limit,omitempty"` // packets held at once
}

// ErrNoKernel is wrapped by errors of a Kernel where the kernel cannot emulate: a Relay can then.
var ErrNoKernel = errors.New("the kernel cannot emulate a path")

// ErrForbidden is wrapped by errors of a Kernel that this process may not change.
var ErrForbidden = errors.New("not permitted: run as root, or give the container cap_add: [NET_ADMIN] and user 0")

// kernelCan names the first thing in c that only a Relay does.
func (c Config) kernelCan() error {
	what := ""
	switch {
	case len(c.Outages) > 0:
		what = "outages"
	case c.Trace != nil:
		what = "the replay of a trace"
	case c.Reorder > 0 && c.Delay == 0:
		return errors.New("netem: reordering needs a delay for packets to overtake: set one")
	default:
		return nil
	}
	return fmt.Errorf("netem: %w with %s: use a relay for it", ErrNoKernel, what)
}
