package memory

import (
	"fmt"
	"slices"
	"time"

	"tandem/npu"
)

// clock is the inner device's, if it has one, or else real time.
type clock struct {
	npu.Clock // nil if the inner device takes real time
	start     time.Time
}

// simulated reports whether the inner device has a clock.
func (c clock) simulated() bool { return c.Clock != nil }

// now returns the time on the clock.
func (c clock) now() time.Duration {
	if c.simulated() {
		return c.Now()
	}
	return time.Since(c.start)
}

// arena holds mappings for weights: those of resident objects, the slots, and under paging one for each object.
type arena struct {
	clock       clock
	mapMemory   func(bytes int) ([]byte, error)
	unmapMemory func([]byte) error // may be nil
	counters    *Counters

	placement Placement
	resident  [][]byte // mappings
	starts    []int64  // where in the placement each begins
	slots     []byte
}

// mapPlacement makes the mappings of a placement.
func (a *arena) mapPlacement(p Placement, sizes []int64) (err error) {
	var largest int64
	if a.clock.simulated() {
		largest = a.clock.Largest()
	}
	a.starts = p.Mappings(sizes, largest)
	for i, at := range a.starts {
		end := p.ResidentBytes(sizes)
		if i+1 < len(a.starts) {
			end = a.starts[i+1]
		}
		b, err := a.addMapping(end - at)
		if err != nil {
			return err
		}
		a.resident = append(a.resident, b)
	}
	if len(p.Temporary) > 0 {
		if a.slots, err = a.addMapping(stagingSlots * p.Slot); err != nil {
			return err
		}
	}
	a.placement = p
	return nil
}

// addMapping makes a mapping.
func (a *arena) addMapping(bytes int64) (b []byte, err error) {
	if a.clock.simulated() {
		err = a.clock.Map(bytes)
	}
	if err == nil {
		if b, err = a.mapMemory(int(bytes)); err != nil && a.clock.simulated() {
			a.clock.Unmap(bytes)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("map %d bytes for weights: %w: try a smaller memory budget", bytes, err)
	}
	a.counters.Mappings++
	a.counters.Mapped += bytes
	a.counters.Peak = max(a.counters.Peak, a.counters.Mapped)
	return b, nil
}

// freeMapping frees a mapping, if there is one.
func (a *arena) freeMapping(b *[]byte) {
	if *b == nil {
		return
	}
	a.counters.Mapped -= int64(len(*b))
	if a.clock.simulated() {
		a.clock.Unmap(int64(len(*b)))
	}
	if a.unmapMemory != nil {
		a.unmapMemory(*b)
	}
	*b = nil
}

// clear frees the mappings of the placement.
func (a *arena) clear() {
	for i := range a.resident {
		a.freeMapping(&a.resident[i])
	}
	a.resident = nil
	a.freeMapping(&a.slots)
}

// bytes returns the place of an object, which is in the slot unless it is resident.
func (a *arena) bytes(id int, o *object, slot int) []byte {
	n := o.size
	switch {
	case o.ownMapping != nil:
		return o.ownMapping[:n:n]
	case a.placement.Offset[id] >= 0:
		at := a.placement.Offset[id]
		i, begins := slices.BinarySearch(a.starts, at)
		if !begins {
			i--
		}
		return a.resident[i][at-a.starts[i]:][:n:n]
	}
	return a.slots[int64(slot)*a.placement.Slot:][:n:n]
}
