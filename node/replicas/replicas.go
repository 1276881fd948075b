// Package replicas decides which replica of a cloud a device asks: the nearest that has a place and is not about to leave.
// It is pure: time and distances are arguments, and it dials nothing.
package replicas

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"
)

// Set is what a device knows of a cloud's replicas. A replica may have several addresses; those that share a name are one.
type Set struct {
	spread uint64
	list   []place
}

type place struct {
	addr     string
	name     string        // of the replica; "" if unknown, or if the cloud has no replicas
	fixed    bool          // from the pairing, so it stays whatever the cloud announces
	distance time.Duration // round trip; 0 if unknown
	until    time.Time     // it is of no use before
	failures int           // in a row
}

// Event is something that happened at an address.
type Event uint8

// The events. Some have a duration.
const (
	Measured Event = iota // the round-trip time
	Served                // it took a question
	Full                  // it has no place for as long as the duration says; 0 if it cannot tell
	Leaves                // it is about to end
	Lost                  // it did not answer, or broke off
)

// How long an address is of no use after an event.
const (
	minFull   = time.Second
	maxFull   = 30 * time.Second
	away      = 20 * time.Second // a replica that leaves; another may come in its place
	firstLoss = time.Second      // doubled by each loss in a row
	maxLoss   = 30 * time.Second
)

// New returns a set of the addresses of a pairing. Devices with different values of spread choose differently among replicas
// at about the same distance.
func New(spread uint64, addrs []string) *Set {
	s := &Set{spread: spread}
	for _, a := range addrs {
		s.list = append(s.list, place{addr: a, fixed: true})
	}
	return s
}

// Announce takes the addresses that the cloud says its replicas have now, and reports whether any is new or gone. Those of the
// pairing stay.
func (s *Set) Announce(addrs []string) (changed bool) {
	before := len(s.list)
	s.list = slices.DeleteFunc(s.list, func(p place) bool { return !p.fixed && !slices.Contains(addrs, p.addr) })
	changed = len(s.list) != before
	for _, a := range addrs {
		if s.at(a) == nil {
			s.list, changed = append(s.list, place{addr: a}), true
		}
	}
	return changed
}

// Name says which replica answers at an address.
func (s *Set) Name(addr, replica string) {
	if p := s.at(addr); p != nil {
		p.name = replica
	}
}

// Addrs returns all addresses.
func (s *Set) Addrs() (list []string) {
	for _, p := range s.list {
		list = append(list, p.addr)
	}
	return list
}

// Distance returns the round-trip time to an address, 0 if it is not known.
func (s *Set) Distance(addr string) time.Duration {
	if p := s.at(addr); p != nil {
		return p.distance
	}
	return 0
}

// Measured reports whether any distance is known.
func (s *Set) Measured() bool {
	return slices.ContainsFunc(s.list, func(p place) bool { return p.distance > 0 })
}

// Step takes what happened at an address at now. What a replica says of itself holds for all of its addresses.
func (s *Set) Step(now time.Time, addr string, e Event, d time.Duration) {
	p := s.at(addr)
	if p == nil {
		return
	}
	switch e {
	case Measured:
		p.distance = max(d, 1)
		if p.failures > 0 { // it answers again
			p.failures, p.until = 0, now
		}
	case Served:
		s.all(p, func(p *place) { p.until, p.failures = now, 0 })
	case Full:
		s.all(p, func(p *place) { p.until = now.Add(min(max(d, minFull), maxFull)) })
	case Leaves:
		s.all(p, func(p *place) { p.until = now.Add(away) })
	case Lost:
		p.until = now.Add(min(firstLoss<<min(p.failures, 10), maxLoss))
		p.failures++
	}
}

// all calls f with every address of p's replica.
func (s *Set) all(p *place, f func(*place)) {
	f(p)
	for i := range s.list {
		if q := &s.list[i]; q != p && q.name != "" && q.name == p.name {
			f(q)
		}
	}
}

func (s *Set) at(addr string) *place {
	if i := slices.IndexFunc(s.list, func(p place) bool { return p.addr == addr }); i >= 0 {
		return &s.list[i]
	}
	return nil
}

// excepted reports whether p is one of the addresses, or another address of their replicas.
func (s *Set) excepted(p place, except []string) bool {
	return slices.ContainsFunc(except, func(addr string) bool {
		q := s.at(addr)
		return p.addr == addr || q != nil && q.name != "" && q.name == p.name
	})
}

// Order returns the addresses in the order in which to try them: the nearest, then the others by distance, those of unknown
// distance, and last those that are of no use now, the soonest first. It leaves out the replicas at the addresses of except.
func (s *Set) Order(now time.Time, except ...string) (list []string) {
	var places []place
	for _, p := range s.list {
		if !s.excepted(p, except) {
			places = append(places, p)
		}
	}
	nearest := nearest(places, now)
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(
			a.usable(now).Compare(b.usable(now)),
			cmp.Compare(a.class(nearest), b.class(nearest)),
			s.among(a, b, nearest),
		)
	})
	for _, p := range places {
		list = append(list, p.addr)
	}
	return list
}

// Others reports whether a replica other than those at the addresses may have a place now. It knows of none unless the cloud at
// here says that it is one of several.
func (s *Set) Others(now time.Time, here string, also ...string) bool {
	if own := s.at(here); own == nil || own.name == "" {
		return false
	}
	except := append([]string{here}, also...)
	return slices.ContainsFunc(s.list, func(p place) bool { return !s.excepted(p, except) && !p.until.After(now) })
}

// Fits reports whether a connection to an address need not be left for a nearer replica: it may be half as far again, and
// some milliseconds.
func (s *Set) Fits(now time.Time, addr string) bool {
	p, best := s.at(addr), nearest(s.list, now)
	return p != nil && !p.until.After(now) && (p.distance == 0 || best == 0 || p.distance <= best+best/2+10*time.Millisecond)
}

// usable is when p is of use: the zero time if it is now.
func (p place) usable(now time.Time) time.Time {
	if p.until.After(now) {
		return p.until
	}
	return time.Time{}
}

// nearest returns the shortest distance that is known among those of use; 0 for none.
func nearest(list []place, now time.Time) (best time.Duration) {
	for _, p := range list {
		if p.distance > 0 && !p.until.After(now) && (best == 0 || p.distance < best) {
			best = p.distance
		}
	}
	return best
}

// class is 0 for what is as near as the nearest, 1 for what is farther, 2 for an unknown distance.
func (p place) class(nearest time.Duration) int {
	switch {
	case p.distance == 0:
		return 2
	case p.distance <= nearest+nearest/4+2*time.Millisecond:
		return 0
	}
	return 1
}

// among orders two places of the same class. Replicas that are equally near share the devices.
func (s *Set) among(a, b place, nearest time.Duration) int {
	switch a.class(nearest) {
	case 0:
		return cmp.Compare(s.hash(a.addr), s.hash(b.addr))
	case 1:
		return cmp.Compare(a.distance, b.distance)
	}
	return 0
}

func (s *Set) hash(addr string) uint64 {
	h := fnv.New64a()
	for i := range 8 {
		h.Write([]byte{byte(s.spread >> (8 * i))})
	}
	h.Write([]byte(addr))
	x := h.Sum64() // whose high bits hardly depend on the first bytes of a short text
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}
