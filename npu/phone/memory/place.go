package memory

import (
	"fmt"
	"slices"
	"time"

	"tandem/npu"
)

// Placement says which objects stay in the arena and which pass through the staging slots.
type Placement struct {
	Budget    int64
	Resident  []int   // in the order of use: neighbours in time are neighbours in memory
	Offset    []int64 // of each object in the resident memory; −1 for temporary ones
	Temporary []int   // in the order of use
	Slot      int64   // bytes of one staging slot, 0 without temporary objects
}

// ResidentBytes returns the size of the resident objects.
func (p Placement) ResidentBytes(sizes []int64) (sum int64) {
	for _, o := range p.Resident {
		sum += aligned(sizes[o])
	}
	return sum
}

// Mappings cuts the resident objects, in the order of use, into mappings of at most largest bytes (0 for no bound). It
// returns the offset at which each mapping begins. No object lies in two.
func (p Placement) Mappings(sizes []int64, largest int64) (starts []int64) {
	for _, o := range p.Resident {
		at, last := p.Offset[o], len(starts)-1
		if last < 0 || largest > 0 && at+aligned(sizes[o])-starts[last] > largest {
			starts = append(starts, at)
		}
	}
	return starts
}

// Fixed counts what the placement maps at the start: the resident objects, in mappings of at most largest bytes (0 for no
// bound), and one mapping for the slots.
func (p Placement) Fixed(sizes []int64, largest int64) Counters {
	c := Counters{Mappings: len(p.Mappings(sizes, largest)), Mapped: p.ResidentBytes(sizes)}
	if len(p.Temporary) > 0 {
		c.Mappings, c.Mapped = c.Mappings+1, c.Mapped+stagingSlots*p.Slot
	}
	c.Peak = c.Mapped
	return c
}

// temporary reports, for each object, whether it passes through the slots.
func (p Placement) temporary(sizes []int64) []bool {
	set := make([]bool, len(sizes))
	for _, o := range p.Temporary {
		set[o] = true
	}
	return set
}

// BudgetError says that a budget cannot hold two staging slots for the largest object.
type BudgetError struct{ Budget, Least int64 }

func (e *BudgetError) Error() string {
	return fmt.Sprintf("a budget of %d bytes for weights is too small: it must be at least %d, two slots for the largest piece", e.Budget, e.Least)
}

// Is makes it an npu.ErrMemory.
func (e *BudgetError) Is(target error) bool { return target == npu.ErrMemory }

// Place divides objects of the given sizes, used in the order of uses, between resident mappings and the slots, within
// budget bytes (llada.cpp §3.4). It keeps as many bytes resident as fit, and spreads the temporary objects evenly so that
// computation hides each transfer. Then it exchanges single objects as long as that shortens the stall of a step. It
// leaves out objects without a use.
func Place(sizes []int64, uses []Use, costs Costs, budget int64) (Placement, error) {
	order := firstUses(sizes, uses)
	var total int64
	for _, o := range order {
		total += aligned(sizes[o])
	}
	if total <= budget {
		return layOut(sizes, order, make([]bool, len(sizes)), 0, budget), nil
	}
	caps := make([]int64, 0, len(order))
	for _, o := range order {
		caps = append(caps, aligned(sizes[o]))
	}
	slices.Sort(caps)
	caps = slices.Compact(caps)
	var best *chooser
	for _, slot := range caps {
		c := chooser{sizes: sizes, uses: uses, order: order, costs: costs, slot: slot, temporary: make([]bool, len(sizes))}
		if !c.choose(budget - stagingSlots*slot) {
			continue
		}
		c.improve()
		if best == nil || c.stall < best.stall {
			best = &c
		}
	}
	if best == nil {
		return Placement{}, &BudgetError{budget, stagingSlots * caps[len(caps)-1]}
	}
	return layOut(sizes, order, best.temporary, best.slot, budget), nil
}

func layOut(sizes []int64, order []int, temporary []bool, slot, budget int64) Placement {
	p := Placement{Budget: budget, Offset: make([]int64, len(sizes)), Slot: slot}
	var at int64
	for _, o := range order {
		if p.Offset[o] = at; temporary[o] {
			p.Offset[o], p.Temporary = -1, append(p.Temporary, o)
			continue
		}
		p.Resident, at = append(p.Resident, o), at+aligned(sizes[o])
	}
	return p
}

// chooser looks for a placement with slots of one size.
type chooser struct {
	sizes     []int64
	uses      []Use
	order     []int
	costs     Costs
	slot      int64
	room      int64 // left for resident objects
	temporary []bool
	stall     time.Duration
}

// choose makes a first placement. Objects that do not fit a slot stay. The others become temporary at equal distances in
// bytes. It reports whether the budget allows that.
func (c *chooser) choose(room int64) bool {
	var rest int64 // bytes that may be temporary
	for _, o := range c.order {
		if n := aligned(c.sizes[o]); n > c.slot {
			room -= n
		} else {
			rest += n
		}
	}
	if room < 0 {
		return false
	}
	share := 1 - float64(room)/float64(rest) // of the rest that becomes temporary
	debt := 0.5 * float64(c.slot)
	for _, o := range c.order {
		n := aligned(c.sizes[o])
		if n > c.slot {
			continue
		}
		debt += share * float64(n)
		if c.temporary[o] = debt >= float64(n) || room < n; c.temporary[o] {
			debt -= float64(n)
		} else {
			room -= n
		}
	}
	c.room = room
	return true
}

// improve makes temporary objects resident if there is room, then exchanges objects that are near each other in the order
// as long as the stall of a step falls.
func (c *chooser) improve() {
	for _, o := range c.order {
		if n := aligned(c.sizes[o]); c.temporary[o] && n <= c.room {
			c.temporary[o], c.room = false, c.room-n
		}
	}
	c.stall = c.step()
	for tries, improved := 4000, true; improved && tries > 0 && c.stall > 0; {
		improved = false
		for i, a := range c.order {
			if !c.temporary[a] {
				continue
			}
			for _, b := range c.order[max(0, i-8):min(len(c.order), i+9)] {
				spare := c.room + aligned(c.sizes[b]) - aligned(c.sizes[a])
				if c.temporary[b] || !c.temporary[a] || spare < 0 || aligned(c.sizes[b]) > c.slot {
					continue
				}
				if tries--; tries <= 0 {
					return
				}
				c.temporary[a], c.temporary[b] = false, true
				if t := c.step(); t < c.stall {
					c.stall, c.room, improved = t, spare, true
				} else {
					c.temporary[a], c.temporary[b] = true, false
				}
			}
		}
	}
}

func (c *chooser) step() time.Duration {
	return stall(c.sizes, c.uses, c.temporary, c.costs)
}

// stall returns how long the device waits in a step once steps repeat. It equals what Replay finds with a Staging pager. A
// transfer begins when the one before it has ended and the object before that has been read.
func stall(sizes []int64, uses []Use, temporary []bool, costs Costs) time.Duration {
	if count(temporary) <= stagingSlots {
		return 0 // they stay in the slots
	}
	const warm = 3 // steps until they repeat; two slots remember no more than two transfers
	var now, channel, last time.Duration
	var read [stagingSlots]time.Duration // when the last two temporary objects were read
	for range warm + 1 {
		last = 0
		for _, u := range uses {
			if temporary[u.Object] {
				channel = max(channel, read[0]) + costs.transfer(sizes[u.Object])
				if channel > now {
					last += channel - now
					now = channel
				}
				now += u.Compute
				read[0], read[1] = read[1], now
				continue
			}
			now += u.Compute
		}
	}
	return last
}

func count(set []bool) (n int) {
	for _, v := range set {
		if v {
			n++
		}
	}
	return n
}

// Reorder returns the uses with neighbours of one group in the order that stalls least, and the placement laid out for
// that order.
func Reorder(sizes []int64, uses []Use, p Placement, costs Costs) ([]Use, Placement) {
	temporary := p.temporary(sizes)
	best := slices.Clone(uses)
	least := stall(sizes, best, temporary, costs)
	for from := 0; from < len(best); {
		to := from + 1
		for to < len(best) && best[from].Group != 0 && best[to].Group == best[from].Group {
			to++
		}
		if n := to - from; n > 1 && n <= 4 {
			trial := slices.Clone(best)
			permutations(trial[from:to], func() {
				if t := stall(sizes, trial, temporary, costs); t < least {
					least, best = t, slices.Clone(trial)
				}
			})
		}
		from = to
	}
	return best, layOut(sizes, firstUses(sizes, best), temporary, p.Slot, p.Budget)
}

// firstUses returns the objects in the order in which they are first used.
func firstUses(sizes []int64, uses []Use) (order []int) {
	seen := make([]bool, len(sizes))
	for _, u := range uses {
		if !seen[u.Object] {
			seen[u.Object], order = true, append(order, u.Object)
		}
	}
	return order
}

// permutations calls f for every order of s. At the end s is as before.
func permutations[T any](s []T, f func()) {
	if len(s) <= 1 {
		f()
		return
	}
	for i := range s {
		s[0], s[i] = s[i], s[0]
		permutations(s[1:], f)
		s[0], s[i] = s[i], s[0]
	}
}
