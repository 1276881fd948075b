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
	addrs  []address
}

type address struct {
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
		s.addrs = append(s.addrs, address{addr: a, fixed: true})
	}
	return s
}

// Announce takes the addresses that the cloud says its replicas have now, and reports whether any is new or gone. Those of the
// pairing stay.
func (s *Set) Announce(addrs []string) (changed bool) {
	before := len(s.addrs)
	s.addrs = slices.DeleteFunc(s.addrs, func(p address) bool { return !p.fixed && !slices.Contains(addrs, p.addr) })
	changed = len(s.addrs) != before
	for _, a := range addrs {
		if s.find(a) == nil {
			s.addrs, changed = append(s.addrs, address{addr: a}), true
		}
	}
	return changed
}

// Name says which replica answers at an address.
func (s *Set) Name(addr, replica string) {
	if p := s.find(addr); p != nil {
		p.name = replica
	}
}

// Addrs returns all addresses.
func (s *Set) Addrs() (list []string) {
	for _, p := range s.addrs {
		list = append(list, p.addr)
	}
	return list
}

// Distance returns the round-trip time to an address, 0 if it is not known.
func (s *Set) Distance(addr string) time.Duration {
	if p := s.find(addr); p != nil {
		return p.distance
	}
	return 0
}

// Measured reports whether any distance is known.
func (s *Set) Measured() bool {
	return slices.ContainsFunc(s.addrs, func(p address) bool { return p.distance > 0 })
}

// Step takes what happened at an address at now. What a replica says of itself holds for all of its addresses.
func (s *Set) Step(now time.Time, addr string, e Event, d time.Duration) {
	p := s.find(addr)
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
		s.eachOf(p, func(p *address) { p.until, p.failures = now, 0 })
	case Full:
		s.eachOf(p, func(p *address) { p.until = now.Add(min(max(d, minFull), maxFull)) })
	case Leaves:
		s.eachOf(p, func(p *address) { p.until = now.Add(away) })
	case Lost:
		p.until = now.Add(min(firstLoss<<min(p.failures, 10), maxLoss))
		p.failures++
	}
}

// eachOf calls f with every address of p's replica.
func (s *Set) eachOf(p *address, f func(*address)) {
	f(p)
	for i := range s.addrs {
		if q := &s.addrs[i]; q != p && q.name != "" && q.name == p.name {
			f(q)
		}
	}
}

func (s *Set) find(addr string) *address {
	if i := slices.IndexFunc(s.addrs, func(p address) bool { return p.addr == addr }); i >= 0 {
		return &s.addrs[i]
	}
	return nil
}

// excepted reports whether p is one of the addresses, or another address of their replicas.
func (s *Set) excepted(p address, except []string) bool {
	return slices.ContainsFunc(except, func(addr string) bool {
		q := s.find(addr)
		return p.addr == addr || q != nil && q.name != "" && q.name == p.name
	})
}

// Order returns the addresses in the order in which to try them: the nearest, then the others by distance, those of unknown
// distance, and last those that are of no use now, the soonest first. It leaves out the replicas at the addresses of except.
func (s *Set) Order(now time.Time, except ...string) (list []string) {
	var places []address
	for _, p := range s.addrs {
		if !s.excepted(p, except) {
			places = append(places, p)
		}
	}
	nearest := nearest(places, now)
	slices.SortStableFunc(places, func(a, b address) int {
		return cmp.Or(
			a.usableFrom(now).Compare(b.usableFrom(now)),
			cmp.Compare(a.class(nearest), b.class(nearest)),
			s.compareInClass(a, b, nearest),
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
	if own := s.find(here); own == nil || own.name == "" {
		return false
	}
	except := append([]string{here}, also...)
	return slices.ContainsFunc(s.addrs, func(p address) bool { return !s.excepted(p, except) && !p.until.After(now) })
}

// Fits reports whether a connection to an address need not be left for a nearer replica: it may be half as far again, and
// some milliseconds.
func (s *Set) Fits(now time.Time, addr string) bool {
	p, best := s.find(addr), nearest(s.addrs, now)
	return p != nil && !p.until.After(now) && (p.distance == 0 || best == 0 || p.distance <= best+best/2+10*time.Millisecond)
}

// usableFrom is when p is of use: the zero time if it is now.
func (p address) usableFrom(now time.Time) time.Time {
	if p.until.After(now) {
		return p.until
	}
	return time.Time{}
}

// nearest returns the shortest distance that is known among those of use; 0 for none.
func nearest(list []address, now time.Time) (best time.Duration) {
	for _, p := range list {
		if p.distance > 0 && !p.until.After(now) && (best == 0 || p.distance < best) {
			best = p.distance
		}
	}
	return best
}

// class says how an address compares with the nearest one.
type class int

// The classes, in the order in which to try them.
const (
	near class = iota // as near as the nearest
	far
	unmeasured
)

func (p address) class(nearest time.Duration) class {
	switch {
	case p.distance == 0:
		return unmeasured
	case p.distance <= nearest+nearest/4+2*time.Millisecond:
		return near
	}
	return far
}

// compareInClass orders two addresses of the same class. Replicas that are equally near share the devices.
func (s *Set) compareInClass(a, b address, nearest time.Duration) int {
	switch a.class(nearest) {
	case near:
		return cmp.Compare(s.hash(a.addr), s.hash(b.addr))
	case far:
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
