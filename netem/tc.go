package netem

import (
	"errors"
	"fmt"
	"time"
)

// Kernel is a path that the kernel emulates on a network interface, as with "tc qdisc … netem". It affects what every
// program sends on the interface. A path in both directions requires an interface at each end, or one in the middle.
type Kernel struct{ Interface string }

// KernelState is the current state of a Kernel.
type KernelState struct {
	Interface string        `json:"interface"`
	Qdisc     string        `json:"qdisc"` // the kind of the interface's root queue; the other fields are only for "netem"
	Delay     time.Duration `json:"delay_ns,omitempty"`
	Jitter    time.Duration `json:"jitter_ns,omitempty"`   // as the kernel reports it: for a Pareto path, four times the path's
	Loss      float64       `json:"loss,omitempty"`        // mean share, bursts included
	Enter     float64       `json:"burst_enter,omitempty"` // as in Burst
	Leave     float64       `json:"burst_leave,omitempty"`
	Duplicate float64       `json:"duplicate,omitempty"`
	Reorder   float64       `json:"reorder,omitempty"`
	Rate      float64       `json:"rate,omitempty"`  // bits per second
	Limit     int           `json:"limit,omitempty"` // packets held at once
}

// ErrNoKernel means that the kernel cannot emulate the path. A Relay can.
var ErrNoKernel = errors.New("the kernel cannot emulate a path")

// ErrForbidden means that this process may not change the interface.
var ErrForbidden = errors.New("not permitted: run as root, or give the container cap_add: [NET_ADMIN] and user 0")

// kernelCan returns an error that names the first setting of c that only a Relay can emulate.
func (c Config) kernelCan() error {
	what := ""
	switch {
	case len(c.Outages) > 0:
		what = "outages"
	case c.Trace != nil:
		what = "the replay of a trace"
	case c.Corrupt > 0:
		what = "flipped bits"
	case c.Reorder > 0 && c.Delay == 0:
		return errors.New("netem: reordering needs a delay that packets can skip: set one")
	default:
		return nil
	}
	return fmt.Errorf("netem: %w with %s: use a relay", ErrNoKernel, what)
}
