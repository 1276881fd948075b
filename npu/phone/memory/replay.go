package memory

import "time"

// Use is one operator that reads an object. The operators in order make a step, which repeats.
type Use struct {
	Object  int
	Compute time.Duration // of the operator and everything after it, up to the next use
	// Group, unless 0, is common to neighbours that do not depend on each other. Reorder may swap them.
	Group int
}

// Costs are a device's costs of moving data.
type Costs struct {
	PerByte     float64       // nanoseconds to read a byte of weights
	PerTransfer time.Duration // to begin a transfer
	PerMapping  time.Duration // to map memory for the device
	MapPerByte  float64       // nanoseconds to map a byte
}

// transfer returns how long the transfer of an object of the given size takes.
func (c Costs) transfer(bytes int64) time.Duration {
	return c.PerTransfer + time.Duration(c.PerByte*float64(bytes))
}

func (c Costs) mapping(bytes int64) time.Duration {
	return c.PerMapping + time.Duration(c.MapPerByte*float64(bytes))
}

// Counters count what a Pager's actions did.
type Counters struct {
	Steps         int
	Mapped, Peak  int64 // bytes mapped for weights: now, and at most
	Mappings      int   // made
	Transfers     int
	TransferBytes int64
	Retries       int           // transfers and runs tried again after a failure
	Stall         time.Duration // how long the device waited for weights
	Time          time.Duration // all steps, from the first use to the last
}

// Sub returns what was done since an earlier reading. Mapped and Peak stay as they are.
func (c Counters) Sub(d Counters) Counters {
	c.Steps -= d.Steps
	c.Mappings -= d.Mappings
	c.Transfers -= d.Transfers
	c.TransferBytes -= d.TransferBytes
	c.Retries -= d.Retries
	c.Stall -= d.Stall
	c.Time -= d.Time
	return c
}

// Replay runs a Pager for the given number of steps in virtual time. One transfer is active at a time, while the device
// computes. fixed counts what is mapped at the start: Placement.Fixed, or nothing for paging.
func Replay(p Pager, sizes []int64, uses []Use, costs Costs, steps int, fixed Counters) Counters {
	r := replay{pager: p, sizes: sizes, costs: costs, Counters: fixed}
	r.Peak = max(r.Peak, r.Mapped)
	for range steps {
		for _, u := range uses {
			r.use(u)
		}
		r.Steps++
	}
	r.Time = r.now
	return r.Counters
}

type replay struct {
	pager   Pager
	sizes   []int64
	costs   Costs
	now     time.Duration
	loading int // while busy
	busy    bool
	ends    time.Duration
	granted bool
	actions []Action
	Counters
}

func (r *replay) step(e Event) {
	r.actions = r.pager.Step(e, r.actions[:0])
	for _, a := range r.actions {
		switch a.Kind {
		case Go:
			r.granted = true
		case Unmap:
			r.Mapped -= aligned(r.sizes[a.Object])
		case Load:
			bytes := r.sizes[a.Object]
			r.loading, r.busy, r.ends = a.Object, true, r.now+r.costs.transfer(bytes)
			r.Transfers, r.TransferBytes = r.Transfers+1, r.TransferBytes+bytes
			if a.Slot == OwnMapping {
				r.ends += r.costs.mapping(bytes)
				r.Mappings, r.Mapped = r.Mappings+1, r.Mapped+aligned(bytes)
				r.Peak = max(r.Peak, r.Mapped)
			}
		}
	}
}

// arrive ends the transfer.
func (r *replay) arrive() {
	r.now, r.busy = max(r.now, r.ends), false
	r.step(Event{Loaded, r.loading})
}

func (r *replay) use(u Use) {
	requested := r.now
	r.granted = false
	r.step(Event{Want, u.Object})
	for !r.granted && r.busy {
		r.arrive()
	}
	r.Stall += r.now - requested
	end := r.now + u.Compute
	for r.busy && r.ends <= end {
		r.arrive()
	}
	r.now = end
	r.step(Event{Done, u.Object})
}
